"""What visits have found, and what sitemaps say, in Redis: as the committer sees it.

What is needed of many URLs is read at once (``prepare``). Changes wait until ``write``.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.logbook import Due, Logbook
from crawlproject.frontier.redis.keys import PAGES_A_KEY, paged
from crawlproject.records import from_text, to_text
from crawlproject.recrawl.interval import NEVER, history_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.redis.batch import Batch
    from crawlproject.frontier.redis.blocks import Row
    from crawlproject.frontier.redis.scripts import Scripts
    from crawlproject.records import Record
    from crawlproject.recrawl.interval import History

# Hashes that are read at once.
_AT_ONCE = 16
# The states of what can be visited again.
_DONE, _FAILED = 2, 3


class RedisLogbook(Logbook):
    """``rows`` gives all entries, as they are now; ``last_id`` the largest id."""

    def __init__(
        self,
        scripts: Scripts,
        rows: Callable[[], Iterator[tuple[int, Row]]],
        last_id: Callable[[], int],
    ) -> None:
        self._scripts = scripts
        self._rows = rows
        self._last_id = last_id
        self._visits: dict[int, History | None] = {}
        self._hints: dict[int, dict[str, str]] = {}
        self._changed_visits: set[int] = set()
        self._changed_hints: set[int] = set()
        self._changes: dict[int, str] = {}
        # None: nobody has looked yet.
        self._next_due: float | None = None

    def prepare(self, ids: Iterable[int]) -> None:
        """Have at hand what is known of some URLs."""
        missing = [number for number in ids if number not in self._visits]
        found = self._read(missing, "visits", "hints")
        for number, visits, hints in zip(missing, found[::2], found[1::2], strict=True):
            self._visits[number] = _history(visits)
            self._hints.setdefault(number, _said(hints))

    def history_of(self, entry: Entry) -> History | None:
        if entry.id not in self._visits:
            self.prepare([entry.id])
        return self._visits[entry.id]

    def keep_history(self, entry: Entry, history: History) -> None:
        self._visits[entry.id] = history
        self._changed_visits.add(entry.id)
        if self._next_due is not None:
            self._next_due = min(self._next_due, history.next_at)

    def keep_change(self, entry: Entry, at: float, change: str, detail: Record) -> None:
        self._changes[entry.id] = to_text([at, change, detail])

    def due(self, at: float, before: float | None) -> Iterable[Due]:
        self._next_due = NEVER
        known = dict(self._all_visits())
        for number, row in self._rows():
            if row[1] not in (_DONE, _FAILED) or (history := known.get(number)) is None:
                continue
            if history.visited_at < before if before is not None else history.next_at <= at:
                yield Due(number, row[0], row[2], history.visited_at, history.rate)
            else:
                self._next_due = min(self._next_due, history.next_at)

    def visit_times(self) -> Iterable[tuple[int, float]]:
        return ((number, history.visited_at) for number, history in self._all_visits())

    def next_due(self) -> float | None:
        return None if self._next_due in (None, NEVER) else self._next_due

    def hint_of(self, entry: Entry) -> Record:
        if entry.id not in self._hints:
            self.prepare([entry.id])
        said = self._hints.get(entry.id)
        # Of several, the first by URL, as outputs have it.
        return _record(said[min(said)]) if said else {}

    def hints_of(self, sitemap: Entry, ids: Iterable[int]) -> dict[int, str]:
        wanted = list(ids)
        self.prepare(wanted)
        return {
            number: said[sitemap.url]
            for number in wanted
            if sitemap.url in (said := self._hints.get(number, {}))
        }

    def keep_hints(self, sitemap: Entry, hints: dict[int, str], before: Iterable[int]) -> None:
        self.prepare(hints)
        gone = [number for number in before if number not in hints]
        self.prepare(gone)
        for number in gone:
            self._hints[number].pop(sitemap.url, None)
        for number, text in hints.items():
            self._hints[number][sitemap.url] = text
        self._changed_hints.update(gone, hints)

    def priorities(self) -> dict[int, float]:
        found = {}
        for number, value in self._all("hints"):
            priorities = [_record(text).get("priority") for text in _said(value).values()]
            if numbers := [one for one in priorities if isinstance(one, int | float)]:
                found[number] = float(max(numbers))
        return found

    def write(self, batch: Batch) -> None:
        words: defaultdict[str, list[Any]] = defaultdict(list)
        for number in self._changed_visits:
            history = self._visits[number]
            assert history is not None
            words[paged("visits", number)] += [number, to_text([*history[:3], history.kept()])]
        for number in self._changed_hints:
            words[paged("hints", number)] += [number, to_text(self._hints[number])]
        for number, text in self._changes.items():
            words[paged("changes", number)] += [number, text]
        for key, pairs in words.items():
            batch.call("HSET", key, *pairs)

    def is_written(self) -> None:
        """Redis has what the batch had."""
        self._visits.clear()
        self._hints.clear()
        self._changed_visits.clear()
        self._changed_hints.clear()
        self._changes.clear()

    def _read(self, ids: list[int], *names: str) -> list[bytes | None]:
        if not ids:
            return []
        return self._scripts.ask_all(
            [("HGET", paged(name, number), number) for number in ids for name in names]
        )

    def _all_visits(self) -> Iterator[tuple[int, History]]:
        for number, value in self._all("visits"):
            if number not in self._changed_visits and (history := _history(value)) is not None:
                yield number, history
        for number in self._changed_visits:
            if (changed := self._visits[number]) is not None:
                yield number, changed

    def _all(self, name: str) -> Iterator[tuple[int, bytes]]:
        last = self._last_id() // PAGES_A_KEY + 1
        for start in range(0, last, _AT_ONCE):
            keys = [f"{name}:{number}" for number in range(start, min(start + _AT_ONCE, last))]
            for some in self._scripts.ask_all([("HGETALL", key) for key in keys]):
                for key, value in some.items():
                    if key.isdigit() and len(key) < 16:
                        yield int(key), value


def history_of_value(value: bytes) -> History:
    """Raises ValueError for what was not written by us."""
    try:
        next_at, visited_at, rate, kept = from_text(value.decode())
    except TypeError:
        raise ValueError("no history of visits") from None
    return history_from(next_at, visited_at, rate, kept)


def _history(value: bytes | None) -> History | None:
    """What is none of ours counts for nothing: then the URL is new."""
    if value is not None:
        with suppress(ValueError):
            return history_of_value(value)
    return None


def _said(value: bytes | None) -> dict[str, str]:
    if value is not None:
        with suppress(ValueError):
            said = from_text(value.decode())
            if isinstance(said, dict) and all(type(text) is str for text in said.values()):
                return said
    return {}


def _record(text: str) -> Record:
    with suppress(ValueError):
        record = from_text(text)
        if isinstance(record, dict):
            return record
    return {}
