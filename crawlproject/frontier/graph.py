"""All known URLs, and the shortest way to each.

Depths settle as the crawl goes on. A shorter way to a page that is done is passed on to the
pages that it links to, without a refetch: its links are in the store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.base import (
    DEPTH,
    NOFOLLOW,
    SPENDING,
    UNLINKED,
    Candidate,
    State,
    is_of_link,
)
from crawlproject.frontier.census import Census
from crawlproject.frontier.entry import BY_SITEMAP, NOT_KEPT, depth_of, rank_of
from crawlproject.frontier.requests import priority_of
from crawlproject.records import encodable
from crawlproject.scope.traps import GROWING_PATH

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Entry, Way


class LinkGraph(ABC):
    """Who is known, how deep, and by whom. When a URL is given out, a subclass decides."""

    def __init__(self, store: Entries, depth_limit: int | None) -> None:
        self._store = store
        self._depth_limit = depth_limit
        self._too_deep = f"{DEPTH}: DEPTH_LIMIT={depth_limit}"
        self._census = Census()
        self._judges: dict[str, Callable[[str], str | None]] = {}
        # Requests that can't be written down, by the id of their entry.
        self._requests: dict[int, Any] = {}

    @abstractmethod
    def _let_in(self, entry: Entry) -> None:
        """An entry is queued."""

    @abstractmethod
    def _advance(self, entry: Entry, level: int) -> None:
        """An entry that is queued has come nearer: before, it was at ``level``."""

    def _has_turn(self, entry: Entry) -> bool:
        """Whether an entry is going to be committed, in a turn of its own."""
        return entry.state is State.LEASED

    @abstractmethod
    def _unblock(self, entry: Entry) -> bool:
        """Follow what was one redirect too many, if it is none any more."""

    def _offer(self, candidate: Candidate, way: Way) -> Entry:
        """A way to a URL: let the URL in if it is new, take the way if it is better."""
        entry = self._store.get(candidate.url)
        if entry is None:
            return self._meet(candidate, way)
        return self._offer_again(entry, candidate, way)

    def _offer_again(self, entry: Entry, candidate: Candidate, way: Way) -> Entry:
        """Another way to a URL that is known."""
        if candidate.request is not None and candidate.reason is None and self._opens(entry, way):
            # The spider asks for it itself, so no scope is asked.
            self._take_request(entry, candidate.request)
            entry.way, entry.fewest_hops = way, way.hops
            self._enter(entry)
        elif entry.reason == UNLINKED:
            self._return(entry, candidate, way)
        elif candidate.reason is None and is_of_link(entry.reason):
            # The way that was not to be followed counts for nothing.
            entry.way, entry.fewest_hops = way, way.hops
            self._enter(entry)
        elif self._is_better(way, entry) and _counts(candidate, entry):
            self._improve(entry, way)
        if candidate.reason == NOFOLLOW and entry.reason == GROWING_PATH:
            # One of two reasons, whichever came first.
            self._skip(entry, NOFOLLOW)
        if candidate.reason is None:
            self._spare_hops(entry, way.hops)
        return entry

    def _return(self, entry: Entry, candidate: Candidate, way: Way) -> None:
        """A URL that nobody linked to any more is linked to again."""
        entry.way, entry.fewest_hops = way, way.hops
        reason = self._judged_again(candidate).reason
        if reason is None:
            self._enter(entry)
        else:
            self._skip(entry, reason)

    @abstractmethod
    def _unsettle(self) -> None:
        """Ways may be longer now than they were."""

    @abstractmethod
    def _judged_again(self, candidate: Candidate) -> Candidate:
        """By the scope of now."""

    def _meet(self, candidate: Candidate, way: Way) -> Entry:
        entry = self._store.add(candidate.url, way)
        if candidate.request is not None:
            self._take_request(entry, candidate.request)
        reason = candidate.reason
        if reason in self._judges:
            reason = self._judges[reason](candidate.url)
        if reason is None:
            self._enter(entry)
        else:
            self._skip(entry, reason)
        return entry

    def _opens(self, entry: Entry, way: Way) -> bool:
        """Whether a request of a spider's own lets in a URL that was skipped."""
        is_skipped = entry.reason is not None and entry.reason not in SPENDING
        return is_skipped and not self._is_too_deep(way)

    def _take_request(self, entry: Entry, request: Any) -> None:
        self._keep_request(entry, request)
        entry.rank = rank_of(entry.id, priority_of(request))

    def _keep_request(self, entry: Entry, request: Any) -> None:
        if request is None or isinstance(request, str):
            entry.request = request
        else:
            entry.request = NOT_KEPT
            self._requests[entry.id] = request

    def _spare_hops(self, entry: Entry, hops: int) -> None:
        """Fewer redirects lead here, and so to what it redirects to: it may be followed now."""
        while hops < entry.fewest_hops:
            entry.fewest_hops = hops
            self._store.change(entry)
            if not self._has_turn(entry):
                self._unblock(entry)
            if entry.target is None:
                break
            entry, hops = self._store.by_id(entry.target), hops + 1

    def _enter(self, entry: Entry) -> None:
        if self._is_too_deep(entry.way):
            self._skip(entry, self._too_deep)
            return
        self._move(entry, State.QUEUED)
        self._let_in(entry)

    def _is_better(self, way: Way, entry: Entry) -> bool:
        """Than the one that is known. What is too deep by links may be named by a sitemap."""
        if (is_too_deep := self._is_too_deep(way)) != self._is_too_deep(entry.way):
            return not is_too_deep
        return way < entry.way

    def _is_too_deep(self, way: Way) -> bool:
        return self._depth_limit is not None and depth_of(way.level) > self._depth_limit

    def _skip(self, entry: Entry, reason: str) -> None:
        """``reason`` may name the rule too, after a colon."""
        word, _, rule = reason.partition(": ")
        self._move(entry, State.SKIPPED, word)
        if rule:
            # A pattern may hold what no encoding can write.
            entry.rule = encodable(rule)

    def _move(self, entry: Entry, state: State, reason: str | None = None) -> None:
        self._census.move(entry, state, reason)
        entry.rule = None
        self._store.change(entry)

    def _improve(self, entry: Entry, way: Way) -> None:
        """Take the better way, and pass it on to what lies behind."""
        behind = self._take_way(entry, way)
        self._store.flush_if_large()
        while behind:
            link, way = behind.pop()
            entry = self._store.by_id(link >> 1)
            if self._is_better(way, entry) and (not link & 1 or _may_rename(entry)):
                behind += self._take_way(entry, way)
                self._store.flush_if_large()

    def _take_way(self, entry: Entry, way: Way) -> list[tuple[int, Way]]:
        """Take the better way; links to what lies behind, as the store has them, with their way."""
        level = entry.way.level
        self._census.take_way(entry, way)
        self._store.change(entry)
        if entry.reason is not None:
            if entry.reason == DEPTH:
                self._enter(entry)
            return []
        is_again = entry.again is not None
        if way.level < level and entry.state is State.QUEUED and not is_again:
            self._advance(entry, level)
        if entry.target is not None:
            return [(entry.target << 1, way.hop())]
        if way.level < level and (is_again or not entry.is_open):
            step = way.step(entry)
            if way.level < BY_SITEMAP <= level and self._is_too_deep(step):
                # By links it is further than by a sitemap, and what is behind it too far.
                self._unsettle()
            return [(link, step) for link in self._store.links_of(entry)]
        return []


def _counts(candidate: Candidate, entry: Entry) -> bool:
    """Whether a link may change the way to a URL that is known."""
    if candidate.reason is None:
        return True
    return _may_rename(entry) or (entry.reason == DEPTH and not is_of_link(candidate.reason))


def _may_rename(entry: Entry) -> bool:
    """Whether a link that must not be followed may change the way to a URL: it opens no door, but
    to what stays outside it may be the better one to name.
    """
    return entry.reason is not None and entry.reason != DEPTH
