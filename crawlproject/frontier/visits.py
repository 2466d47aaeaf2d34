"""What a visit leaves for the next one: what has changed, how often that happens, when the next one
is due; and that links have gone, if they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.frontier.base import State
from crawlproject.frontier.comparing import Before, compare
from crawlproject.frontier.entries import AT_ONCE
from crawlproject.frontier.notes import ROUND, UNSETTLED
from crawlproject.frontier.queues import Queues
from crawlproject.moments import seconds_of
from crawlproject.recrawl.interval import Intervals
from crawlproject.recrawl.visit import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.comparing import Detail, Similarity
    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Entry
    from crawlproject.records import Record

# Links that have come or gone which are named.
_NAMED = 20


def _compares_nothing(recall: Callable[[str], str | None]) -> Similarity:
    return lambda one, other: None


class Recrawl(NamedTuple):
    """What decides about visits. ``reading`` stands for how pages are read: what was read in
    another way is asked for without a condition. ``cosmetic`` is how alike texts are, at least,
    between which there is no change to speak of; ``likeness`` makes what tells it, given a function
    that recalls notes.
    """

    intervals: Intervals = Intervals()
    cosmetic: float = 0.98
    likeness: Callable[[Callable[[str], str | None]], Similarity] = _compares_nothing
    reading: int = 0
    # Whether what is due is queued as long as the crawl runs.
    is_continuous: bool = False


class Visits(Queues):
    def __init__(self, store: Entries, *, recrawl: Recrawl | None = None, **options: Any) -> None:
        super().__init__(store, **options)
        # None: nobody comes back.
        self._recrawl = recrawl
        self._similarity = (recrawl or Recrawl()).likeness(store.recall)
        # Whether all pages were visited before, so that what is new is worth a word.
        self._is_later = store.recall(ROUND) is not None
        self._is_unsettled = bool(store.recall(UNSETTLED))

    def _conditions(self, entry: Entry) -> tuple[str | None, str | None]:
        """ETag and Last-Modified of the page that is there, if it may be asked for by them."""
        if entry.again is None or self._recrawl is None:
            return None, None
        history = self._store.logbook.history_of(entry)
        if history is None or history.reading != self._recrawl.reading:
            return None, None
        return history.etag, history.last_modified

    def _compare(self, entry: Entry, lease: Lease) -> None:
        """Find out what has changed, while it is still known what was: then that goes."""
        if entry.again is not None:
            lease.before = Before() if lease.is_unchanged else self._before(entry, lease)
            if not lease.is_unchanged:
                self._store.drop_page(entry)
        if self._recrawl is not None and lease.visit is not None:
            lease.found_changed = compare(
                lease.before, lease, self._similarity, self._recrawl.cosmetic
            )

    def _before(self, entry: Entry, lease: Lease) -> Before:
        target = None if entry.target is None else self._store.by_id(entry.target).url
        links = self._store.links_of(entry).tolist()
        return Before(
            self._store.record_of(entry),
            *self._store.content_of(entry),
            target,
            entry.again is State.DONE,
            self._links_alike(links, lease.links),
            links,
        )

    def _links_alike(self, before: list[int], urls: list[str]) -> float:
        was = {link >> 1 for link in before}
        known = 0
        for start in range(0, len(urls), AT_ONCE):
            found = self._store.expect(urls[start : start + AT_ONCE])
            known += sum(entry is not None and entry.id in was for entry in found)
        either = len(was) + len(urls) - known
        return known / either if either else 1.0

    def _note_visit(self, entry: Entry, lease: Lease, links: list[int]) -> None:
        """Keep what the next visit has to know. ``links`` are those that the page has now."""
        before = lease.before
        if before is not None and not lease.is_unchanged:
            target = None if entry.target is None else self._store.by_id(entry.target).url
            if target != before.target or not set(before.links).issubset(links):
                self._unsettle()
        if self._recrawl is None or lease.visit is None or lease.found_changed is None:
            return
        change, detail = lease.found_changed
        hint = self._store.logbook.hint_of(entry)
        history = self._recrawl.intervals.after(
            None if before is None else self._store.logbook.history_of(entry),
            lease.visit._replace(reading=self._recrawl.reading),
            change,
            hint.get("changefreq"),
            seconds_of(str(hint.get("lastmod") or "")),
        )
        self._store.logbook.keep_history(entry, history)
        if before is None:
            is_told = change is Change.NEW and self._is_later
        elif change in (Change.SAME, Change.COSMETIC):
            is_told = change is Change.COSMETIC
        else:
            detail = detail | self._links_changed(before.links, links)
            is_told = bool(detail)
        if is_told and not entry.is_sitemap:
            self._store.logbook.keep_change(entry, lease.visit.at, change, detail)

    def _unsettle(self) -> None:
        """Links have gone, or count for less: pages may be further away, or out."""
        if not self._is_unsettled:
            self._is_unsettled = True
            self._store.remember(UNSETTLED, "yes")

    def _links_changed(self, before: list[int], after: list[int]) -> Detail:
        was, now = {link >> 1 for link in before}, {link >> 1 for link in after}
        gone, come = sorted(was - now), sorted(now - was)
        if not (gone or come):
            return {}
        return {"links": [self._named(gone), self._named(come)]}

    def _named(self, numbers: list[int]) -> Record:
        urls = [self._store.by_id(number).url for number in numbers[:_NAMED]]
        return {"count": len(numbers), "urls": urls}
