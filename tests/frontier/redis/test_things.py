"""Items in Redis: the values that hold them, ours and those of others."""

from __future__ import annotations

import pickle
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from crawlproject.frontier.answers import to_record
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.redis.blocks import Malformed, packed
from crawlproject.frontier.redis.keys import prefix_of
from crawlproject.frontier.redis.messages import to_bytes
from crawlproject.frontier.redis.things import thing_from, things_from
from crawlproject.frontier.visits import Recrawl
from crawlproject.items import Content
from crawlproject.pipelines.likeness import Likeness
from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from crawlproject.records import PAGE, to_text
from crawlproject.recrawl.visit import Visit
from tests.crawling import scrapy
from tests.frontier.engines import joined, take
from tests.redis_server import connected

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.redis.binary import Server

KEY = f"{prefix_of('contract')}things:0"
STARTS = f"{prefix_of('contract')}starts"
PAGE_TEXT = to_text({"url": "a/x", "status_code": 200})
GOOD: list[list[Any]] = [
    ["shop.Product", None, to_text({"name": "x", "url": "a/x", "status_code": 200})],
    [PAGE, "a/x", PAGE_TEXT],
    [PAGE, None, to_text({"title": "no URL"})],
    [PAGE, "a/\ufffd", to_text({"url": "a/\ud800"})],
    ["shop.Product", None, to_text({"name": "\ud800", "many": 2**80})],
]
BAD: dict[str, Any] = {
    "no list": {"a": 1},
    "a text": "things",
    "too short": ["kind", None],
    "too long": ["kind", None, "{}", "more"],
    "no kind": [None, None, "{}"],
    "a kind that is a number": [1, None, "{}"],
    "a page that is a number": ["kind", 1, "{}"],
    "no text": ["kind", None, {"name": "x"}],
    "no JSON": ["kind", None, "{"],
    "no object": ["kind", None, "[1]"],
    "deep JSON": ["kind", None, " " + "[" * 100_000],
    "a page of another URL": [PAGE, "b/y", PAGE_TEXT],
    "a page that names none": [PAGE, None, PAGE_TEXT],
    "a page that is none": ["kind", "a/x", PAGE_TEXT],
}


@pytest.mark.parametrize("thing", GOOD)
def test_what_was_packed_is_unpacked(thing: list[Any]) -> None:
    assert thing_from(packed(thing)) == thing
    assert things_from(packed([thing, thing])) == [thing, thing]


def test_no_items_are_a_list_too() -> None:
    assert things_from(packed([])) == []


@pytest.mark.parametrize("thing", BAD.values(), ids=BAD.keys())
def test_what_is_no_item_is_malformed(thing: Any) -> None:
    with pytest.raises(Malformed):
        thing_from(packed(thing))
    with pytest.raises(Malformed):
        things_from(packed([GOOD[0], thing]))


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"garbage",
        pickle.dumps([GOOD[0]]),
        packed("items"),
        packed(None),
        zstandard.compress(b"[2, []]"),
        zstandard.compress(b" " + b"[" * 100_000),
        # A text that no encoding can write.
        zstandard.compress(b' [3, [["\\ud800", null, "{}"]]]'),
    ],
)
def test_what_is_no_value_of_ours_is_malformed(value: bytes) -> None:
    with pytest.raises(Malformed):
        things_from(value)
    with pytest.raises(Malformed):
        thing_from(value)


def crawled(url: str) -> Any:
    """Two pages, with an item each; and one that belongs to none."""
    frontier = joined(url)
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    for _ in range(2):
        lease = take(frontier)
        lease.records = [("kind", {"name": lease.url})]
        frontier.landed(lease, 0)
        frontier.finish(lease)
    frontier.keep_item("kind", {"name": "start"})
    frontier.commit()
    return frontier


def names(frontier: Any) -> list[str]:
    return sorted(record["name"] for _, record in frontier.read().others())


@pytest.mark.parametrize("value", [b"garbage", *map(packed, BAD.values())])
def test_of_malformed_values_the_others_are_read_all_the_same(
    redis_server: Server, value: bytes
) -> None:
    with closing(crawled(redis_server.url)) as frontier, connected(redis_server) as client:
        client.hset(KEY, "1", value)
        client.hset(KEY, "no id", value)
        client.hset(STARTS, "other", value)
        assert names(frontier) == ["a/2", "start"]
        assert int(client.hget(f"{prefix_of('contract')}meta", "malformed") or 0) == 2
        assert frontier.failure is None


def test_an_item_that_joins_a_malformed_value_takes_its_place(redis_server: Server) -> None:
    with closing(crawled(redis_server.url)) as frontier, connected(redis_server) as client:
        client.hset(KEY, "1", packed([BAD["no JSON"]]))
        frontier.keep_item("kind", {"name": "late"}, "a/1")
        frontier.commit()
        assert names(frontier) == ["a/2", "late", "start"]
        value: Any = client.hget(KEY, "1")
        assert things_from(value) == [["kind", None, '{"name":"late"}']]
        assert client.llen(f"{prefix_of('contract')}aside") == 1


def test_a_committer_that_takes_over_adds_to_what_is_there(redis_server: Server) -> None:
    with closing(crawled(redis_server.url)) as frontier:
        frontier.close()
    with closing(joined(redis_server.url)) as another:
        another.keep_item("kind", {"name": "late"}, "a/1")
        assert names(another) == ["a/1", "a/2", "late", "start"]


@pytest.mark.parametrize("is_killed", [False, True])
def test_items_of_a_first_try_stay_when_another_committer_gets_the_last_one(
    redis_server: Server, is_killed: bool
) -> None:
    """A callback yields items and asks for another try, when its page is visited again."""
    options: Any = {"recrawl": Recrawl()}
    with closing(joined(redis_server.url, **options)) as first:
        first.admit([Candidate("a/1")])
        lease = take(first)
        lease.records = [("kind", {"name": "old"})]
        lease.visit = Visit(0)
        first.landed(lease, 0)
        first.finish(lease)
        assert first.revisit(60, before=60) == 1
        lease = take(first, 60)
        first.keep_item("kind", {"name": "first try"}, lease.url)
        lease.attempts = 1
        first.landed(lease, 60)
        first.release(lease, until=65)
        first.commit()
        if is_killed:
            workers, worker = f"{prefix_of('contract')}workers", first.session.worker
            with connected(redis_server) as client:
                client.zadd(workers, {worker: float("-inf")})
    with closing(joined(redis_server.url, **options)) as second:
        lease = take(second, 65)
        assert lease.attempts == 1
        lease.records = [("kind", {"name": "second try"})]
        lease.visit = Visit(65)
        second.landed(lease, 65)
        second.finish(lease)
        assert names(second) == ["first try", "second try"]
        assert second.revisit(120, before=120) == 1
        lease = take(second, 120)
        lease.records, lease.visit = [("kind", {"name": "new"})], Visit(120)
        second.landed(lease, 120)
        second.finish(lease)
        assert names(second) == ["new"]


def test_who_takes_over_compares_the_answers_that_wait(redis_server: Server) -> None:
    """It does so while its crawl is being opened, and has no frontier yet."""
    options: Any = {"recrawl": Recrawl(likeness=Likeness)}
    parameters = SignatureParameters()

    def answered(lease: Any, title: str, now: float) -> Any:
        signature = parameters.sign_text(f"{title} {' '.join(map(str, range(200)))}")
        lease.records = [(PAGE, {"url": "a/1", "status_code": 200, "title": title, "links": []})]
        lease.content = Content(title.encode().ljust(32), signature)
        lease.visit = Visit(now)
        return lease

    with closing(joined(redis_server.url, **options)) as first, connected(redis_server) as client:
        first.remember(NOTE, parameters.note())
        first.admit([Candidate("a/1")])
        lease = answered(take(first), "old", 0)
        first.landed(lease, 0)
        first.finish(lease)
        assert first.revisit(60, before=60) == 1
        # It was handed in, and its worker is gone.
        lease = answered(take(first, 60), "new", 60)
        message = to_bytes("answer", 1, to_record(lease, is_whole=True), content=lease.content)
        prefix = prefix_of("contract")
        client.rpush(f"{prefix}inbox", message)
        client.zadd(f"{prefix}workers", {first.session.worker: float("-inf")})
        with closing(joined(redis_server.url, **options)) as second:
            (record,) = [record for _, record in second.read().pages()]
        assert record["title"] == "new"
        assert client.llen(f"{prefix}aside") == 0


@pytest.mark.parametrize("number", [1, 99])
def test_a_url_whose_answer_is_unusable_has_failed(redis_server: Server, number: int) -> None:
    """The crawl does not wait for it; and a number of no URL is passed over."""
    with closing(joined(redis_server.url)) as frontier, connected(redis_server) as client:
        frontier.admit([Candidate("a/1")])
        lease = take(frontier)
        lease.records = [("kind", {"name": "1"})]
        # A page without links is none of ours.
        answer = to_record(lease) | {"records": [[PAGE, {"url": "a/1"}]]}
        client.rpush(f"{prefix_of('contract')}inbox", to_bytes("answer", number, answer))
        frontier.commit()
        assert client.llen(f"{prefix_of('contract')}aside") == 1
        assert frontier.failure is None
        frontier.landed(lease, 0)
        frontier.finish(lease)
        assert frontier.exhausted()
        pages = [record["error"] for _, record in frontier.read().pages()]
        assert pages == (["unreadable: its response in Redis is damaged"] if number == 1 else [])


def test_a_crawl_of_the_format_before_is_refused_in_one_line_and_not_touched(
    redis_server: Server, tmp_path: Path
) -> None:
    """In which items were a list."""
    meta = f"{prefix_of('old')}meta"
    with connected(redis_server) as client:
        client.hset(meta, mapping={"version": 2, "shards": 1, "last_id": 1})
        client.rpush(f"{prefix_of('old')}things", b"an item")
        keys, before = sorted(client.keys("*")), client.hgetall(meta)
        options = ("-s", f"REDIS_URL={redis_server.url}", "-s", "FRONTIER_CRAWL_ID=old")
        commands = (
            ("crawl", "site", "-a", "seed=http://127.0.0.1:9/", *options),
            ("export", redis_server.url, "-O", "x.json"),
        )
        for command in commands:
            done = scrapy(*command, cwd=tmp_path)
            assert done.returncode != 0
            assert "format '2', and this version of crawlproject has format 3" in done.stderr
            assert "Traceback" not in done.stderr
        assert (sorted(client.keys("*")), client.hgetall(meta)) == (keys, before)
