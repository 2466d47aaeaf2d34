"""Which seeds are internal: the first lookup of a seed's name decides.

A seed is internal if all its addresses are. Before the first request, seeds' names are looked up
until one is not internal, or all are: the crawl is the crawl of a private network only then. A
name that this leaves open is decided before the first connection to it.

The decision outlives a run. A name that was internal stays internal. One that was public when an
earlier run began, or whose robots.txt an earlier run has fetched, stays public. A name that can't
be looked up is not internal in this run.

Notes kept in the crawl directory: ``internal seeds``; ``public seeds``, as far as they were looked
up at the start.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from crawlproject.frontier import frontier_of
from crawlproject.frontier.notes import INTERNAL_SEEDS, PUBLIC_SEEDS, texts_in
from crawlproject.scope.internal import is_address, is_internal, is_internal_address
from crawlproject.urls.canonical import origin_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.crawler import Crawler

    from crawlproject.fetching.resolver import Names
    from crawlproject.frontier.base import Frontier
    from crawlproject.scope.scope import Scope

logger = logging.getLogger(__name__)

# Names that are looked up at the same time, at the start.
_AT_ONCE = 32


class InternalSeeds:
    def __init__(self, crawler: Crawler, scope: Scope, names: Names) -> None:
        self._crawler = crawler
        self._scope = scope
        self._names = names
        settings = crawler.settings
        limits = map(settings.getfloat, ("DNS_TIMEOUT", "DOWNLOAD_TIMEOUT"))
        self._seconds = min(filter(None, limits), default=None)
        self._start: asyncio.Future[None] | None = None
        self._lookups: dict[str, asyncio.Future[bool]] = {}
        self._public: set[str] = set()

    def close(self) -> None:
        for task in (self._start, *self._lookups.values()):
            if task is not None:
                task.cancel()

    async def decide(self) -> None:
        """Whether all seeds are internal, found out the first time that it is called."""
        if self._start is None:
            if not self._scope.undecided():
                return
            self._start = asyncio.ensure_future(self._decide())
        if not self._start.done():
            await asyncio.shield(self._start)

    async def decide_for(self, host: str) -> None:
        """What the requests of a host have to know."""
        await self.decide()
        for name in self._scope.undecided(host):
            await asyncio.shield(self._look_up(name))

    async def can_look_up(self) -> bool:
        """Whether names can be looked up here: not everybody behind a proxy can."""
        lookups = [asyncio.shield(self._look_up(name)) for name in self._first_names]
        return any(await asyncio.gather(*lookups))

    @cached_property
    def _first_names(self) -> list[str]:
        hosts = sorted(self._scope.seed_hosts)
        names = (host for host in hosts if not is_internal(host) and not is_address(host))
        return list(islice(names, _AT_ONCE))

    async def _decide(self) -> None:
        self._recall()
        names = iter(self._scope.undecided())
        pending: set[asyncio.Future[bool]] = set()
        while not self._scope.is_decided:
            while len(pending) < _AT_ONCE and (name := next(names, None)):
                pending.add(self._look_up(name))
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        self._note(PUBLIC_SEEDS, self._public)

    def _recall(self) -> None:
        """What earlier runs have found out."""
        if self._frontier is None:
            return
        with self._frontier.at_once():
            inside, public = map(self._frontier.recall, (INTERNAL_SEEDS, PUBLIC_SEEDS))
        self._public.update(texts_in(PUBLIC_SEEDS, public))
        for name in texts_in(INTERNAL_SEEDS, inside):
            self._scope.decide(name, is_inside=True)

    def _note(self, note: str, names: Collection[str]) -> None:
        if self._frontier is not None and names:
            self._frontier.join(note, sorted(names))

    def _look_up(self, name: str) -> asyncio.Future[bool]:
        """Whether a name has addresses; then it is decided what it is."""
        if name not in self._lookups:
            self._lookups[name] = asyncio.ensure_future(self._judge(name))
        return self._lookups[name]

    async def _judge(self, name: str) -> bool:
        addresses: list[str] = []
        try:
            async with asyncio.timeout(self._seconds):
                addresses = [address for _, address in await self._names.resolve(name)]
        except Exception as error:
            # Whatever it is, its pages will fail of it, and say so.
            logger.debug("Looking up the seed %s failed: %s", name, error)
        if name in self._scope.undecided(name):
            is_inside = bool(addresses) and all(map(is_internal_address, addresses))
            if addresses and not is_inside:
                self._public.add(name)
            self._decide_name(name, is_inside=is_inside)
        return bool(addresses)

    def _decide_name(self, name: str, *, is_inside: bool) -> None:
        if is_inside and self._was_public(name):
            logger.warning(
                "The seed %s leads into a private network, and did not when this crawl began: it "
                "is refused. A new crawl may go there",
                name,
            )
            is_inside = False
        if is_inside:
            self._note(INTERNAL_SEEDS, [name])
        self._scope.decide(name, is_inside=is_inside)

    @cached_property
    def _frontier(self) -> Frontier | None:
        # A spider of another scheduler may have a scope, too.
        with suppress(LookupError):
            return frontier_of(self._crawler)
        return None

    def _was_public(self, name: str) -> bool:
        """It is not known to be internal, and an earlier run has noted it, or talked to it."""
        if name in self._public or self._frontier is None:
            return name in self._public
        known = map(self._frontier.robots_of, map(origin_of, self._scope.seeds_on(name)))
        return any(robots is not None and robots.error is None for robots in known)
