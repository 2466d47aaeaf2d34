from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis
from redis.cluster import RedisCluster
from scrapy.settings import Settings

from crawlproject.errors import BadArgument, BadInput, BadRedis
from crawlproject.frontier.redis.address import is_shared
from crawlproject.frontier.redis.binary import Server
from crawlproject.frontier.redis.connection import address_of, check, connect
from tests.certificates import self_signed
from tests.crawling import PROJECT
from tests.redis_server import TlsFront, cluster_of_three, connected, frozen, replica_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlproject.frontier.redis.binary import Words


def settings_of(url: str | None = None, /, **others: object) -> Settings:
    return Settings({**({} if url is None else {"REDIS_URL": url}), **others})


@contextmanager
def client_of(url: str | None = None, /, **others: object) -> Iterator[Redis]:
    with closing(connect(settings_of(url, **others))) as client:
        yield client


def warnings_of(url: str | None = None, /, **others: object) -> list[str]:
    with client_of(url, **others) as client:
        return check(client)


def refusal(url: str | None = None, /, **others: object) -> str:
    """The line that a user gets."""
    with pytest.raises(BadInput) as caught:
        warnings_of(url, **others)
    line = str(caught.value)
    assert "\n" not in line
    return line


def unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


# --- what works


def test_a_url_is_all_it_needs(redis_url: str) -> None:
    assert is_shared(settings_of(redis_url))
    assert not is_shared(settings_of())
    with client_of(redis_url) as client:
        check(client)
        client.set("a", b"\xff")
        assert client.get("a") == b"\xff"
        assert address_of(client) == redis_url


def test_host_port_and_database_are_enough(redis_server: Server) -> None:
    port = str(redis_server.port)
    with client_of(REDIS_HOST="127.0.0.1", REDIS_PORT=port, REDIS_DB="2") as client:
        check(client)
        assert address_of(client) == f"redis://127.0.0.1:{port}/2"


@pytest.mark.parametrize(
    "others",
    [
        {"REDIS_PARAMS": {"decode_responses": True, "protocol": 3, "encoding": "utf-16"}},
        {"REDIS_PARAMS": '{"decode_responses": true}'},
        {"REDIS_DECODE_RESPONSES": True, "REDIS_ENCODING": "utf-16"},
    ],
)
def test_it_gives_bytes_whatever_the_settings_say(redis_url: str, others: dict[str, Any]) -> None:
    for url in (redis_url, f"{redis_url}?decode_responses=true&protocol=3&encoding=utf-16"):
        with client_of(url, **others) as client:
            client.set("ä", "ö")
            assert client.get("ä".encode()) == "ö".encode()


def kwargs_of(client: Redis) -> dict[str, Any]:
    kwargs: dict[str, Any] = client.connection_pool.connection_kwargs
    return kwargs


def test_its_patience_is_ours_unless_the_user_says_otherwise(redis_url: str) -> None:
    with client_of(redis_url) as client:
        usual = kwargs_of(client)
        assert (usual["socket_timeout"], usual["socket_connect_timeout"]) == (15, 5)
    with client_of(redis_url, REDIS_PARAMS={"socket_timeout": 7}) as client:
        assert kwargs_of(client)["socket_timeout"] == 7
    with client_of(f"{redis_url}?socket_timeout=8", REDIS_PARAMS={"socket_timeout": 7}) as client:
        assert kwargs_of(client)["socket_timeout"] == 8


@pytest.mark.parametrize("params", [{}, {"retry_on_timeout": True}])
def test_nothing_is_sent_twice(params: dict[str, bool]) -> None:
    """Nobody knows whether a command whose answer was lost has been done."""
    with Server() as server, connected(server) as witness:
        url = f"{server.url}?socket_timeout=0.2"
        with client_of(url, REDIS_PARAMS=params) as client:
            with frozen(server), pytest.raises(Exception, match="Timeout"):
                client.incr("asked")
            assert witness.get("asked") == b"1"


def test_a_server_that_came_back_is_reached_by_the_same_client() -> None:
    with Server() as server, client_of(server.url) as client:
        client.set("a", "1")
        server.kill()
        server.start()
        assert client.get("a") == b"1"


def test_a_socket_will_do() -> None:
    with Server(is_socket=True, password="a b") as server, client_of(server.url) as client:
        check(client)
        assert address_of(client) == f"unix://{server.folder}/redis.sock"


def test_a_class_of_the_users_is_used(redis_url: str) -> None:
    with client_of(redis_url, REDIS_PARAMS={"redis_cls": f"{__name__}.OwnRedis"}) as client:
        assert type(client).__name__ == "OwnRedis"


class OwnRedis(Redis):
    pass


# --- what is wrong with the settings

RIGHT = "write redis://HOST:PORT/DB, rediss://HOST:PORT/DB for TLS, or unix:///PATH"
ENCODE = "are special characters of the password written as %40 and the like?"
HIDDEN = "(not shown: it may hold a password)"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("", f"REDIS_URL: is empty: {RIGHT}"),
        ("localhost:6379", f"REDIS_URL: 'localhost:6379' is no address of a Redis: {RIGHT}"),
        ("http://h/0", f"REDIS_URL: 'http://h/0' is no address of a Redis: {RIGHT}"),
        ("me:secret@h:1", f"REDIS_URL: {HIDDEN} is no address of a Redis: {RIGHT}"),
        ("http://h?password=secret", f"REDIS_URL: {HIDDEN} is no address of a Redis: {RIGHT}"),
        ("redis://", f"REDIS_URL: redis:// names no host: {RIGHT}"),
        ("redis://me:secret@/0", f"REDIS_URL: redis://me@/0 names no host: {RIGHT}"),
        (
            "redis://secret@h:1/x",
            "REDIS_URL: redis://h:1/x: what follows the host must be the "
            "number of a database, as in /0",
        ),
        (
            "redis://h?socket_timeout=nan",
            "REDIS_URL: socket_timeout: must be a number of seconds above 0, and is 'nan'",
        ),
        ("redis://[::1", f"REDIS_URL: {HIDDEN}: Invalid IPv6 URL: {RIGHT}"),
        ("unix://", f"REDIS_URL: unix:// names no socket: {RIGHT}"),
        ("redis://h:none", f"REDIS_URL: the port must be a number from 1 to 65535; {ENCODE}"),
        ("redis://h:0", f"REDIS_URL: the port must be a number from 1 to 65535; {ENCODE}"),
        ("redis://h:65536", f"REDIS_URL: the port must be a number from 1 to 65535; {ENCODE}"),
        ("redis://:secret", f"REDIS_URL: the port must be a number from 1 to 65535; {ENCODE}"),
        ("redis://:se#cret@h", f"REDIS_URL: {HIDDEN} can't be read: {ENCODE}"),
        ("redis://:se/cret@h", f"REDIS_URL: {HIDDEN} can't be read: {ENCODE}"),
        ("redis://:se?cret@h", f"REDIS_URL: {HIDDEN} can't be read: {ENCODE}"),
        (
            "redis://:secret@h:1/first",
            "REDIS_URL: redis://h:1/first: what follows the host must be the number of a "
            "database, as in /0",
        ),
        (
            "redis://h?db=first",
            "REDIS_URL: db: must be a whole number from 0 to 2147483647, and is 'first'",
        ),
    ],
)
def test_a_wrong_url_is_told_before_anybody_is_asked(url: str, line: str) -> None:
    assert refusal(url) == line
    assert "secret" not in line


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ({"REDIS_PARAMS": "fast"}, "REDIS_PARAMS: must be a dict .* and is a str"),
        ({"REDIS_PARAMS": "[1]"}, "REDIS_PARAMS: must be a dict .* and is a str"),
        ({"REDIS_PARAMS": [1]}, "REDIS_PARAMS: must be a dict .* and is a list"),
        ({"REDIS_PARAMS": 5}, "REDIS_PARAMS: must be a dict .* and is a int"),
        ({"REDIS_PARAMS": {"db": "x"}}, "REDIS_PARAMS: db: must be a whole number .* is 'x'"),
        ({"REDIS_PARAMS": {"port": 0}}, "REDIS_PARAMS: port: must be a whole number .* is 0"),
        ({"REDIS_PARAMS": {"speed": 1}}, "there is no option 'speed'"),
        ({"REDIS_PARAMS": {"socket_timeout": 0}}, "socket_timeout: must be a number of seconds"),
        ({"REDIS_PARAMS": {"socket_timeout": "x"}}, "socket_timeout: must be a number .* is 'x'"),
        ({"REDIS_PARAMS": {"max_connections": -1}}, "can't be used: .*max_connections"),
        ({"REDIS_PARAMS": {"redis_cls": "no.such"}}, "redis_cls: can't be loaded: No module"),
        (
            {"REDIS_PARAMS": {"redis_cls": "redis.asyncio.Redis"}},
            "redis_cls must be redis.Redis or a class made from it",
        ),
        ({"REDIS_PARAMS": {"ssl_ca_certs": "/no.pem"}}, "ssl_ca_certs: there is no '/no.pem'"),
        ({"REDIS_PORT": "none"}, "REDIS_PORT: must be a whole number .* is 'none'"),
        ({"REDIS_DB": -1}, "REDIS_DB: must be a whole number .* is -1"),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    redis_url: str, others: dict[str, Any], line: str
) -> None:
    with pytest.raises(BadArgument, match=line):
        warnings_of(redis_url, **others)


def test_an_option_that_does_not_exist_is_named(redis_url: str) -> None:
    assert refusal(f"{redis_url}?speed=1") == (
        "REDIS_URL or REDIS_PARAMS: there is no option 'speed'"
    )


# --- what is wrong with the server


def test_an_unknown_host() -> None:
    assert refusal("redis://:secret@redis.invalid:6379") == (
        "redis://redis.invalid:6379/0: its name is unknown: is the host spelled right?"
    )


def test_nobody_listens() -> None:
    port = unused_port()
    line = refusal(f"redis://me:secret@127.0.0.1:{port}")
    assert line.startswith(f"redis://me@127.0.0.1:{port}/0: nobody listens there: is it running")
    assert "secret" not in line


def test_no_such_socket(tmp_path: Path) -> None:
    line = refusal(f"unix://{tmp_path}/redis.sock")
    assert line == f"unix://{tmp_path}/redis.sock: there is no such socket: is it running?"


def test_a_server_that_does_not_answer() -> None:
    with Server() as server, frozen(server):
        assert "it does not answer in time" in refusal(f"{server.url}?socket_timeout=0.2")


def test_passwords() -> None:
    with Server(password="secret") as server:
        here = f"127.0.0.1:{server.port}"
        assert f"redis://{here}/0: it asks for a password" in refusal(f"redis://{here}")
        for url in (f"redis://:hidden@{here}", f"redis://{here}?password=hidden"):
            line = refusal(url)
            assert f"redis://{here}/0: the user or the password is wrong" in line
            assert "hidden" not in line
        with client_of(f"redis://{here}", REDIS_PARAMS={"password": "secret"}) as client:
            check(client)


def test_a_password_that_nobody_asked_for(redis_server: Server) -> None:
    line = refusal(f"redis://:hidden@127.0.0.1:{redis_server.port}")
    assert "it has no password, and one is given: leave it out" in line
    assert "hidden" not in line


def test_a_database_that_does_not_exist(redis_server: Server) -> None:
    line = refusal(f"redis://127.0.0.1:{redis_server.port}/16")
    assert line.endswith("/16: it has no database of that number: 0 is always there")


RIGHTS = ("~crawl:*", "+@read", "+@write", "+@scripting", "+@connection", "+time")


@contextmanager
def user_with(*rights: str) -> Iterator[str]:
    with Server(options={"user": ("bob", "on", ">secret", *rights)}) as server:
        yield f"redis://bob:secret@127.0.0.1:{server.port}"


@pytest.mark.parametrize("rights", [RIGHTS, (*RIGHTS, "+info"), ("~*", "+@all", "-@dangerous")])
def test_a_user_with_the_rights_that_we_name_will_do(rights: tuple[str, ...]) -> None:
    with user_with(*rights) as url, client_of(url) as client:
        check(client)
        assert "bob@" in address_of(client)


@pytest.mark.parametrize(
    ("rights", "said"),
    [
        (("~other:*", "+@all"), "no permissions to access one of the keys"),
        (("~*",), "no permissions to run the 'evalsha' command"),
        (("~*", "+@all", "-zadd", "-time"), "refused: zadd, time"),
    ],
)
def test_a_right_that_is_missing_is_named(rights: tuple[str, ...], said: str) -> None:
    with user_with(*rights) as url:
        line = refusal(url)
    assert "bob@" in line
    assert "the user may not do all that a crawl does; it needs ~crawl:* " in line
    assert said in line
    assert "secret" not in line


def test_a_user_that_is_off() -> None:
    with user_with("~*", "+@all", "off") as url:
        assert "or the user is off" in refusal(url)


def test_a_replica(redis_server: Server) -> None:
    with replica_of(redis_server) as replica:
        line = refusal(replica.url)
    assert line.endswith(
        f"it is a replica of 127.0.0.1:{redis_server.port}: give the address of the master"
    )


def test_a_replica_whose_user_may_not_ask_what_it_is(redis_server: Server) -> None:
    options: dict[str, Words] = {
        "replicaof": ("127.0.0.1", redis_server.port),
        "appendonly": "no",
        "rename-command": ("INFO", ""),
    }
    with Server(options=options) as replica:
        assert refusal(replica.url).endswith(": it is a replica: give the address of the master")


def test_a_redis_that_is_something_else() -> None:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            plain = refusal(f"redis://127.0.0.1:{server.server_port}")
            encrypted = refusal(f"rediss://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()
    assert "is it a Redis, and is the port right? If it speaks TLS, write rediss://" in plain
    assert encrypted.endswith("it does not speak TLS: write redis:// instead of rediss://")


def test_a_command_that_was_taken_away() -> None:
    with Server(options={"rename-command": ("EVALSHA", "")}) as server:
        # Its name is between quotes, which are others in Redis 7.
        words = refusal(server.url)
    assert re.search(r"unknown command .EVALSHA.; a crawl needs that command", words)


@pytest.mark.parametrize("command", ["CONFIG", "INFO", "HELLO"])
def test_what_is_forbidden_is_done_without(command: str) -> None:
    options: dict[str, Words] = {"rename-command": (command, ""), "maxmemory": "100mb"}
    with Server(options=options) as server:
        assert warnings_of(server.url) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"},
            "its maxmemory-policy is allkeys-lru, which drops URLs when memory is short: "
            "set maxmemory-policy to noeviction",
        ),
        ({"maxmemory": "1"}, "it is full: raise maxmemory"),
    ],
)
def test_a_memory_that_is_not_fit_for_a_crawl(options: dict[str, Words], said: str) -> None:
    with Server(options=options) as server:
        assert said in refusal(server.url)


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"maxmemory": "100mb"}, []),
        ({"maxmemory": "100mb", "appendonly": "no", "save": (900, 1)}, []),
        ({"maxmemory": "100mb", "appendonly": "no"}, ["it keeps nothing on disk"]),
        ({"maxmemory-policy": "allkeys-lru"}, ["it has no maxmemory"]),
    ],
)
def test_what_will_be_a_pity_is_said(options: dict[str, Words], warned: list[str]) -> None:
    with Server(options=options) as server:
        lines = warnings_of(server.url)
    assert len(lines) == len(warned)
    for line, words in zip(lines, warned, strict=True):
        assert line.startswith(f"{server.url}: {words}")


def test_checking_leaves_nothing_behind(redis_server: Server) -> None:
    warnings_of(redis_server.url)
    with connected(redis_server) as client:
        assert client.dbsize() == 0


# --- TLS


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return self_signed(tmp_path)[0]


def test_a_certificate_that_nobody_vouches_for(redis_server: Server, certificate: Path) -> None:
    with TlsFront(redis_server, certificate) as front:
        line = refusal(front.url("me:secret@"))
        assert line.startswith(f"rediss://me@localhost:{front.port}/0: its certificate can't be")
        assert "?ssl_ca_certs=FILE" in line
        assert "secret" not in line
        # Who does not care must say so.
        warnings_of(f"{front.url()}?ssl_cert_reqs=none")


def test_a_certificate_that_the_user_vouches_for(redis_server: Server, certificate: Path) -> None:
    with TlsFront(redis_server, certificate) as front:
        warnings_of(f"{front.url()}?ssl_ca_certs={certificate}")
        warnings_of(front.url(), REDIS_PARAMS={"ssl_ca_certs": str(certificate)})
        params = {"ssl_ca_certs": str(certificate), "ssl": True}
        with client_of(
            REDIS_HOST="localhost", REDIS_PORT=front.port, REDIS_PARAMS=params
        ) as client:
            check(client)
            assert address_of(client) == front.url()


def test_a_certificate_of_another_host(redis_server: Server, certificate: Path) -> None:
    with TlsFront(redis_server, certificate) as front:
        line = refusal(f"{front.url(host='127.0.0.1')}?ssl_ca_certs={certificate}")
    assert "its certificate is that of another host" in line


def test_a_file_that_vouches_for_nobody(
    redis_server: Server, certificate: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    with TlsFront(redis_server, certificate) as front:
        assert "TLS fails" in refusal(f"{front.url()}?ssl_ca_certs={empty}")
        line = refusal(f"{front.url()}?ssl_ca_certs=/no.pem")
    assert line == "ssl_ca_certs: there is no '/no.pem'"


def test_a_certificate_of_ours(redis_server: Server, certificate: Path) -> None:
    with TlsFront(redis_server, certificate, clients=certificate) as front:
        url = f"{front.url()}?ssl_ca_certs={certificate}"
        assert "?ssl_certfile=FILE&ssl_keyfile=FILE" in refusal(url)
        warnings_of(f"{url}&ssl_certfile={certificate}&ssl_keyfile={certificate}")


def test_plain_where_tls_is_wanted(redis_server: Server, certificate: Path) -> None:
    with TlsFront(redis_server, certificate) as front:
        line = refusal(f"redis://localhost:{front.port}")
    assert line.endswith("If it speaks TLS, write rediss://")


def test_tls_where_none_is_spoken(redis_server: Server) -> None:
    # Redis waits for the end of what it takes for a line.
    line = refusal(f"rediss://127.0.0.1:{redis_server.port}?socket_timeout=0.2")
    assert "is it a Redis with TLS (without, write redis://)" in line


# --- a cluster


def test_a_cluster_is_found_behind_any_of_its_nodes(redis_cluster: list[Server]) -> None:
    for server in redis_cluster:
        with client_of(server.url) as client:
            assert isinstance(client, RedisCluster)
            # A line for each node.
            assert len(check(client)) == 3
            client.set("a", b"\xff")
            assert client.get("a") == b"\xff"
    with client_of(REDIS_HOST="127.0.0.1", REDIS_PORT=redis_cluster[0].port) as client:
        assert isinstance(client, RedisCluster)
    for name in ("redis.cluster.RedisCluster", RedisCluster):
        with client_of(redis_cluster[0].url, REDIS_PARAMS={"redis_cls": name, "db": 0}) as client:
            assert isinstance(client, RedisCluster)


def test_a_cluster_has_one_database(redis_cluster: list[Server]) -> None:
    url = redis_cluster[0].url.removesuffix("/0")
    assert refusal(f"{url}/1") == f"{url}/1: it is a cluster, which has the database 0 only"
    line = refusal(REDIS_HOST="127.0.0.1", REDIS_PORT=redis_cluster[0].port, REDIS_DB=1)
    assert line.endswith("it is a cluster, which has the database 0 only")


def test_a_node_that_belongs_to_no_cluster_yet() -> None:
    with Server(options={"cluster-enabled": "yes"}) as server:
        assert "the cluster is down" in refusal(server.url)


def test_a_node_that_is_not_fit_is_named() -> None:
    with cluster_of_three({"maxmemory": "100mb"}) as servers:
        with connected(servers[1]) as client:
            client.config_set("maxmemory-policy", "allkeys-lru")
        assert refusal(servers[0].url).startswith(f"{servers[1].url}: its maxmemory-policy is")


def test_a_user_of_a_cluster_needs_one_right_more() -> None:
    with cluster_of_three({"user": ("bob", "on", ">secret", *RIGHTS)}) as servers:
        url = f"redis://bob:secret@127.0.0.1:{servers[0].port}"
        line = refusal(url)
        assert "and +cluster in a cluster" in line
        assert "secret" not in line
        for server in servers:
            with connected(server) as client:
                client.execute_command("ACL SETUSER", "bob", "+cluster")
        with client_of(url) as client:
            check(client)


# --- what it costs those who do not need it


def test_nothing_of_it_is_imported_where_no_redis_is_named() -> None:
    code = (
        "import sys, crawlproject.commands.crawl, crawlproject.frontier.scheduler\n"
        "import crawlproject.spiders.site, crawlproject.api.caller\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'redis', 'scrapy_redis'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_line_is_an_error_of_the_users() -> None:
    """So that every command shows it as one line, and ends with the status 2."""
    assert issubclass(BadRedis, BadInput)
