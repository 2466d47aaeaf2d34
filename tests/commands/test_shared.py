"""What a user is told about a crawl in Redis: the same as about one in a directory."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from crawlproject.frontier.base import NOFOLLOW, Candidate, Robots
from crawlproject.frontier.clock import now
from crawlproject.frontier.entry import SITEMAP
from crawlproject.frontier.own_requests import START_MARK
from crawlproject.frontier.redis.keys import prefix_of
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.frontier.redis.shared import Shared
from crawlproject.items import Content
from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from crawlproject.scope.traps import Budget
from crawlproject.urls.canonical import host_of
from tests.commands.inquiring import SITE, Crawl, SharedCrawl, ask, url

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.redis.binary import Server

    CapFd = pytest.CaptureFixture[str]

CALENDAR = Budget(
    "prefix site.example/cal", 1, "prefix budget: SCOPE_MAX_PAGES_PER_PREFIX=1 for site.example/cal"
)
OPTIONS: dict[str, Any] = {
    "budgets": lambda url: (CALENDAR,) if "/cal" in url else (),
    "depth_limit": 3,
}
# Every state, and every way into it.
ASKED = (
    *("/", "/a", "/old", "/older", "/new", "/more", "/deep", "/deeper", "/cal/1", "/cal/2", "/no"),
    *("/morre", "/new/", "/a/b/c", "http://www.site.example/new", "https://other.example/"),
    *("https://third.example/x", "http://ohter.example/"),
)


def fill(crawl: Crawl) -> Crawl:
    """What each of the commands has something to say about."""
    crawl.fetch("/", "/older", "/a", "/cal/1", "/cal/2", Candidate(url("/no"), NOFOLLOW))
    crawl.redirect("/older", "/old", 301)
    crawl.fetch("/a", error="timeout")
    crawl.redirect("/old", "/new")
    crawl.fetch("/new", "/more", "/deep", content=Content(b"x" * 32, None))
    crawl.fetch("/cal/1", content=Content(b"x" * 32, None))
    crawl.fetch("/more", "/deeper")
    frontier = crawl.frontier
    frontier.admit([Candidate("https://other.example/")], depth=1)
    frontier.keep_robots(SITE, Robots(b"", 1, 2))
    frontier.keep_robots("https://other.example", Robots(None, 1, 2, "timeout", 1))
    frontier.set_min_delay("other.example", 5)
    frontier.overloaded("site.example", again=True)
    frontier.remember(NOTE, SignatureParameters().note())
    frontier.commit()
    return crawl


@pytest.fixture
def both(tmp_path: Path, redis_url: str) -> tuple[Path, str]:
    """The same crawl in a directory and in Redis; nobody is at it."""
    directory = Crawl(tmp_path / "job", **OPTIONS)
    directory.now = now()
    fill(directory).close()
    fill(SharedCrawl(redis_url, **OPTIONS)).close()
    return tmp_path / "job", redis_url


def without_times(value: Any) -> Any:
    """They began at different moments."""
    if isinstance(value, dict):
        return {
            name: without_times(one)
            for name, one in value.items()
            if not name.endswith(("_at", "directory", "bytes", "fleet"))
        }
    return [without_times(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "question",
    [
        ("frontier", "--json"),
        ("skipped",),
        ("skipped", "--json", "--reason", "nofollow"),
        ("duplicates", "--json"),
    ],
    ids=" ".join,
)
def test_the_answers_are_those_of_a_crawl_directory(
    capfd: CapFd, both: tuple[Path, str], question: tuple[str, ...]
) -> None:
    command, *options = question
    here, there = (ask(capfd, command, where, *options) for where in both)
    assert here.status == there.status == 0
    assert here.err == there.err == ""
    if "--json" in options and command != "skipped":
        assert without_times(json.loads(there.out)) == without_times(json.loads(here.out))
    else:
        assert there.out == here.out


@pytest.mark.parametrize("command", ["why", "page"])
def test_a_url_is_told_of_as_in_a_crawl_directory(
    capfd: CapFd, both: tuple[Path, str], command: str
) -> None:
    for asked in ASKED:
        here, there = (ask(capfd, command, url(asked), where, "--json") for where in both)
        assert (there.status, there.err) == (here.status, "")
        told, expected = json.loads(there.out), json.loads(here.out)
        # What is spelled almost the same, only who reads all can tell.
        near = [one for one in expected.pop("near") if one["how"] != "spelled almost the same"]
        assert told.pop("near") == near, asked
        assert without_times(told) == without_times(expected), asked


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_sitemap_and_what_a_spider_starts_with_are_found_by_their_urls(
    capfd: CapFd, tmp_path: Path, redis_url: str, is_shared: bool
) -> None:
    crawl = SharedCrawl(redis_url) if is_shared else Crawl(tmp_path)
    crawl.fetch("/")
    crawl.frontier.admit([Candidate(f"{url('/sitemap.xml')}{SITEMAP}")], 1)
    crawl.frontier.admit([Candidate(f"{url('/start')}#{START_MARK}")])
    crawl.close()
    where = redis_url if is_shared else tmp_path
    for path, lead in (("/sitemap.xml", "site"), ("/start", "seed")):
        answer = ask(capfd, "why", url(path), where, "--json")
        told = json.loads(answer.out)
        assert (told["state"], told["way"]) == ("queued", [{"url": url(path), "lead": lead}])


def test_a_path_is_one_of_the_seeds_host(capfd: CapFd, redis_url: str) -> None:
    crawl = fill(SharedCrawl(redis_url, **OPTIONS))
    crawl.frontier.join("seeds", [url("/")])
    crawl.close()
    answer = ask(capfd, "why", "--redis", redis_url, "/new")
    assert (answer.status, answer.out.splitlines()[0]) == (0, url("/new"))


class Counted(Scripts):
    """Knows which keys were asked for."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.keys: list[str] = []

    def ask(self, command: str, key: str, *words: Any) -> Any:
        self.keys.append(key)
        return super().ask(command, key, *words)

    def ask_all(self, commands: Any, **options: Any) -> list[Any]:
        commands = list(commands)
        self.keys += [key for _, key, *_ in commands]
        return super().ask_all(commands, **options)


def test_one_url_of_many_is_told_of_without_reading_all(redis_url: str) -> None:
    crawl = SharedCrawl(redis_url)
    crawl.fetch("/", *(f"/{number}" for number in range(4000)))
    crawl.fetch("/0", *(f"/0/{number}" for number in range(4000)))
    crawl.close()
    scripts = Counted(Redis.from_url(redis_url, protocol=2), "crawl")
    with Shared(scripts, host_of).questions() as questions:
        known = questions.find(url("/0/3999"))
        assert known is not None
        assert [step.url for step in questions.way(known)] == [url("/"), url("/0"), known.url]
        assert questions.find(url("/nothing")) is None
        assert questions.near(url("/0/3999/"))[0].url == known.url
    # Of 126 blocks: its own, that of its referrer and of the seed, those of what comes near.
    assert len({key for key in scripts.keys if key.startswith("e:")}) <= 4
    assert not [key for key in scripts.keys if key.startswith(("contents:", "items", "x:"))]
    assert scripts.calls < 60


def test_the_state_of_a_fleet_is_shown(capfd: CapFd, redis_url: str) -> None:
    crawl = fill(SharedCrawl(redis_url, **OPTIONS))
    lease = crawl.frontier.take(now())
    assert lease is not None
    client = Redis.from_url(redis_url)
    client.set(f"{prefix_of('crawl')}e:0", b"not ours")
    values = json.loads(ask(capfd, "frontier", redis_url, "--json").out)
    fleet = values["fleet"]
    (worker,) = fleet["workers"]
    assert values["running"] == [worker["name"]] == ["worker"] == [fleet["committer"]]
    assert values["urls"]["total"] == 0
    assert values["bytes"] > 1000
    assert fleet["redis_bytes"] > values["bytes"]
    assert (worker["is_alive"], worker["urls"] > 0, worker["hosts"]) == (True, True, 1)
    assert 0 <= worker["silent_seconds"] < 60
    assert (fleet["crawl"], fleet["stop"], fleet["inbox"]) == ("crawl", None, 0)
    # It is only looked at.
    assert (fleet["aside"], client.get(f"{prefix_of('crawl')}e:0")) == (0, b"not ours")
    client.rpush(f"{prefix_of('crawl')}aside", b"e:0: no block")
    client.hset(f"{prefix_of('crawl')}meta", "malformed", 1)
    client.zadd(f"{prefix_of('crawl')}workers", {"lost": 1})
    text = ask(capfd, "frontier", redis_url).out
    assert "crawl at redis://" in text
    assert "1 worker crawls here now." in text
    assert "1 value in Redis was not ours; the last 1 are in 'aside'." in text
    assert "lost: what it had goes to others" in text
    assert "commits, heard" in text


def test_a_cluster_will_do(capfd: CapFd, redis_cluster: list[Server]) -> None:
    for number, server in enumerate(redis_cluster):
        fill(SharedCrawl(server.url, crawl=f"crawl{number}", **OPTIONS)).close()
    address = redis_cluster[0].url
    assert "has several crawls: give one of crawl0 (" in ask(capfd, "frontier", address).err
    for number in range(3):
        which = ("--crawl", f"crawl{number}")
        values = json.loads(ask(capfd, "frontier", address, "--json", *which).out)
        assert values["urls"]["total"] > 9
        assert 1000 < values["bytes"] < values["fleet"]["redis_bytes"]
        assert ask(capfd, "why", address, url("/new"), *which).status == 0
        assert ask(capfd, "duplicates", address, *which).status == 0
        assert ask(capfd, "forget", address, *which).status == 0
    assert "there is no crawl in redis://" in ask(capfd, "frontier", address).err


def contents(client: Any) -> dict[bytes, object]:
    """What is in a Redis."""
    return {key: _content(client, key) for key in client.scan_iter()}


def _content(client: Any, key: bytes) -> object:
    # Not what DUMP says: a hash may be put in another order at any time.
    kind = client.type(key).decode()
    if kind == "hash":
        return client.hgetall(key)
    if kind == "set":
        return client.smembers(key)
    if kind == "list":
        return client.lrange(key, 0, -1)
    return client.zrange(key, 0, -1, withscores=True) if kind == "zset" else client.get(key)


def test_looking_leaves_no_trace(
    capfd: CapFd, tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(SharedCrawl(redis_url, **OPTIONS)).close()
    client = Redis.from_url(redis_url)
    client.hset(f"{prefix_of('crawl')}pages:0", "1", b"not ours")
    before = contents(client)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for command in ("frontier", "skipped", "duplicates"):
        assert ask(capfd, command, redis_url).status == 0
    for asked in ("/", "/new", "/nothing"):
        ask(capfd, "why", redis_url, url(asked))
        ask(capfd, "page", redis_url, url(asked))
    assert contents(client) == before
    assert list(tmp_path.iterdir()) == []


def test_one_of_several_crawls_has_to_be_named(capfd: CapFd, redis_url: str) -> None:
    first = SharedCrawl(redis_url, crawl="first")
    first.fetch("/")
    SharedCrawl(redis_url, crawl="second").close()
    answer = ask(capfd, "frontier", redis_url)
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    said = "first (1 page, 1 worker at it); second (0 pages, nobody at it)\n"
    assert f"has several crawls: give one of {said}" in answer.err
    for choice in (["--crawl", "first"], ["-s", "FRONTIER_CRAWL_ID=first"]):
        values = json.loads(ask(capfd, "frontier", redis_url, "--json", *choice).out)
        assert (values["fleet"]["crawl"], values["urls"]["done"]) == ("first", 1)
    client = Redis.from_url(redis_url)
    client.hset(prefix_of("\x1b[31mred") + "meta", "last_id", 1)
    client.hset(b"crawl:{\xff}:meta", "last_id", 1)
    assert "give one of '\\x1b[31mred' (0 pages" in ask(capfd, "frontier", redis_url).err
    answer = ask(capfd, "frontier", "-s", f"REDIS_URL={redis_url}", "--crawl", "third")
    assert answer.status == 2
    assert "there is no 'third' in redis://" in answer.err
    first.close()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("frontier", "redis://127.0.0.1:1/0"), "nobody listens there"),
        (("frontier", "redis://:secret@127.0.0.1:1/0"), "redis://127.0.0.1:1/0: nobody listens"),
        (("why", "--redis", "http://x/", "/a"), "is no address of a Redis"),
        (("frontier", "redis://localhost:x/0"), "the port must be a number"),
        (("frontier", "--redis", "{url}", "extra"), "unknown argument 'extra'"),
        (("why", "{url}"), "URL: missing"),
        (("frontier", "{url}"), "there is no crawl in redis://"),
        (("stop", "{url}"), "there is no crawl in redis://"),
        (("forget", "{url}", "--crawl", "x"), "there is no crawl in redis://"),
        (("stop", "."), "is no shared crawl (redis://…): Ctrl-C ends it"),
        (("forget", ".", "--crawl", "x"), "is no shared crawl (redis://…): delete the folder"),
        (("stop", "{url}", "--forse"), "unknown option '--forse'"),
        (("forget", "{url}", "--forse"), "did you mean --force?"),
    ],
)
def test_bad_arguments_are_told_in_a_line(
    capfd: CapFd, redis_url: str, command: tuple[str, ...], said: str
) -> None:
    answer = ask(capfd, *(word.replace("{url}", redis_url) for word in command))
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert said in answer.err
    assert "secret" not in answer.err


def test_a_key_of_another_type_is_told_in_a_line(capfd: CapFd, redis_url: str) -> None:
    SharedCrawl(redis_url).close()
    Redis.from_url(redis_url).set(f"{prefix_of('crawl')}notes", b"not ours")
    answer = ask(capfd, "frontier", redis_url)
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    assert "wrong kind of value" in answer.err


def test_a_crawl_is_removed_when_nobody_is_at_it(capfd: CapFd, redis_url: str) -> None:
    other = SharedCrawl(redis_url, crawl="other")
    crawl = SharedCrawl(redis_url)
    client: Any = Redis.from_url(redis_url)
    answer = ask(capfd, "forget", redis_url, "--crawl", "crawl")
    assert (answer.status, answer.out) == (1, "")
    assert "1 worker is at crawl at redis://" in answer.err
    crawl.close()
    other.close()
    answer = ask(capfd, "forget", redis_url, "--crawl", "crawl")
    assert (answer.status, answer.err) == (0, "")
    assert {key.split(b"}")[0] for key in client.scan_iter()} == {b"crawl:{other"}
    # Not even the only one goes without its name.
    answer = ask(capfd, "forget", redis_url)
    assert (answer.status, answer.err.count("--crawl: missing: other at redis://")) == (2, 1)


def test_a_crawl_is_removed_by_force(capfd: CapFd, redis_url: str) -> None:
    crawl = fill(SharedCrawl(redis_url, **OPTIONS))
    answer = ask(capfd, "forget", redis_url, "--crawl", "crawl", "--force")
    assert (answer.status, Redis.from_url(redis_url).dbsize()) == (0, 0)
    crawl.frontier.commit()
    assert crawl.frontier.failure is not None
    assert "gone from Redis" in crawl.frontier.failure


def test_a_stop_is_heard_by_all_until_a_new_run_begins(capfd: CapFd, redis_url: str) -> None:
    crawl = SharedCrawl(redis_url)
    answer = ask(capfd, "stop", redis_url)
    assert (answer.status, answer.err) == (0, "")
    assert "1 worker of crawl at redis://" in answer.out
    crawl.frontier.commit()
    assert crawl.frontier.stop_reason == "stopped"
    crawl.close()
    assert "there is nothing to stop" in ask(capfd, "stop", redis_url).out
    again = SharedCrawl(redis_url)
    assert again.frontier.stop_reason is None
    again.close()
