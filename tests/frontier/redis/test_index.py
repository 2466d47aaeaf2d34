from __future__ import annotations

from redis import Redis

from crawlproject.frontier.redis.batch import Batch
from crawlproject.frontier.redis.index import LOAD, Index
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.frontier.seen import fingerprint


def scripts_of(url: str) -> Scripts:
    scripts = Scripts(Redis.from_url(url), "index")
    scripts.ask("SET", "committer", "me 1")
    return scripts


def test_every_url_is_found_while_buckets_are_divided(redis_url: str) -> None:
    scripts = scripts_of(redis_url)
    index = Index(scripts, 1)
    marks = [fingerprint(f"https://example.com/{number}") for number in range(5_000)]
    known = 0
    for size in (1, 10, 100, 1_000, 1, 2_889, 999):
        batch = Batch()
        some = {mark: known + place + 1 for place, mark in enumerate(marks[known : known + size])}
        known += size
        index.add(some, known, batch)
        batch.run(scripts, "me 1", {}, 1)
        assert index.find(marks[:known]) == list(range(1, known + 1))
    assert index.find([fingerprint("elsewhere")]) == [0]
    assert index.buckets == -(-known // LOAD)
    # Small enough for Redis to keep them without pointers.
    sizes = [scripts.ask("HLEN", f"x:{number}") for number in range(index.buckets)]
    assert sum(sizes) == known
    assert max(sizes) < 4 * LOAD
