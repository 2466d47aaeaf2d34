"""The Redis of a crawl on one machine: in the crawl directory, or in a temporary folder.

It listens on a socket in its folder, which only its owner may use.
"""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from redis import Redis
from redis.exceptions import RedisError

from crawlproject.errors import BadCrawlDirectory, BadRedis
from crawlproject.frontier.database import DATABASE
from crawlproject.frontier.redis.binary import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "redis"
_SOCKET = "redis.sock"
# What a system allows for the path of a socket, at least.
_LONGEST = 100
# The share of the machine's memory that it may use.
_SHARE = 0.5
# Seconds in which one ends that was left behind; and in which workers do, without a supervisor.
_PATIENCE = 30.0
_GRACE = 15


@contextmanager
def own_server(directory: Path | None) -> Iterator[str]:
    """Its address, while the block lasts. Raises BadInput."""
    folder = None
    if directory is not None:
        folder = directory.absolute() / FOLDER
        check_directory(directory)
        _end_forgotten(folder)
    server = Server(folder, is_socket=True, options={"maxmemory": _memory()})
    with server, _guarded(server, is_temporary=folder is None):
        yield server.url


def check_directory(directory: Path) -> None:
    """Raise BadCrawlDirectory for one where no Redis can be."""
    if (directory / DATABASE).exists():
        raise BadCrawlDirectory(
            f"{str(directory)!r} holds a crawl of one process: ./scripts/crawl with "
            f"-s JOBDIR={directory} goes on with it; several need another directory"
        )
    if len(os.fsencode(directory.absolute() / FOLDER / _SOCKET)) > _LONGEST:
        raise BadCrawlDirectory(
            f"the path of {str(directory)!r} is too long for a Redis in it: choose one of "
            f"{_LONGEST - len(FOLDER) - len(_SOCKET) - 2} bytes at most"
        )


def _memory() -> int:
    """Bytes that it may use; then workers wait, and say so."""
    return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * _SHARE)


def _end_forgotten(folder: Path) -> None:
    """A supervisor that was killed may have left one: two must not write the same file."""
    path = folder / _SOCKET
    if not path.exists():
        return
    client = Redis(unix_socket_path=str(path))
    ends_at = time.monotonic() + _PATIENCE
    while True:
        try:
            client.ping()
        except RedisError:
            return
        if time.monotonic() > ends_at:
            raise BadRedis(f"a redis-server that was left in {str(folder)!r} does not end: stop it")
        with suppress(RedisError):
            client.shutdown(nosave=True)
        # Nothing tells when it has ended: it is no child of this process.
        time.sleep(0.05)


@contextmanager
def _guarded(server: Server, *, is_temporary: bool) -> Iterator[None]:
    """End it, however this process ends: by a shell that waits for the end of a pipe.

    Workers end then too, and need it until they have handed back what they have.
    """
    remove = 'rm -rf "$2"' if is_temporary else ":"
    # Its number may be another's by then: where the system tells, it is the one in that folder.
    is_it = '[ ! -d /proc/self ] || [ "/proc/$1/cwd" -ef "$2" ]'
    script = f'cat >/dev/null; sleep {_GRACE}; if {is_it}; then kill "$1"; fi; {remove}'
    guard = subprocess.Popen(  # noqa: S603 - a script of ours
        ["/bin/sh", "-c", script, "guard", str(server.pid), str(server.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        # Before the server: its number may be another's soon.
        guard.kill()
        guard.wait()
        assert guard.stdin is not None
        guard.stdin.close()
