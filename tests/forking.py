"""``python -m …`` as a process of its own, without its start.

Most of what a short crawl costs is the import of what it is made of, and tests run hundreds of
them. So a server (``tests/fork_server.py``) imports it once, and each process is forked from
that: with its own streams, environment, folder, session and end, but all imports done.

What is about the start itself needs a real one, by ``subprocess``: what an interpreter does
before its program (``sitecustomize``, ``-W``), which modules are loaded, how much memory it takes.
``tests/scripts`` and ``tests/api`` start theirs so, too.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from inspect import signature
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, AnyStr

from tests.fork_server import IMPORTS, NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).with_name("fork_server.py")
# What an interpreter reads of its environment: who is told something else has other servers.
_AT_START = ("PYTHON", "LANG", "LC_", "TZ")

_servers: dict[str, Iterator[socket.socket]] = {}
# Popen's own: it forks and executes. All else about it is right for us, too.
_original = signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]


class Forked(subprocess.Popen[AnyStr]):
    """As Popen, for ``[sys.executable, …, "-m", module, …]``."""

    def _execute_child(self, *details: Any) -> None:
        given = _original.bind(self, *details).arguments
        words: list[str] = given["args"]
        place = words.index("-m") + 1
        module = words[place]
        assert words[0] == sys.executable, words
        assert given["preexec_fn"] is None, "the new process can't call what is in this one"
        environment = dict(os.environ if given["env"] is None else given["env"])
        order = {
            "module": module,
            "arguments": words[place + 1 :],
            "environment": environment,
            "folder": os.fspath(given["cwd"] or Path.cwd()),
            "has_session": given["start_new_session"],
        }
        # Those that are not given are this process's own.
        streams: list[int] = [
            own if given[name] < 0 else given[name]
            for own, name in enumerate(("p2cread", "c2pwrite", "errwrite"))
        ]
        self._channel: socket.socket
        self._channel, theirs = socket.socketpair()
        with theirs:
            server = _server(environment, words[1 : place - 1], module)
            socket.send_fds(server, [b"!"], [*streams, theirs.fileno()])
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[name] for name in ends))  # type: ignore[attr-defined]
        self._channel.sendall(json.dumps(order).encode())
        self._channel.shutdown(socket.SHUT_WR)
        self.pid = self._told()
        self._child_created = True

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._channel.settimeout(None if timeout is None else max(timeout, 0))
            try:
                self.returncode = self._told()
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._channel.close()
        return self.returncode

    def _told(self) -> int:
        told = self._channel.recv(NUMBER.size)
        assert told, "the fork server has ended; see stderr"
        number: int
        (number,) = NUMBER.unpack(told)
        return number


def run(
    command: list[str], *, cwd: Path, env: dict[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run, and what it says is kept."""
    pipe = subprocess.PIPE
    with Forked(command, cwd=cwd, env=env, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            said = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, *said)


def _server(environment: dict[str, str], options: list[str], module: str) -> socket.socket:
    """One of two, in turn, so that of two processes no set has the same order by their seeds."""
    start = {name: value for name, value in environment.items() if name.startswith(_AT_START)}
    start.pop("PYTHONPATH", None)
    program = [*options, str(SERVER), *([module] if module in IMPORTS else [])]
    key = json.dumps([program, start], sort_keys=True)
    if key not in _servers:
        _servers[key] = _in_turn(program, start)
    return next(_servers[key])


def _in_turn(program: list[str], environment: dict[str, str]) -> Iterator[socket.socket]:
    # At once: of processes that begin together, none is to have ended before another has begun.
    return cycle([_start(program, environment) for _ in range(2)])


def _start(program: list[str], environment: dict[str, str]) -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, *program],
            env=environment,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    # The last one first: it ends when nobody can order any more.
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours
