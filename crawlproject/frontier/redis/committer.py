"""Turns what workers have handed in into new state: one worker at a time does.

By the same code as on one machine (``graph``, ``queues``, ``visits``, ``commits``, ``judging``,
``revisits``, ``settled``), so the answer is the same. What it knows is in Redis; if it dies,
another goes on from there.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawlproject.frontier import answers
from crawlproject.frontier.base import Candidate, Lease, State
from crawlproject.frontier.census import Census
from crawlproject.frontier.clock import now
from crawlproject.frontier.entry import SITEMAP, Wait, Way, depth_of
from crawlproject.frontier.notes import FED, RECONSIDERED, ROUND, SEEDS, texts_in
from crawlproject.frontier.redis import messages
from crawlproject.frontier.redis.batch import Fenced
from crawlproject.frontier.redis.blocks import Malformed
from crawlproject.frontier.rounds import ALL, round_in
from crawlproject.frontier.rows import STATES
from crawlproject.frontier.settled import Settled
from crawlproject.records import PAGE
from crawlproject.scope.scope import OFFSITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.redis.messages import Message
    from crawlproject.frontier.redis.seeding import Seeding
    from crawlproject.frontier.redis.store import RedisStore
    from crawlproject.items import Content
    from crawlproject.records import Record

    # Told which texts have joined a note.
    Joined = Callable[[str, list[str]], None]

logger = logging.getLogger(__name__)

# Messages that are committed together, at most, their bytes, and URLs that they speak of, about.
_MOST, _MOST_BYTES, _MOST_URLS = 256, 8 * 1024 * 1024, 50_000
# Entries that are written together when a budget is lifted.
_LIFTED_AT_ONCE = 1000
# The error of a URL whose answer was moved aside.
_UNUSABLE = "unreadable: its response in Redis is damaged"


class Committer(Settled):
    """``judge`` says why a URL may not enter, as the scope is now; ``options`` are those of
    ``Commits``.
    """

    _store: RedisStore

    def __init__(
        self,
        store: RedisStore,
        term: str,
        *,
        joined: Joined,
        seeding: Seeding | None = None,
        **options: Any,
    ) -> None:
        super().__init__(store, **options)
        self.term = term
        store.offers.conditions = self._conditions
        self._joined = joined
        self._seeding = seeding
        # URLs that workers have: they are not queued, though nobody tells so.
        self.taken = 0
        for reason in texts_in(RECONSIDERED, store.recall(RECONSIDERED)):
            # Links that were judged before, by whoever, may come in later.
            self._judges[reason] = self._judged
        self._let_in_again()
        self._release_levels()
        self._lift_budget()
        self._fill_budget()
        self._go_on_visiting()

    def _lift_budget(self) -> None:
        """Queue what an earlier run kept back for its page budget, if this run has none."""
        if self._budget is not None:
            return
        self._beyond = self._store.beyond()
        while numbers := self._store.first_beyond(_LIFTED_AT_ONCE):
            for number in numbers:
                entry = self._store.by_id(number)
                self._stop_waiting(entry)
                self._queue_at_host(entry)
            self.write()

    def _go_on_visiting(self) -> None:
        """Another was the committer, and knew what else is to be visited."""
        last = round_in(self._store.recall(ROUND))
        if last.is_open and not self._is_continuous:
            self._revisit(now(), last.began_at if last.mode == ALL else None)

    def _queue_at_host(self, entry: Entry) -> None:
        self._store.offers.add(entry)

    def _move(self, entry: Entry, state: State, reason: str | None = None) -> None:
        if entry.state is State.QUEUED and state is not State.QUEUED:
            self._store.offers.leave(entry)
        super()._move(entry, state, reason)

    # --- a batch

    def commit(self) -> int:
        """Commit some messages: how many there were. ``Fenced``: another is the committer."""
        if self._seeding is not None:
            self._let_seeds_in(self._seeding)
        if self.has_to_look(now()):
            self._look_for_due(now())
        values = self._store.inbox(_MOST, _MOST_BYTES)
        found, urls = [], 0
        for place, (_, value) in enumerate(values):
            found += list(self._read([value]))
            urls += sum(1 for _ in _urls_of(found[-1:]))
            if urls > _MOST_URLS:
                values = values[: place + 1]
                break
        self._store.prefetch(_urls_of(found), _ids_of(found))
        self._store.prepare_answers(_ids_of(found))
        for message in found:
            self._apply(message)
        self._commit_what_fits()
        self.write(Counter(shard for shard, _ in values))
        return len(values)

    def _let_seeds_in(self, seeding: Seeding) -> None:
        while seeds := seeding.look():
            for note in (SEEDS, FED):
                self._apply_join(note, seeds)
            self._apply_admit([[seed, None, None] for seed in seeds], 0)
            # Links that lead to their hosts may have been found before.
            self._apply_reconsider(OFFSITE)
            self.write()
            seeding.done()

    def commit_one(self) -> None:
        """Commit the first message, or move it aside."""
        shard, value = self._store.inbox(1, _MOST_BYTES)[0]
        number = None
        try:
            for message in self._read([value]):
                number = message.body[0] if message.kind == "answer" else None
                self._apply(message)
        except (RedisError, Fenced):
            raise
        except Exception as error:
            logger.debug("A message failed", exc_info=True)
            self._store.aside.put("inbox", value, f"what can't be used ({error})")
            raise Unusable(shard, number) from None
        self.write({shard: 1})

    def drop_one(self, shard: int) -> None:
        """Take the first message from the inbox of a shard: it was moved aside."""
        self.write({shard: 1})

    def fail(self, number: int) -> None:
        """Fail a URL whose answer was moved aside: the crawl would wait for it for ever."""
        entry = self._store.by_id(number)
        depth = depth_of(entry.way.level)
        lease = Lease(entry.url, entry.url, "", depth, None, failed=True)
        lease.records = [
            (PAGE, {"url": entry.url, "depth": depth, "links": [], "error": _UNUSABLE})
        ]
        self._apply_answer(number, answers.to_record(lease), None)
        self.write()

    def write(self, done: Mapping[int, int] | None = None) -> None:
        """Write everything, and take messages from the inboxes of shards."""
        self._levels.flush()
        census = self._census.written()
        meta = {
            "census": json.dumps(census),
            "idle": int(self._is_idle()),
            "moved": self._store.count_redirects(),
        }
        if self._budget is not None:
            meta["spent"] = self._budget.spent()
        self._store.write(self.term, done or {}, meta)

    def commit_waiting(self) -> bool:
        """The queue is full, but of nothing that can be had now: let the links of one page in.

        Whether there was one.
        """
        if not self._waiting or self._budget is not None:
            return False
        self._commit_waiting()
        self.write()
        return True

    def has_to_look(self, moment: float) -> bool:
        """Whether it is time to look what is due."""
        return moment >= self._look_at

    def has_room_again(self) -> bool:
        """Whether links wait for room, and there is some."""
        return self._waiting > 0 and self._budget is None and self._has_room()

    def _has_room(self) -> bool:
        return self._census.queued - self.taken - self._levels.waiting < self._capacity

    def _is_idle(self) -> bool:
        if self._census.leased or self._is_continuous:
            return False
        return self._budget.is_idle() if self._budget else not self._census.queued

    def _read(self, values: Sequence[bytes]) -> Iterator[Message]:
        for value in values:
            try:
                yield messages.from_bytes(value)
            except Malformed as error:
                self._store.aside.put("inbox", value, str(error))

    # --- messages

    def _apply(self, message: Message) -> None:
        apply: Callable[..., None] = getattr(self, f"_apply_{message.kind}")
        if message.kind == "answer":
            apply(*message.body, message.content)
        else:
            apply(*message.body)

    def _apply_answer(self, number: int, answer: Record, content: Content | None) -> None:
        entry = self._store.by_id(number)
        if entry.state is not State.QUEUED:
            # Another worker has answered before.
            return
        self._store.offers.has_answered(entry)
        lease = answers.from_record(answer, entry)
        lease.content = content
        self._compare(entry, lease)
        # So it is not queued, while its answer may wait for its turn.
        self._move(entry, State.LEASED)
        if self._is_its_turn(entry):
            self._commit_answer(entry, lease)
        else:
            self._put_aside(entry, lease)
        self._commit_what_fits()

    def _apply_admit(self, candidates: list[list[Any]], depth: int) -> None:
        for url, reason, request in candidates:
            self._offer(Candidate(url, reason, request), Way(depth))
        self._release_levels()
        self._fill_budget()

    def _apply_item(self, kind: str, record: dict[str, Any], url: str | None) -> None:
        self._keep_item(kind, record, url)

    def _apply_note(self, name: str, value: str) -> None:
        self._store.remember(name, value)

    def _apply_join(self, name: str, texts: list[str]) -> None:
        known = texts_in(name, self._store.recall(name))
        self._store.remember(name, json.dumps(list(dict.fromkeys([*known, *texts]))))
        self._joined(name, texts)

    def _apply_repair(self, number: int) -> None:
        entry = self._store.by_id(number)
        if entry.state is State.QUEUED and entry.waits is Wait.NOTHING:
            self._store.offers.leave(entry)
            self._store.offers.add(entry)

    def _apply_mend(self) -> None:
        """Queues may be gone, and entries: offer all that is open, and count anew."""
        census = Census()
        answered = set(self._store.answered_in_inbox())
        for number, row in list(self._store.rows()):
            state, reason = STATES[row[1]], row[6]
            census.add(state, reason, row[2], 1, are_sitemaps=row[0].endswith(SITEMAP))
            if state is State.QUEUED and not row[8] and number not in answered:
                entry = self._store.by_id(number)
                self._store.offers.leave(entry)
                self._store.offers.add(entry)
        self._census = census

    def _apply_free_links(self) -> None:
        self._free_links()

    def _apply_reconsider(self, reason: str) -> None:
        self._apply_join(RECONSIDERED, [reason])
        self._reconsider(reason, self._judged)

    def _apply_rejudge(self, lasting: list[str]) -> None:
        self._rejudge(self._judged, lasting)

    def _apply_retry(self, failed: bool, denied: bool) -> None:
        self._retry(failed=failed, denied=denied)

    def _apply_revisit(self, moment: float, before: float | None) -> None:
        self._revisit(moment, before)

    def _apply_round(self, mode: str, moment: float, since: float) -> None:
        last = round_in(self._store.recall(ROUND))
        if not (last.is_open and last.mode == mode):
            self._begin_round(mode, moment, since, is_complete=self._is_idle())
        # Otherwise this worker goes on with it since it is the committer.

    def _apply_end_visits(self) -> None:
        self._end_visits()

    def _apply_settle(self, moment: float) -> None:
        self._settle(moment)

    def _judged(self, url: str) -> str | None:
        return None if self._judge is None else self._judge(url)


class Unusable(Exception):
    """A message has failed, and so what is in memory is half changed."""

    def __init__(self, shard: int, number: int | None) -> None:
        super().__init__(f"the first message of shard {shard}")
        self.shard = shard
        # Of the URL, if the message is its answer.
        self.number = number


def _urls_of(found: list[Message]) -> Iterator[str]:
    for message in found:
        if message.kind == "answer":
            answer = message.body[1]
            yield from (url for url, _ in answer["found"])
            yield from answer["nested"]
            if answer["redirect"] is not None:
                yield answer["redirect"]
        elif message.kind == "admit":
            yield from (candidate[0] for candidate in message.body[0])


def _ids_of(found: list[Message]) -> Iterator[int]:
    return (message.body[0] for message in found if message.kind == "answer")
