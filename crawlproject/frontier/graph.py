"""All known URLs, and the shortest way to each.

Depths settle as the crawl goes on. While a URL at depth m is still open, no new way can be
shorter than m, so a page at depth m or less has its final depth, and the list of its
children, kept to pass a shorter way on, can go. Only the pages that overtook a slow one
keep theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from crawlproject.frontier.base import DEPTH, NOFOLLOW, Candidate, Counts, Facts, Skip, State
from crawlproject.frontier.census import Census
from crawlproject.frontier.entry import Entry, Way, sources_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class LinkGraph(ABC):
    """Who is known, how deep, and by whom. When a URL is given out, a subclass decides."""

    def __init__(self, depth_limit: int | None) -> None:
        self._depth_limit = depth_limit
        self._entries: dict[str, Entry] = {}
        self._census = Census()
        self._judges: dict[str, Callable[[str], str | None]] = {}
        self._ranks = 0
        # Done entries by depth, to which a shorter way may still be found.
        self._unsettled: defaultdict[int, list[Entry]] = defaultdict(list)

    @abstractmethod
    def _move(self, entry: Entry, state: State, reason: str | None = None) -> None:
        """Change the state of an entry."""

    @abstractmethod
    def _let_in(self, entry: Entry) -> None:
        """An entry is queued."""

    @abstractmethod
    def _advance(self, entry: Entry) -> None:
        """An entry that is queued has become shallower."""

    @abstractmethod
    def _unblock(self, entry: Entry) -> bool:
        """Follow what was one redirect too many, if it is none any more."""

    def known(self, url: str) -> bool:
        return url in self._entries

    def facts(self, url: str) -> Facts | None:
        entry = self._entries.get(url)
        if entry is None:
            return None
        is_page = entry.target is None or entry.state is State.FAILED
        return Facts(entry.way.depth, entry.way.referrer or None, sources_of(entry), is_page)

    def skips(self) -> Iterator[Skip]:
        for entry in self._entries.values():
            if entry.reason is not None:
                yield Skip(entry.url, entry.reason, entry.way.depth, entry.way.referrer or None)

    def counts(self) -> Counts:
        return self._census.counts()

    def depths(self) -> dict[int, int]:
        pages = (
            entry
            for entry in self._entries.values()
            if entry.state is State.FAILED or (entry.state is State.DONE and entry.target is None)
        )
        return dict(sorted(Counter(entry.way.depth for entry in pages).items()))

    def _offer(self, candidate: Candidate, way: Way) -> Entry:
        """A way to a URL: let the URL in if it is new, take the way if it is better."""
        entry = self._entries.get(candidate.url)
        if entry is None:
            self._ranks += 1
            entry = Entry(
                candidate.url, way, self._ranks, request=candidate.request, fewest_hops=way.hops
            )
            self._entries[candidate.url] = entry
            reason = candidate.reason
            if reason in self._judges:
                reason = self._judges[reason](candidate.url)
            if reason is None:
                self._enter(entry)
            else:
                self._skip(entry, reason)
        elif candidate.reason is None and entry.reason == NOFOLLOW:
            # The way that was not to be followed counts for nothing.
            entry.way, entry.fewest_hops = way, way.hops
            self._enter(entry)
        elif way < entry.way and _counts(candidate, entry):
            self._improve(entry, way)
        if candidate.reason is None:
            self._spare_hops(entry, way.hops)
        return entry

    def _spare_hops(self, entry: Entry | None, hops: int) -> None:
        """Fewer redirects lead here, and so to what it redirects to: it may be followed now."""
        while entry is not None and hops < entry.fewest_hops:
            entry.fewest_hops = hops
            if entry.state is not State.LEASED:
                self._unblock(entry)
            entry, hops = entry.target, hops + 1

    def _enter(self, entry: Entry) -> None:
        if self._depth_limit is not None and entry.way.depth > self._depth_limit:
            self._skip(entry, DEPTH)
            return
        self._move(entry, State.QUEUED)
        self._let_in(entry)

    def _skip(self, entry: Entry, reason: str) -> None:
        self._move(entry, State.SKIPPED, reason)

    def _improve(self, entry: Entry, way: Way) -> None:
        """Take the better way, and pass it on to what lies behind."""
        improved = [(entry, way)]
        while improved:
            entry, way = improved.pop()
            if not way < entry.way:
                continue
            is_shorter = way.depth < entry.way.depth
            self._census.take_way(entry, way)
            if entry.reason is not None:
                if entry.reason == DEPTH:
                    self._enter(entry)
                continue
            if is_shorter and entry.state is State.QUEUED:
                self._advance(entry)
            if is_shorter and entry.children:
                step = way.step(entry.url)
                improved.extend((child, step) for child in entry.children)
            if entry.target is not None:
                improved.append((entry.target, way.hop()))

    def _settle(self) -> None:
        """Forget the links of the pages that no shorter way can reach any more."""
        floor = self._census.floor()
        for depth in [depth for depth in self._unsettled if depth <= floor]:
            for entry in self._unsettled.pop(depth):
                entry.children = None


def _counts(candidate: Candidate, entry: Entry) -> bool:
    """Whether a link may change the way to a URL that is known."""
    if candidate.reason is None:
        return True
    # One that must not be followed opens no door, but it may be the better one to name.
    return entry.reason is not None and (candidate.reason, entry.reason) != (NOFOLLOW, DEPTH)
