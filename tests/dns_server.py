"""A DNS server on loopback, UDP and TCP, that can misbehave.

    with NameServer({"good.test": Name("127.0.0.2"), "silent.test": SILENT}) as server:
        crawl(POLITENESS_NAME_SERVERS=[server.address])
        assert server.asked("good.test") == 2  # A and AAAA

Names that are not in the zone do not exist (NXDOMAIN). The server runs in a thread of its own and
never asks anybody else.
"""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from collections import Counter
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

A, CNAME, AAAA = 1, 5, 28
NOERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5
_RESPONSE, _TRUNCATED = 0x8180, 0x0200
# Bytes of an answer by UDP, at most; a longer one is truncated.
_UDP_BYTES = 1232
_RECEIVE_BUFFER = 4 * 1024 * 1024


class Name(NamedTuple):
    """What the server says about a name."""

    addresses: tuple[str, ...] | str = ()
    ttl: int = 60
    # The alias comes first in the answer; the addresses are those of the target.
    cname: str | None = None
    rcode: int = NOERROR
    # No answer until ``NameServer.release`` is called.
    is_silent: bool = False
    # No answer to questions of this type.
    ignored_type: int | None = None
    # Sent by UDP before the answer: "garbage", "wrong id", "wrong name", "other port".
    noise: tuple[str, ...] = ()


SILENT = Name(is_silent=True)
ABSENT = Name(rcode=NXDOMAIN)


class Question(NamedTuple):
    name: str
    type: int
    transport: str


class NameServer:
    """``zone`` may be changed at any time."""

    def __init__(self, zone: Mapping[str, Name]) -> None:
        self.zone = dict(zone)
        self.log: list[Question] = []
        # Silent names that were asked for and have not been answered.
        self.waiting: set[str] = set()
        self._unanswered: list[tuple[bytes, tuple[str, int]]] = []
        self._lock = threading.Lock()
        self._udp, self._tcp = _bind()
        self.port = self._udp.getsockname()[1]
        self._stray = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._stray.bind(("127.0.0.1", 0))
        self._end, self._ended = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for source, serve in (
            (self._udp, self._serve_udp),
            (self._tcp, self._accept),
            (self._ended, None),
        ):
            self._selector.register(source, selectors.EVENT_READ, serve)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def asked(self, name: str, *, transport: str | None = None) -> int:
        """How many questions came for a name."""
        return sum(
            question.name == name and transport in (None, question.transport)
            for question in list(self.log)
        )

    def counts(self) -> Counter[str]:
        return Counter(question.name for question in list(self.log))

    def release(self, name: Name = ABSENT) -> None:
        """Answer the questions for silent names, those of the past too."""
        with self._lock:
            for silent in [key for key, said in self.zone.items() if said.is_silent]:
                self.zone[silent] = name
            packets, self._unanswered = self._unanswered, []
            self.waiting.clear()
        for packet, sender in packets:
            for answer, source in self._answers(packet, "udp"):
                (source or self._udp).sendto(answer, sender)

    def close(self) -> None:
        self._end.send(b"!")
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            sock = key.fileobj
            assert isinstance(sock, socket.socket)
            sock.close()
        for sock in (self._stray, self._end):
            sock.close()
        self._selector.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                with suppress(OSError):
                    key.data(key.fileobj)

    def _serve_udp(self, udp: socket.socket) -> None:
        with suppress(BlockingIOError):
            while True:
                packet, sender = udp.recvfrom(4096)
                for answer, source in self._answers(packet, "udp", sender):
                    (source or udp).sendto(answer, sender)

    def _accept(self, tcp: socket.socket) -> None:
        connection, _ = tcp.accept()
        connection.settimeout(5)
        self._selector.register(connection, selectors.EVENT_READ, self._serve_tcp)

    def _serve_tcp(self, connection: socket.socket) -> None:
        head = connection.recv(2, socket.MSG_WAITALL)
        if len(head) < 2:
            self._selector.unregister(connection)
            connection.close()
            return
        packet = connection.recv(struct.unpack("!H", head)[0], socket.MSG_WAITALL)
        for answer, _ in self._answers(packet, "tcp"):
            connection.sendall(struct.pack("!H", len(answer)) + answer)

    def _answers(
        self, packet: bytes, transport: str, sender: tuple[str, int] | None = None
    ) -> list[tuple[bytes, socket.socket | None]]:
        """Packets to send, each with the socket it leaves by (None: the server's own)."""
        name, kind, end = _question(packet)
        with self._lock:
            if sender is not None or transport == "tcp":
                self.log.append(Question(name, kind, transport))
            said = self.zone.get(name, ABSENT)
            if said.is_silent:
                self.waiting.add(name)
                if sender is not None:
                    self._unanswered.append((packet, sender))
                return []
        if kind == said.ignored_type:
            return []
        answer = _answer(packet, end, kind, said)
        if transport == "tcp":
            return [(answer, None)]
        if len(answer) > _UDP_BYTES:
            flags = struct.unpack("!H", answer[2:4])[0] | _TRUNCATED
            answer = answer[:2] + struct.pack("!HHHHH", flags, 1, 0, 0, 0) + packet[12:end]
        noise = [self._noise(kind, packet, end, answer) for kind in said.noise]
        return [*noise, (answer, None)]

    def _noise(
        self, kind: str, packet: bytes, end: int, answer: bytes
    ) -> tuple[bytes, socket.socket | None]:
        # An address that no test listens on: whoever believes it is found out.
        forged = _answer(packet, end, A, Name("127.66.66.66", 3600))
        match kind:
            case "garbage":
                return b"\xff" * 40, None
            case "wrong id":
                return bytes([answer[0] ^ 1]) + forged[1:], None
            case "wrong name":
                return forged[:13] + bytes([forged[13] ^ 1]) + forged[14:], None
            case "other port":
                return forged, self._stray
        raise ValueError(kind)


def _bind() -> tuple[socket.socket, socket.socket]:
    """Two sockets with the same port."""
    while True:
        tcp = socket.socket()
        tcp.bind(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            tcp.close()
            udp.close()
            continue
        tcp.listen(64)
        udp.setblocking(False)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        return udp, tcp


def _question(packet: bytes) -> tuple[str, int, int]:
    """The name, its type, and where the question ends."""
    labels, place = [], 12
    while length := packet[place]:
        labels.append(packet[place + 1 : place + 1 + length].decode("latin-1").lower())
        place += 1 + length
    kind = struct.unpack("!H", packet[place + 1 : place + 3])[0]
    return ".".join(labels), kind, place + 5


def _answer(packet: bytes, end: int, kind: int, said: Name) -> bytes:
    records = []
    owner = b"\xc0\x0c"
    if said.cname is not None:
        target = _encoded(said.cname)
        records.append(owner + struct.pack("!HHIH", CNAME, 1, said.ttl, len(target)) + target)
        owner = target
    addresses = (said.addresses,) if isinstance(said.addresses, str) else said.addresses
    for address in map(ip_address, addresses):
        if kind == (A if address.version == 4 else AAAA):
            data = address.packed
            records.append(owner + struct.pack("!HHIH", kind, 1, said.ttl, len(data)) + data)
    head = struct.pack("!HHHHH", _RESPONSE | said.rcode, 1, len(records), 0, 0)
    return packet[:2] + head + packet[12:end] + b"".join(records)


def _encoded(name: str) -> bytes:
    labels = name.encode().split(b".")
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
