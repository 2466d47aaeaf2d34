from __future__ import annotations

import subprocess
import sys
import zipfile
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from crawlproject.frontier.redis.connection import connect
from crawlproject.frontier.redis.scripts import Scripts
from tests.crawling import PROJECT
from tests.redis_server import connected

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.redis.binary import Server

KEYS = [f"crawl:{{x}}:{number}" for number in range(5)]
FOLDER = PROJECT / "crawlproject/frontier/redis/lua"


def test_the_text_is_sent_once(redis_server: Server) -> None:
    with connected(redis_server) as client:
        for _ in range(3):
            assert Scripts(client).run("check", (), KEYS) == []
        calls = client.info("commandstats")
    assert calls["cmdstat_evalsha"]["calls"] == 3
    assert calls["cmdstat_eval"]["calls"] == 1


def test_a_redis_that_has_forgotten_it_gets_it_again(redis_server: Server) -> None:
    with connected(redis_server) as client:
        scripts = Scripts(client)
        scripts.run("check", (), KEYS)
        client.script_flush()
        assert scripts.run("check", (), KEYS) == []


def test_it_runs_where_the_keys_are(redis_cluster: list[Server]) -> None:
    with closing(connect(Settings({"REDIS_URL": redis_cluster[0].url}))) as client:
        scripts = Scripts(client)
        for crawl in "abcdefgh":
            keys = [f"crawl:{{{crawl}}}:{number}" for number in range(5)]
            assert scripts.run("check", (), keys) == []


def test_it_runs_from_an_archive(redis_server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "project.egg"
    with zipfile.ZipFile(archive, "w") as target:
        for path in (PROJECT / "crawlproject").rglob("*"):
            if path.suffix in (".py", ".lua"):
                target.write(path, path.relative_to(PROJECT))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import crawlproject\n"
        "assert crawlproject.__file__.startswith(sys.argv[1])\n"
        "from scrapy.settings import Settings\n"
        "from crawlproject.frontier.redis.connection import check, connect\n"
        "check(connect(Settings({'REDIS_URL': sys.argv[2]})))"
    )
    command = [sys.executable, "-c", code, str(archive), redis_server.url]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_script_says_what_it_takes_and_gives() -> None:
    names = [path.name for path in files("crawlproject.frontier.redis").joinpath("lua").iterdir()]
    assert names
    for name in names:
        text = (FOLDER / name).read_text()
        head = text.partition("\n\n")[0]
        assert head.startswith("-- "), name
        assert "KEYS" in head, name
        # What the others share answers nothing.
        assert "returns" in head or name == "common.lua", name
