from __future__ import annotations

import threading
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from redis import Redis
from redis.exceptions import (
    DataError,
    MaxConnectionsError,
    NoScriptError,
    RedisClusterException,
    RedisError,
)
from scrapy.settings import Settings

from crawlproject.errors import BadRedis
from crawlproject.frontier.redis.binary import Server
from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.trouble import trouble_of
from tests.redis_server import cluster_of_three, connected, frozen, replica_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.frontier.redis.binary import Words

SET = "return redis.call('set', KEYS[1], '1')"


def trouble(action: Callable[[], object]) -> str | None:
    with pytest.raises((RedisError, RedisClusterException)) as caught:
        action()
    return trouble_of(caught.value)


def ways_to_write(client: Redis) -> list[Callable[[], object]]:
    """Redis words its troubles differently in each."""
    key = "crawl:{x}:a"

    def write_together(is_transaction: bool) -> None:
        with client.pipeline(transaction=is_transaction) as pipeline:
            pipeline.set(key, "1")
            pipeline.execute()

    return [
        lambda: client.set(key, "1"),
        lambda: client.eval(SET, 1, key),
        lambda: write_together(False),
        lambda: write_together(True),
    ]


def write_trouble(client: Redis) -> str | None:
    """The same in all ways."""
    troubles = [trouble(write) for write in ways_to_write(client)]
    assert len(set(troubles)) == 1, troubles
    return troubles[0]


@contextmanager
def own_server(options: dict[str, Words] | None = None) -> Iterator[tuple[Server, Redis]]:
    with Server(options=options) as server:
        settings = Settings({"REDIS_URL": f"{server.url}?socket_timeout=0.2"})
        with closing(connect(settings)) as client:
            yield server, client


def answers(client: Redis, found: list[str | None]) -> bool:
    """Ask once more. What the trouble was is found at the end."""
    try:
        client.get("a")
    except (RedisError, RedisClusterException) as error:
        found.append(trouble_of(error))
        return False
    return True


def wait_until_said(client: Redis, said: str) -> list[str | None]:
    """All that was wrong until then."""
    found: list[str | None] = []

    def is_said() -> bool:
        return not answers(client, found) and found[-1] == said

    wait_for(is_said)
    return found


def test_a_server_that_has_ended() -> None:
    with own_server() as (server, client):
        server.kill()
        assert trouble(client.ping) == (
            "nobody listens there: is it running, and is the port right?"
        )
        server.start()
        assert client.ping()


def test_a_connection_that_is_cut_in_the_middle() -> None:
    with own_server() as (server, client), connected(server) as other:
        own = client.client_id()
        with closing(connect(Settings({"REDIS_URL": server.url}))) as waiting:
            number = waiting.client_id()
            found: list[str | None] = []
            asking = threading.Thread(
                target=lambda: found.append(trouble(lambda: waiting.blpop(["never"], 0)))
            )
            asking.start()
            wait_for(lambda: other.info("clients")["blocked_clients"] == 1)
            other.client_kill_filter(_id=str(number))
            asking.join()
        assert found == ["it has closed the connection"]
        assert client.client_id() == own


def test_a_server_that_does_not_answer() -> None:
    with own_server() as (server, client):
        with frozen(server):
            assert trouble(client.ping) == "it does not answer in time"
        assert client.ping()


def test_a_server_that_is_still_loading() -> None:
    """It takes seconds, and answers in between, after every two megabytes."""
    options: dict[str, Words] = {
        "appendonly": "no",
        "rdbcompression": "no",
        "key-load-delay": 100_000,
    }
    with Server(options=options) as server, connected(server) as client:
        for number in range(60):
            client.set(f"a{number}", "x" * 1_000_000)
        client.save()
        server.kill()

        def start() -> None:
            # It is killed before it has loaded all.
            with suppress(BadRedis):
                server.start()

        starting = threading.Thread(target=start)
        starting.start()
        try:
            found = wait_until_said(client, "it is still loading its data")
        finally:
            server.kill()
            starting.join()
    assert None not in found


def test_a_server_that_is_busy_with_a_script() -> None:
    with own_server({"lua-time-limit": 1}) as (server, client), connected(server) as other:
        running = threading.Thread(target=lambda: trouble(lambda: loop(server)))
        running.start()
        busy = "it is busy with somebody's script: SCRIPT KILL ends that"
        found = wait_until_said(client, busy)
        other.script_kill()
        running.join()
    assert None not in found


def loop(server: Server) -> None:
    with closing(Redis.from_url(server.url, socket_timeout=None)) as client:
        client.eval("while true do end", 0)


def test_our_script_was_ended_by_somebody() -> None:
    with own_server({"lua-time-limit": 1}) as (server, client), connected(server) as other:
        found: list[str | None] = []
        running = threading.Thread(target=lambda: found.append(trouble(lambda: loop(server))))
        running.start()

        def is_ended() -> bool:
            with suppress(RedisError):
                other.script_kill()
                return True
            return False

        wait_for(is_ended)
        running.join()
        assert found == ["somebody has ended our script"]
        assert client.ping()


def test_a_full_server() -> None:
    with own_server() as (_, client):
        client.config_set("maxmemory", 1)
        assert write_trouble(client) == (
            "it is full: raise maxmemory, or remove crawls that are not needed any more"
        )


def test_a_master_that_has_become_a_replica(redis_server: Server) -> None:
    with own_server({"appendonly": "no"}) as (_, client):
        client.execute_command("REPLICAOF", "127.0.0.1", redis_server.port)
        wait_for(lambda: client.info("replication")["master_link_status"] == "up")
        said = write_trouble(client)
        assert said is not None
        assert said.startswith("it is a read-only replica")


def test_a_replica_that_has_lost_its_master() -> None:
    with Server() as master, replica_of(master) as replica, connected(replica) as client:
        client.config_set("replica-serve-stale-data", "no")
        master.kill()
        wait_for(lambda: client.info("replication")["master_link_status"] == "down")
        said = trouble(lambda: client.get("a"))
        assert said is not None
        assert said.startswith("it is a replica that has lost its master")


def test_a_server_with_too_few_replicas() -> None:
    with own_server() as (_, client):
        client.config_set("min-replicas-to-write", 1)
        assert write_trouble(client) == "it has too few replicas, and so takes no changes"


def test_a_server_that_cannot_write_to_its_disk() -> None:
    with own_server({"save": (900, 1)}) as (server, client):
        # What can't be replaced by a file.
        (server.folder / "dump.rdb" / "in the way").mkdir(parents=True)
        client.bgsave()
        wait_for(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")
        said = write_trouble(client)
        # It would try once more.
        server.kill()
    assert said is not None
    assert said.startswith("it can't write to its disk")


def test_a_password_that_was_changed() -> None:
    with Server(password="secret") as server:
        settings = Settings({"REDIS_URL": server.url})
        with closing(connect(settings)) as client:
            client.config_set("requirepass", "other")
            client.connection_pool.disconnect()
            said = trouble(client.ping)
    assert said is not None
    assert said.startswith("the user or the password is wrong")


def test_a_user_that_has_lost_a_right() -> None:
    with Server(options={"user": ("bob", "on", ">secret", "~*", "+@all")}) as server:
        url = f"redis://bob:secret@127.0.0.1:{server.port}"
        with closing(connect(Settings({"REDIS_URL": url}))) as client, connected(server) as other:
            other.execute_command("ACL SETUSER", "bob", "-set")
            for write in ways_to_write(client):
                said = trouble(write)
                assert said is not None
                assert said.startswith("the user may not do all that a crawl does")


def test_a_cluster_of_which_a_part_is_gone_and_comes_back() -> None:
    with (
        cluster_of_three() as servers,
        closing(connect(Settings({"REDIS_URL": servers[0].url}))) as client,
    ):
        client.set("a", "1")
        with connected(servers[0]) as node:
            owner = servers[node.execute_command("CLUSTER KEYSLOT", "a") * 3 // 16_384]
        owner.kill()
        assert trouble(lambda: client.set("a", "2")) is not None
        # The others notice, and take nothing either.
        down = "the cluster is down: not all of its nodes can be reached"
        for server in servers:
            if server is not owner:
                with connected(server) as node:
                    wait_until_said(node, down)
        owner.start()
        found: list[str | None] = []
        wait_for(lambda: answers(client, found))
        assert client.get("a") == b"1"
        assert None not in found


def test_a_cluster_of_which_all_is_gone_and_comes_back() -> None:
    with (
        cluster_of_three() as servers,
        closing(connect(Settings({"REDIS_URL": servers[0].url}))) as client,
    ):
        client.set("a", "1")
        for server in servers:
            server.kill()
        found: list[str | None] = []
        assert not answers(client, found)
        for server in servers:
            server.start()
        wait_for(lambda: answers(client, found))
        assert client.get("a") == b"1"
        assert None not in found


def test_a_cluster_that_moves_our_keys(redis_cluster: list[Server]) -> None:
    with connected(redis_cluster[0]) as giving, connected(redis_cluster[1]) as taking:
        # 'b' hashes to a slot of the first.
        slot = giving.execute_command("CLUSTER KEYSLOT", "b")
        ids = [client.execute_command("CLUSTER MYID").decode() for client in (giving, taking)]
        taking.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", ids[0])
        try:
            pipeline = taking.pipeline(transaction=False)
            pipeline.execute_command("ASKING")
            pipeline.execute_command("MGET", "{b}1", "{b}2")
            assert trouble(pipeline.execute) == "the cluster is moving our keys to another node"
        finally:
            taking.execute_command("CLUSTER SETSLOT", slot, "STABLE")


@pytest.mark.parametrize(
    "mistake",
    [
        lambda client: client.lpush("text", "1"),
        lambda client: client.eval("return redis.call('lpush', 'text', '1')", 0),
        lambda client: client.eval("this is not Lua", 0),
        lambda client: client.eval("return redis.error_reply('OURS went wrong')", 0),
        lambda client: client.execute_command("NOSUCH"),
        lambda client: client.evalsha("0" * 40, 0),
        lambda client: client.set("a", object()),
    ],
)
def test_a_mistake_of_ours_does_not_pass(
    redis_server: Server, mistake: Callable[[Redis], object]
) -> None:
    with connected(redis_server) as client:
        client.set("text", "1")
        assert trouble(lambda: mistake(client)) is None


@pytest.mark.parametrize(
    "error",
    [
        NoScriptError("No matching script"),
        MaxConnectionsError("Too many connections"),
        DataError("Invalid input"),
        RedisClusterException("EVALSHA - all keys must map to the same key slot"),
        OSError("disk full"),
        ValueError("x"),
    ],
)
def test_what_is_no_trouble_of_redis(error: Exception) -> None:
    assert trouble_of(error) is None
