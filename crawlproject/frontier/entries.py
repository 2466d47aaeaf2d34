"""The entries of URLs as objects, wherever they are kept.

An entry is one object as long as anybody may change it: those that are leased or changed are
*pinned*; others are cached while they are hot, such as the links of a site's navigation.
What is not in memory, an engine's own store knows: a database (``store.py``), or Redis.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.entry import Entry
from crawlproject.frontier.notes import ADDED_FIELDS
from crawlproject.frontier.seen import fingerprint
from crawlproject.records import PAGE_CLASS, PAGE_FIELDS, PAGE_NAMES, RENDERED, to_text

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.census import Census
    from crawlproject.frontier.edges import Edges
    from crawlproject.frontier.entry import Way
    from crawlproject.frontier.hosts import Key
    from crawlproject.frontier.logbook import Logbook
    from crawlproject.frontier.seen import Screen
    from crawlproject.records import Record


class Node(NamedTuple):
    """A URL in the graph of links."""

    id: int
    # Ids; 0: none.
    target: int
    level: int
    hops: int
    referrer: int
    fewest_hops: int
    reason: str | None
    is_sitemap: bool = False


# Entries in each of the two generations of the cache.
_HOT = 16_384
# URLs that are looked up together, at most: fewer than the cache holds.
AT_ONCE = 4096


class Entries(ABC):
    # What visits have found.
    logbook: Logbook

    def __init__(self, seen: Screen, added_fields: Iterable[str]) -> None:
        self._young: dict[str, Entry] = {}
        self._old: dict[str, Entry] = {}
        # How often the young ones have become the old ones.
        self.generation = 0
        # The same by their ids.
        self._young_ids: dict[int, Entry] = {}
        self._old_ids: dict[int, Entry] = {}
        self._pinned: dict[str, Entry] = {}
        self._new: dict[int, tuple[Entry, int]] = {}
        self._changed: dict[int, Entry] = {}
        self._seen = seen
        self._last_id = 0
        # URLs that were asked for and are not known, with their fingerprints.
        self._absent: dict[str, int] = {}
        self._fields = {*PAGE_FIELDS, PAGE_CLASS, *added_fields}
        # Redirects that the store may not know yet: targets, and what leads to them.
        self._redirects: dict[int, list[int]] = {}
        self._has_redirects = False

    @property
    def last_id(self) -> int:
        """The largest that an entry has."""
        return self._last_id

    # --- what a store knows

    @abstractmethod
    def _find(self, marks: dict[int, str]) -> list[Entry]:
        """The entries with these fingerprints: among them may be others than those of the URLs."""

    @abstractmethod
    def _load(self, number: int) -> Entry:
        """The entry with an id, as it is in the store."""

    @abstractmethod
    def _sources(self, number: int) -> Iterable[int]:
        """The ids of the entries that redirect to one, as far as the store knows."""

    @abstractmethod
    def flush_if_large(self) -> None:
        """What has changed is not to fill the memory."""

    # --- entries

    def missing(self, urls: Iterable[str]) -> list[str]:
        """Which URLs are not known, as far as that can be said without a query."""
        young, old, pinned = self._young, self._old, self._pinned
        return [url for url in urls if url not in young and url not in old and url not in pinned]

    def get(self, url: str) -> Entry | None:
        entry = self._young.get(url)
        if entry is None:
            entry = self._old.get(url) or self._pinned.get(url)
            if entry is None:
                self._look_up([url])
                # What was found may have been the one that filled a generation.
                return self._young.get(url) or self._old.get(url)
            self._keep(entry)
        return entry

    def cached(self, url: str) -> Entry | None:
        """The entry of a URL, as far as it is in memory."""
        return self._young.get(url) or self._old.get(url) or self._pinned.get(url)

    def expect(self, urls: list[str]) -> list[Entry | None]:
        """The entries of some URLs, fewer than the cache holds; None for those that are new.

        Another object may stand for one of them when there is another ``generation``.
        """
        entries = list(map(self._young.get, urls))
        missing = []
        for place, entry in enumerate(entries):
            if entry is None:
                if (known := self.cached(urls[place])) is None:
                    missing.append(place)
                else:
                    entries[place] = known
                    self._keep(known)
        if missing and self._look_up([urls[place] for place in missing]):
            for place in missing:
                entries[place] = self.cached(urls[place])
        return entries

    def by_id(self, number: int) -> Entry:
        if (new := self._new.get(number)) is not None:
            return new[0]
        entry = self._changed.get(number) or self._young_ids.get(number)
        if entry is not None:
            return entry
        if (entry := self._old_ids.get(number)) is None:
            entry = self._load(number)
            # The one object for it: what is in memory may be newer.
            entry = self.cached(entry.url) or entry
        self._keep(entry)
        return entry

    def add(self, url: str, way: Way) -> Entry:
        self._last_id += 1
        entry = Entry(self._last_id, url, way, self._last_id, fewest_hops=way.hops)
        # Who adds a URL has just asked for it.
        mark = self._absent.pop(url, None)
        if mark is None:
            mark = fingerprint(url)
        self._seen.add(mark)
        self._new[entry.id] = entry, mark
        self._pinned[url] = entry
        self._keep(entry)
        return entry

    def change(self, entry: Entry) -> None:
        """An entry was changed, or is about to be."""
        if entry.id not in self._new and entry.id not in self._changed:
            self._changed[entry.id] = entry
            self._pinned[entry.url] = entry

    def redirect(self, entry: Entry, target: Entry) -> None:
        """An entry redirects to another."""
        entry.target = target.id
        self.change(entry)
        self._redirects.setdefault(target.id, []).append(entry.id)
        self._has_redirects = True

    def unredirect(self, entry: Entry) -> None:
        """An entry does not redirect any more."""
        if entry.target is not None:
            pending = self._redirects.get(entry.target, [])
            if entry.id in pending:
                pending.remove(entry.id)
            entry.target = None
            self.change(entry)

    def sources(self, entry: Entry) -> list[Entry]:
        """The URLs that redirect to this one."""
        if not self._has_redirects:
            return []
        found = {*self._redirects.get(entry.id, ()), *self._sources(entry.id)}
        return [self.by_id(number) for number in found]

    # --- ids of entries, in an order. Not the entries: one that is changed must be the one that
    # everybody else sees, and only a few at a time are sure to be.

    @abstractmethod
    def let_in(self) -> list[int]:
        """What is queued and waits for nothing but its time, breadth first."""

    @abstractmethod
    def at_level(self, level: int) -> list[int]:
        """What waits for its level, by URL."""

    @abstractmethod
    def first_beyond(self, most: int) -> list[int]:
        """What waits for a larger budget, breadth first."""

    @abstractmethod
    def found_by_links(self) -> list[int]:
        """What is queued because of a link."""

    @abstractmethod
    def skipped_for(self, reason: str) -> list[int]: ...

    @abstractmethod
    def skipped_but_for(self, reasons: Sequence[str]) -> list[int]:
        """What is skipped for other reasons, by level and URL."""

    @abstractmethod
    def not_had(self, reasons: Sequence[str], *, failed: bool) -> list[int]:
        """What is skipped for one of the reasons, and perhaps what has failed."""

    @abstractmethod
    def called(self) -> list[int]:
        """What is queued to be visited again."""

    def wait(self, entry: Entry) -> None:
        """What an entry waits for has changed, or the depth at which it does."""
        self.change(entry)

    def prepare(self, ids: Sequence[int]) -> None:
        """Some entries are going to be asked for, and what visits have found of them."""
        self.logbook.prepare(ids)

    # --- pages, links, answers

    @abstractmethod
    def _put_page(self, entry: Entry, text: str, links: list[int] | None) -> None: ...

    def add_page(
        self, entry: Entry, record: Record, links: list[int] | None, *, as_found: bool
    ) -> None:
        """Keep a page, and where it leads to, as ids of entries. When these are the links that it
        is to show, they need not be in the record.
        """
        if not self._fields.issuperset(record):
            self._fields.update(record)
            added = sorted(self._fields.difference(PAGE_FIELDS, (PAGE_CLASS,)))
            self.remember(ADDED_FIELDS, to_text(added))
        # What is not known, or empty, need not be kept; that something took no time is known.
        kept = {
            name: value
            for name, value in record.items()
            if value or (type(value) is int) or name not in PAGE_NAMES or name == RENDERED
        }
        if as_found:
            kept.pop("links", None)
        elif not kept.get("links"):
            kept["links"] = record.get("links")
        self._put_page(entry, to_text(kept), links)

    def add_links(self, entry: Entry, links: list[int]) -> None:
        """Keep the links of a page that is not to be shown."""
        self._put_page(entry, "", links)

    @abstractmethod
    def keep_beside(self, entry: Entry, lease: Lease) -> None:
        """Keep what belongs to a page, but not to its record."""

    @abstractmethod
    def add_item(
        self, entry: Entry | None, kind: str, page: str | None, record: Record
    ) -> None: ...

    @abstractmethod
    def drop_items(self, entry: Entry) -> None:
        """Remove the items of a URL that are not its page."""

    @abstractmethod
    def drop_page(self, entry: Entry) -> None: ...

    @abstractmethod
    def links_of(self, entry: Entry) -> array[int]:
        """The links of a page, as ``id << 1 | is_nofollow``."""

    @abstractmethod
    def record_of(self, entry: Entry) -> Record | None:
        """The page of a URL, without its links; of a redirect, what it answered."""

    @abstractmethod
    def content_of(self, entry: Entry) -> tuple[bytes | None, bytes | None]:
        """What a page is compared by: the hash of its body, and the signature of its text."""

    # --- the whole graph

    @abstractmethod
    def edges(self) -> Edges:
        """All links."""

    @abstractmethod
    def nodes(self) -> Iterable[Node]:
        """All URLs, in the order of their spelling."""

    @abstractmethod
    def put_answer(self, entry: Entry, text: str) -> int:
        """Put an answer aside: its number."""

    @abstractmethod
    def take_answer(self, number: int | None) -> tuple[int, str]:
        """An answer that was put aside, by its number or the oldest; and the id of its URL."""

    # --- what else is kept

    @abstractmethod
    def spent_by(self, group: str) -> int:
        """How much of its budget a group of URLs has spent."""

    @abstractmethod
    def keep_spent(self, groups: list[tuple[str, int]]) -> None: ...

    @abstractmethod
    def remember(self, name: str, value: str) -> None: ...

    @abstractmethod
    def recall(self, name: str) -> str | None: ...

    # --- where the last run stopped

    @abstractmethod
    def count(self, census: Census) -> None:
        """Count all entries."""

    @abstractmethod
    def waiting_at(self) -> dict[int, int]:
        """How many wait for their level, by level."""

    @abstractmethod
    def within(self) -> int:
        """How many pages of a budget are spent."""

    @abstractmethod
    def beyond(self) -> int:
        """How many wait for a larger budget."""

    @abstractmethod
    def answers(self) -> list[tuple[int, Key]]:
        """The answers that wait: their numbers, and the keys of their URLs."""

    # --- the cache

    def _keep(self, entry: Entry) -> None:
        self._young[entry.url] = self._young_ids[entry.id] = entry
        if len(self._young) > _HOT:
            self._old, self._young = self._young, {}
            self._old_ids, self._young_ids = self._young_ids, {}
            self.generation += 1

    def _look_up(self, urls: list[str]) -> bool:
        """Take what is known of some URLs into the cache. Whether anything is."""
        absent = {url: mark for url in urls if (mark := self._absent.get(url)) is not None}
        candidates = {}
        for url in urls:
            if url not in absent:
                absent[url] = mark = fingerprint(url)
                if self._seen.may_have(mark):
                    candidates[mark] = url
        if candidates:
            for entry in self._find(candidates):
                # Another URL may have the same fingerprint.
                if absent.pop(entry.url, None) is not None:
                    self._keep(entry)
        is_known = len(absent) < len(urls)
        self._absent = absent
        return is_known
