"""Which crawls are in a Redis, and which of them is meant."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.errors import BadArgument
from crawlproject.frontier.redis.connection import address_of
from crawlproject.frontier.redis.scripts import Scripts, scripts_of
from crawlproject.frontier.redis.wire import counts_from

if TYPE_CHECKING:
    from redis import Redis

_META = "meta"
_find_id = re.compile(rb"crawl:\{(.*)\}:meta", re.DOTALL).fullmatch
# Keys that are looked at in one round trip.
_AT_ONCE = 1000
# Crawls that are named when one has to be chosen.
_CHOICES = 10


class CrawlFacts(NamedTuple):
    id: str
    pages: int
    workers: int

    def __str__(self) -> str:
        pages = f"{self.pages:,} page{'' if self.pages == 1 else 's'}"
        at_it = f"{self.workers:,} worker{'' if self.workers == 1 else 's'} at it"
        return f"{shown_id(self.id)} ({pages}, {at_it if self.workers else 'nobody at it'})"


def chosen(client: Redis, wanted: str | None) -> Scripts:
    """The keys of a crawl, or of the only one. Raises BadArgument if that can't be told."""
    if wanted:
        scripts = scripts_of(client, wanted)
        if scripts.ask("EXISTS", _META):
            return scripts
    known = ids_of(client)
    if not wanted and len(known) == 1:
        return scripts_of(client, known[0])
    where = address_of(client)
    if not known:
        raise BadArgument("--crawl", f"there is no crawl in {where}")
    facts = [str(facts_of(scripts_of(client, one), one)) for one in known[:_CHOICES]]
    rest = " …" if len(known) > _CHOICES else ""
    problem = f"there is no {wanted!r} in {where}" if wanted else f"{where} has several crawls"
    raise BadArgument("--crawl", f"{problem}: give one of {'; '.join(facts)}{rest}")


def shown_id(crawl: str) -> str:
    """For a line to be read: anybody may have written it."""
    return crawl if crawl.isprintable() else repr(crawl)


def ids_of(client: Redis) -> list[str]:
    """The ids of all crawls, sorted."""
    # A key may come twice.
    found = set()
    for key in client.scan_iter(match="crawl:{*}:meta", count=_AT_ONCE):
        # What is no text is not ours.
        with suppress(UnicodeDecodeError):
            # Other shards have one, too, and no URLs are numbered there.
            if (match := _find_id(key)) and client.hexists(key, "last_id"):
                found.add(match[1].decode())
    return sorted(found)


def facts_of(scripts: Scripts, crawl: str) -> CrawlFacts:
    census, moved = scripts.ask("HMGET", _META, "census", "moved")
    counts = counts_from(census or b"", 0)
    moved = int(moved if moved and moved.isdigit() else 0)
    pages = counts.done + counts.failed - counts.sitemaps - moved
    return CrawlFacts(crawl, max(pages, 0), count_alive(scripts))


def count_alive(scripts: Scripts) -> int:
    """How many workers are at a crawl, as far as it is known."""
    return int(scripts.ask("ZCOUNT", "workers", f"({now_in(scripts.client):.6f}", "+inf"))


def now_in(client: Redis) -> float:
    """The time of Redis."""
    seconds, microseconds = client.time()
    return float(seconds + microseconds / 1e6)
