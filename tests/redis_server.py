"""Real redis-servers for tests: one of the session, own ones, a cluster, and TLS in front of one.

def test_it_is_kept(redis_url):
    client = Redis.from_url(redis_url)

A test that kills, stops or configures its server starts its own: ``with Server(…) as server``
(``crawlproject/frontier/redis/binary.py``).
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Self

import pytest

from crawlproject.frontier.redis.binary import Server
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from redis import Redis

    from crawlproject.frontier.redis.binary import Words

_SLOTS = 16_384


@pytest.fixture(scope="session")
def session_redis() -> Iterator[Server]:
    """One for all tests of this process: use ``redis_server``."""
    with Server() as server:
        yield server


@pytest.fixture
def redis_server(session_redis: Server) -> Server:
    """A server with nothing in it. It belongs to other tests, too: don't stop it."""
    with connected(session_redis) as client:
        client.flushall()
        client.script_flush()
        client.config_resetstat()
    return session_redis


@pytest.fixture
def redis_url(redis_server: Server) -> str:
    """The address of a server with nothing in it."""
    return redis_server.url


@pytest.fixture(scope="session")
def session_cluster() -> Iterator[list[Server]]:
    """One for all tests of this process: use ``redis_cluster``."""
    with cluster_of_three() as servers:
        yield servers


@pytest.fixture
def redis_cluster(session_cluster: list[Server]) -> list[Server]:
    """Three servers that are one cluster, with nothing in it. Don't stop them."""
    for server in session_cluster:
        with connected(server) as client:
            client.flushall()
            client.script_flush()
    return session_cluster


@contextmanager
def connected(server: Server) -> Iterator[Redis]:
    """A plain client of one server."""
    # Here, and not above: this module is imported for every test there is.
    from redis import Redis

    # Answers have the shapes that those of our own client have.
    with closing(Redis.from_url(server.url, protocol=2)) as client:
        yield client


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """A server that takes connections, and does not answer."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@contextmanager
def replica_of(server: Server) -> Iterator[Server]:
    """A server that has what another one has, and takes no changes."""
    # Without a file of its own: it would not end before that is written.
    options: dict[str, Words] = {"replicaof": ("127.0.0.1", server.port), "appendonly": "no"}
    with Server(options=options) as replica, connected(replica) as client:
        wait_for(lambda: client.info("replication").get("master_link_status") == "up")
        yield replica


@contextmanager
def cluster_of_three(options: Mapping[str, Words] | None = None) -> Iterator[list[Server]]:
    """A Redis Cluster: three servers, each with a third of the slots. Any URL leads to all."""
    settings = {"cluster-enabled": "yes", "cluster-node-timeout": 2000, **(options or {})}
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(options=settings)) for _ in range(3)]
        clients = [stack.enter_context(connected(server)) for server in servers]
        for number, client in enumerate(clients):
            slots = range(number * _SLOTS // 3, (number + 1) * _SLOTS // 3)
            client.execute_command("CLUSTER ADDSLOTS", *slots)
            # Different from the start: nobody has to argue about who is older.
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for server in servers[1:]:
            clients[0].execute_command("CLUSTER MEET", "127.0.0.1", server.port)

        def is_one() -> bool:
            states = [_lines(client.execute_command("CLUSTER INFO")) for client in clients]
            return all(
                state["cluster_state"] == "ok" and state["cluster_known_nodes"] == "3"
                for state in states
            )

        wait_for(is_one)
        yield servers


def _lines(answer: dict[str, str] | bytes) -> dict[str, str]:
    if isinstance(answer, dict):
        return answer
    return dict(line.split(":", 1) for line in answer.decode().split())


class TlsFront:
    """TLS in front of a server, which may have been built without it.

    ``certificate`` is a file with the key; who shows none of ``clients``' is not let in.
    """

    def __init__(self, server: Server, certificate: Path, clients: Path | None = None) -> None:
        self._backend = server.port
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate)
        if clients is not None:
            self._context.load_verify_locations(clients)
            self._context.verify_mode = ssl.CERT_REQUIRED
        self._loop = asyncio.new_event_loop()
        self._is_listening = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    def url(self, user: str = "", host: str = "localhost") -> str:
        return f"rediss://{user}{host}:{self.port}/0"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._is_listening.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def _run(self) -> None:
        with closing(self._loop):
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _serve(self) -> None:
        self._ended = asyncio.Event()
        listening = await asyncio.start_server(self._relay, "127.0.0.1", 0, ssl=self._context)
        self.port = listening.sockets[0].getsockname()[1]
        self._is_listening.set()
        await self._ended.wait()
        # Begun before: Python 3.11 waits for nobody once it is closed.
        closed = asyncio.create_task(listening.wait_closed())
        await asyncio.sleep(0)
        listening.close()
        others = asyncio.all_tasks() - {asyncio.current_task(), closed}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        # Who is not trusted may be on the way out still.
        await asyncio.wait_for(closed, PATIENCE)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind = await asyncio.open_connection("127.0.0.1", self._backend)
        ways = [_copy(reader, behind[1]), _copy(behind[0], writer)]
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*ways)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
    except OSError:
        # Either side may leave when it likes.
        pass
    finally:
        writer.close()
