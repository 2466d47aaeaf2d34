"""Entries, pages and answers of a shared crawl in Redis, as the committer sees them.

The committer is the only one that writes them, so what it has read stays true until another
takes its place. Changes wait in memory until ``write``: a batch is written as one.
"""

from __future__ import annotations

import json
from bisect import insort
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.base import SPENDING, State
from crawlproject.frontier.edges import edges_from
from crawlproject.frontier.entries import Entries, Node
from crawlproject.frontier.entry import SITEMAP, Wait
from crawlproject.frontier.notes import ADDED_FIELDS
from crawlproject.frontier.redis import messages
from crawlproject.frontier.redis.aside import Aside
from crawlproject.frontier.redis.batch import Batch
from crawlproject.frontier.redis.blocks import Malformed, full, packed, row_of, unpacked
from crawlproject.frontier.redis.index import Index
from crawlproject.frontier.redis.logbook import RedisLogbook
from crawlproject.frontier.redis.offers import Offers
from crawlproject.frontier.redis.pages import RedisPages
from crawlproject.frontier.redis.shelf import Shelf
from crawlproject.frontier.redis.things import RedisThings
from crawlproject.frontier.redis.waiting import Waiting
from crawlproject.records import encodable, to_text

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.census import Census
    from crawlproject.frontier.edges import Edges
    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.hosts import HostLimits, Key
    from crawlproject.frontier.redis.blocks import Row
    from crawlproject.frontier.redis.scripts import Scripts
    from crawlproject.records import Record


def number_from(text: str | None) -> int:
    """A number that somebody may have changed in Redis: 0 for what is none."""
    return int(text) if text and text.isdecimal() and len(text) < 16 else 0


# Fingerprints that are known not to be there, at most.
_ABSENT = 100_000
# Answers that are read at once: each may be large.
_ANSWERS = 16


class _Absence:
    """A screen that stops what Redis was asked about, and had not: only the committer adds to it,
    so that stays true until it does. All else may be there.
    """

    def __init__(self) -> None:
        self.marks: set[int] = set()

    def add(self, fingerprint: int) -> None:
        self.marks.discard(fingerprint)

    def may_have(self, fingerprint: int) -> bool:
        return fingerprint not in self.marks


class RedisStore(Entries):
    def __init__(
        self,
        scripts: Scripts,
        *,
        host_of: Callable[[str], str],
        limits: Callable[[str], HostLimits],
    ) -> None:
        self._scripts = scripts
        self.aside = Aside(scripts)
        self._meta = self._scripts.hash("meta")
        self._notes = self._scripts.hash("notes")
        self._absence = _Absence()
        super().__init__(self._absence, json.loads(self._notes.get(ADDED_FIELDS, "[]")))
        self._last_id = number_from(self._meta.get("last_id"))
        self._shelf = Shelf(scripts, self.aside, self._last_id)
        self._pages = RedisPages(scripts)
        self._things = RedisThings(scripts, self.aside)
        self.logbook: RedisLogbook = RedisLogbook(scripts, self.rows, lambda: self._last_id)
        self.offers = Offers(self, host_of, limits, self._shelf.is_offered)
        self._index = Index(scripts, number_from(self._meta.get("buckets")) or 1)
        self._known_sources = {
            number_from(target): [number_from(source) for source in sources.split(",")]
            for target, sources in self._scripts.hash("sources").items()
        }
        self._has_redirects = bool(self._known_sources)
        self._redirecting = sum(map(len, self._known_sources.values()))
        self._waiting = Waiting(scripts, self._numbers_of("levels"))
        # Answers that wait, the oldest first, and of which ids they are.
        self._answered = self._numbers_of("answered")
        self._numbers = sorted(self._answered)
        self._spent: dict[str, int] = {}
        self._start_batch()

    def _numbers_of(self, name: str) -> dict[int, int]:
        """A hash of numbers by numbers, without what is none."""
        found = self._scripts.hash(name)
        wrong = [key for key, n in found.items() if not (key.isdecimal() and n.isdecimal())]
        for key in wrong:
            self.aside.put(name, f"{key} {found.pop(key)}".encode(), "no number")
        return {int(key): int(n) for key, n in found.items()}

    def _start_batch(self) -> None:
        self._batch = Batch(self._scripts.shards)
        # Answers that wait, of this batch or read in it.
        self._answers: dict[int, str] = {}

    # --- entries

    def _find(self, marks: dict[int, str]) -> list[Entry]:
        found = dict(zip(marks, self._index.find(marks), strict=True))
        if len(self._absence.marks) > _ABSENT:
            self._absence.marks.clear()
        self._absence.marks.update(mark for mark, number in found.items() if not number)
        ids = [number for number in found.values() if number]
        self._shelf.load(ids)
        return [entry for number in ids if (entry := self._shelf.entry(number)) is not None]

    def _load(self, number: int) -> Entry:
        self._shelf.load([number])
        entry = self._shelf.entry(number)
        if entry is None:
            raise Malformed(f"no URL has the number {number}")
        return entry

    def prefetch(self, urls: Iterable[str], ids: Iterable[int]) -> None:
        """Have in memory what is known of some URLs, in few round trips."""
        self._shelf.load([number for number in ids if 0 < number <= self._last_id])
        unknown = [url for url in dict.fromkeys(urls) if self.cached(url) is None]
        if unknown:
            self._look_up(unknown)

    def prepare(self, ids: Sequence[int]) -> None:
        self._shelf.load(ids)
        super().prepare(ids)

    def prepare_answers(self, ids: Iterable[int]) -> None:
        """Have at hand what is known of URLs that have answered; of those that were visited again,
        what was there.
        """
        numbers = [number for number in ids if 0 < number <= self._last_id]
        self.logbook.prepare(numbers)
        self._pages.prepare(filter(self._is_again, numbers))

    def _is_again(self, number: int) -> bool:
        row = self._shelf.row(number)
        return row is not None and bool(full(row)[14])

    def _sources(self, number: int) -> Iterable[int]:
        return self._known_sources.get(number, ())

    def unredirect(self, entry: Entry) -> None:
        known = self._known_sources.get(entry.target or 0, [])
        if entry.id in known:
            known.remove(entry.id)
            self._redirecting -= 1
            if known:
                self._batch.call("HSET", "sources", entry.target or 0, ",".join(map(str, known)))
            else:
                self._batch.call("HDEL", "sources", entry.target or 0)
        super().unredirect(entry)

    def redirect(self, entry: Entry, target: Entry) -> None:
        super().redirect(entry, target)
        if target.state is State.QUEUED and target.waits is Wait.NOTHING:
            # What a worker is told of it has changed.
            self.offers.add(target)

    def flush_if_large(self) -> None:
        # A batch is written as one. It is bounded by the messages that it is made of.
        return

    # --- ids of entries

    def rows(self) -> Iterator[tuple[int, Row]]:
        """All entries, as they are now."""
        for number, row in self._shelf.all_rows():
            entry = self._changed.get(number)
            yield number, full(row) if entry is None else full(row_of(entry))
        for number, (entry, _) in list(self._new.items()):
            yield number, full(row_of(entry))

    def let_in(self) -> list[int]:
        # What has an answer in the inbox was let in, too. In this order nobody is missed.
        items = self._scripts.ask_everywhere("HKEYS", "items")
        numbers = {int(key) for keys in items for key in keys if key.isdigit()}
        numbers |= set(self.answered_in_inbox())
        queued = sorted(number for number in numbers if 0 < number <= self._last_id)
        self._shelf.load(queued)
        entries = [self.by_id(number) for number in queued]
        free = [one for one in entries if one.state is State.QUEUED and one.waits is Wait.NOTHING]
        return [entry.id for entry in sorted(free, key=lambda entry: entry.key)]

    def answered_in_inbox(self) -> Iterator[int]:
        start = 0
        while any(found := self._scripts.ask_everywhere("LRANGE", "inbox", start, start + 255)):
            start += 256
            for value in chain.from_iterable(found):
                # Who commits them moves aside what is not ours.
                with suppress(Malformed):
                    message = messages.from_bytes(value)
                    if message.kind == "answer":
                        yield message.body[0]

    def at_level(self, level: int) -> list[int]:
        ids = list(self._waiting.at(level))
        self._shelf.load(ids)
        return sorted(ids, key=lambda number: self.by_id(number).url)

    def first_beyond(self, most: int) -> list[int]:
        ids = self._waiting.first_beyond(most)
        self._shelf.load(ids)
        return ids

    def found_by_links(self) -> list[int]:
        return [
            number
            for number, row in self.rows()
            if row[1] == 0 and row[2] > 0 and (row[13] is None or row[4]) and not row[14]
        ]

    def skipped_for(self, reason: str) -> list[int]:
        return [number for number, row in self.rows() if row[1] == 4 and row[6] == reason]

    def skipped_but_for(self, reasons: Sequence[str]) -> list[int]:
        found = [
            (row[2], row[0], number)
            for number, row in self.rows()
            if row[1] == 4 and row[6] not in reasons
        ]
        return [number for _, _, number in sorted(found)]

    def not_had(self, reasons: Sequence[str], *, failed: bool) -> list[int]:
        return [
            number
            for number, row in self.rows()
            if (row[1] == 4 and row[6] in reasons) or (failed and row[1] == 3 and row[9] is None)
        ]

    def called(self) -> list[int]:
        return [number for number, row in self.rows() if row[1] == 0 and row[14]]

    # --- the whole graph

    def edges(self) -> Edges:
        return edges_from(self._pages.all_links(self._last_id))

    def nodes(self) -> Iterable[Node]:
        nodes = []
        for number, row in self.rows():
            url, _, level, hops, referrer, _, reason, _, _, target, fewest_hops, *_ = row
            node = Node(number, target or 0, level, hops, referrer, fewest_hops, reason)
            nodes.append((url, node))
        return (node._replace(is_sitemap=url.endswith(SITEMAP)) for url, node in sorted(nodes))

    # --- what waits

    def wait(self, entry: Entry) -> None:
        super().wait(entry)
        before = self._waiting.place_of(entry.id) or self._shelf.place_of(entry.id)
        has_moved = self._waiting.put(entry, before, self._batch)
        if has_moved and before[0] is Wait.NOTHING and entry.state is State.QUEUED:
            self.offers.leave(entry)

    # --- pages, links, answers

    def _put_page(self, entry: Entry, text: str, links: list[int] | None) -> None:
        self._pages.put(entry.id, text, links)

    def keep_beside(self, entry: Entry, lease: Lease) -> None:
        self._pages.put_beside(entry.id, lease)

    def add_item(self, entry: Entry | None, kind: str, page: str | None, record: Record) -> None:
        page, text = page and encodable(page), to_text(record)
        if entry is None:
            # Every worker makes it, and every run.
            value = packed([kind, page, text])
            digest = blake2b(value, digest_size=16).hexdigest()
            self._batch.call("HSET", "starts", digest, value)
        else:
            self._things.add(entry.id, [kind, page, text])

    def drop_items(self, entry: Entry) -> None:
        self._things.drop(entry.id)

    def drop_page(self, entry: Entry) -> None:
        self._pages.drop(entry.id)

    def links_of(self, entry: Entry) -> array[int]:
        return self._pages.links_of(entry.id)

    def record_of(self, entry: Entry) -> Record | None:
        return self._pages.record_of(entry.id)

    def content_of(self, entry: Entry) -> tuple[bytes | None, bytes | None]:
        return self._pages.content_of(entry.id)

    def put_answer(self, entry: Entry, text: str) -> int:
        number = number_from(self._meta.get("last_answer")) + 1
        self._meta["last_answer"] = str(number)
        self._answered[number] = entry.id
        insort(self._numbers, number)
        self._answers[number] = text
        self._batch.call("HSET", "meta", "last_answer", number)
        self._batch.call("HSET", "answers", number, packed(text))
        self._batch.call("HSET", "answered", number, entry.id)
        return number

    def take_answer(self, number: int | None) -> tuple[int, str]:
        some = self._numbers[:_ANSWERS] if number is None else [number]
        number = some[0]
        if number not in self._answers:
            self._read_answers(some)
        text = self._answers.pop(number)
        self._numbers.remove(number)
        self._batch.call("HDEL", "answers", number)
        self._batch.call("HDEL", "answered", number)
        return self._answered.pop(number), text

    def _read_answers(self, numbers: list[int]) -> None:
        """From Redis, with what is known of their URLs."""
        numbers = [number for number in numbers if number not in self._answers]
        found = self._scripts.ask_all([("HGET", "answers", number) for number in numbers])
        self._answers |= {
            number: unpacked(answer or b"") for number, answer in zip(numbers, found, strict=True)
        }
        self.prepare_answers([self._answered[number] for number in numbers])

    # --- what else is kept

    def spent_by(self, group: str) -> int:
        if group not in self._spent:
            found = self._scripts.ask("HGET", "budgets", group) or b"0"
            self._spent[group] = int(found) if found.isdigit() else 0
        return self._spent[group]

    def keep_spent(self, groups: list[tuple[str, int]]) -> None:
        for group, spent in groups:
            self._spent[group] = spent
            self._batch.call("HSET", "budgets", group, spent)

    def remember(self, name: str, value: str) -> None:
        self._notes[name] = value
        self._batch.call("HSET", "notes", name, value)
        version = f"{number_from(self._meta.get('notes')) + 1}"
        self._meta["notes"] = version
        self._batch.call("HSET", "meta", "notes", version)

    def recall(self, name: str) -> str | None:
        return self._notes.get(name)

    # --- where the last committer stopped

    def count(self, census: Census) -> None:
        census.restore(json.loads(self._meta.get("census", "{}")))

    def waiting_at(self) -> dict[int, int]:
        return self._waiting.at_levels()

    def within(self) -> int:
        if "spent" in self._meta:
            return int(self._meta["spent"])
        return sum(
            row[1] == 3 or (row[1] == 2 and row[9] is None) or (row[1] == 4 and row[6] in SPENDING)
            for _, row in self.rows()
            if not row[0].endswith(SITEMAP)
        )

    def beyond(self) -> int:
        return self._waiting.beyond()

    def answers(self) -> list[tuple[int, Key]]:
        self._shelf.load(self._answered.values())
        return [(number, self.by_id(url).key) for number, url in self._answered.items()]

    def count_redirects(self) -> int:
        """How many URLs redirect to others."""
        return self._redirecting

    # --- writing

    def write(self, term: str, done: Mapping[int, int], meta: dict[str, Any]) -> None:
        """Write everything that has changed, and take messages from the inboxes of shards."""
        batch = self._batch
        # While the shelf has what is in Redis.
        self._shelf.load(self.offers.ids())
        self.offers.write(batch)
        for entry, _ in self._new.values():
            self._shelf.put(entry)
        for entry in self._changed.values():
            self._shelf.put(entry)
        self._shelf.write(batch)
        marks = {mark: entry.id for entry, mark in self._new.values()}
        self._index.add(marks, self._last_id, batch)
        for target, sources in self._redirects.items():
            known = self._known_sources.setdefault(target, [])
            more = [source for source in sources if source not in known]
            known += more
            self._redirecting += len(more)
            batch.call("HSET", "sources", target, ",".join(map(str, known)))
        self._pages.write(batch)
        self._things.write(batch)
        self.logbook.write(batch)
        words = {"last_id": self._last_id, "buckets": self._index.buckets, **meta}
        batch.call("HSET", "meta", *(word for pair in words.items() for word in pair))
        commit = number_from(self._meta.get("commits")) + 1
        batch.run(self._scripts, term, done, commit)
        self._meta["commits"] = str(commit)
        self._new.clear()
        self._changed.clear()
        self._redirects.clear()
        self._pinned.clear()
        self.offers.is_written()
        self._waiting.is_written()
        self._pages.is_written()
        self._things.is_written()
        self.logbook.is_written()
        self._start_batch()

    # --- Redis

    def inbox(self, most: int, most_bytes: int) -> list[tuple[int, bytes]]:
        """The first messages, each with its shard: at least one, if there is one."""
        found = self._scripts.ask_everywhere("LRANGE", "inbox", 0, most - 1)
        values = [(shard, value) for shard, some in enumerate(found) for value in some]
        size = 0
        for place, (_, value) in enumerate(values):
            size += len(value)
            if size > most_bytes and place:
                return values[:place]
        return values
