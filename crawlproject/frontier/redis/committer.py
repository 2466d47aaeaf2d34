"""Turns what workers have handed in into new state: one worker at a time does.

By the same code as on one machine (``graph``, ``queues``, ``commits``, ``judging``), so the
answer is the same. What it knows is in Redis; if it dies, another goes on from there.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawlproject.frontier import answers
from crawlproject.frontier.base import Candidate, State
from crawlproject.frontier.census import Census
from crawlproject.frontier.entry import Wait, Way
from crawlproject.frontier.judging import Judging
from crawlproject.frontier.redis import messages
from crawlproject.frontier.redis.batch import Fenced
from crawlproject.frontier.redis.blocks import Malformed
from crawlproject.frontier.rows import STATES
from crawlproject.records import is_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.redis.messages import Message
    from crawlproject.frontier.redis.store import RedisStore
    from crawlproject.items import Content
    from crawlproject.records import Record

logger = logging.getLogger(__name__)

# Messages that are committed together, at most, and their bytes.
_MOST, _MOST_BYTES = 256, 8 * 1024 * 1024


class Committer(Judging):
    """``judge`` says why a URL may not enter, as the scope is now; ``options`` are those of
    ``Commits``.
    """

    _store: RedisStore

    def __init__(self, store: RedisStore, term: str, **options: Any) -> None:
        super().__init__(store, **options)
        self.term = term
        # URLs that workers have: they are not queued, though nobody tells so.
        self.taken = 0
        self._let_in_again()
        self._release_levels()
        self._fill_budget()

    def _queue_at_host(self, entry: Entry) -> None:
        self._store.offer(entry)

    def _move(self, entry: Entry, state: State, reason: str | None = None) -> None:
        if entry.state is State.QUEUED and state is not State.QUEUED:
            self._store.leave(entry)
        super()._move(entry, state, reason)

    # --- a batch

    def commit(self) -> int:
        """Commit some messages: how many there were. ``Fenced``: another is the committer."""
        values = self._store.inbox(_MOST, _MOST_BYTES)
        found = list(self._read(values))
        self._store.prefetch(_urls_of(found), _ids_of(found))
        for message in found:
            self._apply(message)
        self._commit_what_fits()
        self.write(len(values))
        return len(values)

    def commit_one(self) -> None:
        """Commit the first message, or move it aside."""
        (value,) = self._store.inbox(1, _MOST_BYTES)
        try:
            for message in self._read([value]):
                self._apply(message)
        except (RedisError, Fenced):
            raise
        except Exception as error:
            logger.debug("A message failed", exc_info=True)
            self._store.aside.put("inbox", value, f"what can't be used ({error})")
            raise Unusable from None
        self.write(1)

    def drop_one(self) -> None:
        """Take the first message from the inbox: it was moved aside."""
        self.write(1)

    def write(self, done: int = 0) -> None:
        self._levels.flush()
        census = self._census.written()
        meta = {
            "census": json.dumps(census),
            "idle": int(self._is_idle()),
        }
        if self._budget is not None:
            meta["spent"] = self._budget.spent()
        self._store.write(self.term, done, meta)

    def commit_waiting(self) -> bool:
        """The queue is full, but of nothing that can be had now: let the links of one page in.

        Whether there was one.
        """
        if not self._waiting or self._budget is not None:
            return False
        self._commit_waiting()
        self.write()
        return True

    def has_room_again(self) -> bool:
        """Whether links wait for room, and there is some."""
        return self._waiting > 0 and self._budget is None and self._has_room()

    def _has_room(self) -> bool:
        return self._census.queued - self.taken - self._levels.waiting < self._capacity

    def _is_idle(self) -> bool:
        if self._census.leased:
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
        self._store.is_answered(entry)
        lease = answers.from_record(answer, entry)
        lease.content = content
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
        entry = None if url is None else self._store.get(url)
        self._store.add_item(entry, kind, record["url"] if is_page(record) else None, record)

    def _apply_note(self, name: str, value: str) -> None:
        self._store.remember(name, value)

    def _apply_join(self, name: str, texts: list[str]) -> None:
        known = json.loads(self._store.recall(name) or "[]")
        self._store.remember(name, json.dumps(list(dict.fromkeys([*known, *texts]))))

    def _apply_repair(self, number: int) -> None:
        entry = self._store.by_id(number)
        if entry.state is State.QUEUED and entry.waits is Wait.NOTHING:
            self._store.leave(entry)
            self._store.offer(entry)

    def _apply_mend(self) -> None:
        """Queues may be gone, and entries: offer all that is open, and count anew."""
        census = Census()
        answered = set(self._store.answered_in_inbox())
        for number, row in list(self._store.rows()):
            state, reason = STATES[row[1]], row[6]
            census.add(state, reason, row[2], 1)
            if state is State.QUEUED and not row[8] and number not in answered:
                entry = self._store.by_id(number)
                self._store.leave(entry)
                self._store.offer(entry)
        self._census = census

    def _apply_reconsider(self, reason: str) -> None:
        self._reconsider(reason, self._judged)

    def _apply_rejudge(self, lasting: list[str]) -> None:
        self._rejudge(self._judged, lasting)

    def _apply_retry(self, failed: bool) -> None:
        self._retry(failed=failed)

    def _judged(self, url: str) -> str | None:
        return None if self._judge is None else self._judge(url)


class Unusable(Exception):
    """A message has failed, and so what is in memory is half changed."""


def _urls_of(found: list[Message]) -> Iterator[str]:
    for message in found:
        if message.kind == "answer":
            answer = message.body[1]
            yield from (url for url, _ in answer["found"])
            if answer["redirect"] is not None:
                yield answer["redirect"]
        elif message.kind == "admit":
            yield from (candidate[0] for candidate in message.body[0])


def _ids_of(found: list[Message]) -> Iterator[int]:
    return (message.body[0] for message in found if message.kind == "answer")
