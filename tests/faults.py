"""A way to Redis that fails now and then: what is asked arrives, and the answer is lost."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import suppress
from typing import Self

from tests.waiting import PATIENCE


class Faults:
    """``chance`` that an answer is lost, and the connection with it; ``due`` are lost in any case,
    the next ones. ``lost`` counts them.
    """

    def __init__(self, port: int, *, chance: float, seed: int = 0) -> None:
        self._behind = port
        self.chance = chance
        self.due = 0
        self._luck = random.Random(seed)
        self.lost = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._listening.getsockname()[1]}/0"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # On its own, closing wakes nobody.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._connections:
            _close(connection)
        self._thread.join(PATIENCE)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                behind = socket.create_connection(("127.0.0.1", self._behind))
                self._connections += [client, behind]
                for way in ((client, behind, False), (behind, client, True)):
                    threading.Thread(target=self._copy, args=way, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while part := source.recv(65_536):
                if is_answer and (self.due or self._luck.random() < self.chance):
                    self.due = max(self.due - 1, 0)
                    self.lost += 1
                    break
                target.sendall(part)
        _close(source)
        _close(target)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
