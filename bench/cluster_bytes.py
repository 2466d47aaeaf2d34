"""``bench cluster``: how many bytes a URL takes in Redis, in a frontier without pages.

*Seen* is a URL of which nothing is to be done any more: it was skipped, or has answered. *Queued*
is one that waits for its host. Hosts are few, so that what is measured are URLs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from redis import Redis

from bench.workload import Workload
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.urls.canonical import host_of

_HOSTS = 10
_AT_ONCE = 1000


class Sizes(NamedTuple):
    urls: int
    bytes_a_seen_url: float
    bytes_a_queued_url: float
    # How Redis gets its memory: what it says of its size depends on that.
    allocator: str


def measure_bytes(redis_url: str, urls: int) -> Sizes:
    """In a Redis, which is emptied."""
    client: Any = Redis.from_url(redis_url)
    seen = _grown(client, urls, "offsite")
    queued = _grown(client, urls, None)
    allocator = str(client.info("memory")["mem_allocator"])
    client.flushall()
    client.close()
    return Sizes(urls, seen / urls, queued / urls, allocator)


def _grown(client: Any, urls: int, reason: str | None) -> int:
    """Bytes by which the memory grows with so many URLs, skipped for a reason or queued."""
    client.flushall()
    frontier = RedisFrontier(
        Scripts(client, "bytes"),
        "bench",
        host_of=host_of,
        limits=lambda host: HostLimits(),
        lasts=1e6,
        depth_limit=None,
        budget=None,
        budgets=None,
        capacity=None,
        max_redirects=20,
        seeds_first=False,
    )
    workload = Workload(urls, _HOSTS)
    before = _used(client)
    for start in range(0, urls, _AT_ONCE):
        numbers = range(start, min(start + _AT_ONCE, urls))
        frontier.admit(Candidate(workload.url(number), reason) for number in numbers)
    grown = _used(client) - before
    frontier.close()
    return grown


def _used(client: Any) -> int:
    """By keys: buffers come and go, and what Redis says of theirs is not of this moment."""
    pipeline = client.pipeline(transaction=False)
    for key in client.scan_iter(count=_AT_ONCE):
        pipeline.memory_usage(key, samples=0)
    return sum(filter(None, pipeline.execute()))
