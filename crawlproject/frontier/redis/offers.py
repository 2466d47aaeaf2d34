"""What a commit changes in the queues of hosts: URLs that may be taken now, or not any more."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlproject.frontier.base import State
from crawlproject.frontier.entry import Wait
from crawlproject.frontier.hosts import Host
from crawlproject.frontier.redirects import sources_of
from crawlproject.frontier.redis.keys import score_of
from crawlproject.records import to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.hosts import HostLimits
    from crawlproject.frontier.redis.batch import Batch

# URLs that are offered in one command.
_MOST = 1000


class Offers:
    def __init__(
        self,
        entries: Entries,
        host_of: Callable[[str], str],
        limits: Callable[[str], HostLimits],
        is_offered: Callable[[int], bool],
    ) -> None:
        """``is_offered`` tells which ids Redis has let in already."""
        # What the page of an entry can be asked for by; whoever commits knows.
        self.conditions: Callable[[Entry], tuple[str | None, str | None]] = lambda entry: (
            None,
            None,
        )
        self._entries = entries
        self._host_of = host_of
        self._limits = limits
        self._is_offered = is_offered
        # Ids that may be taken now, that may not be any more, and that have answered.
        self._new: dict[int, Entry] = {}
        self._left: dict[int, Entry] = {}
        self._answered: set[int] = set()

    def add(self, entry: Entry) -> None:
        """An entry waits for nothing but its host."""
        self._new[entry.id] = entry

    def leave(self, entry: Entry) -> None:
        """An entry that was queued is not any more."""
        self._left[entry.id] = entry
        self._new.pop(entry.id, None)

    def has_answered(self, entry: Entry) -> None:
        """A worker has handed in an answer: Redis does not queue it any more."""
        self._answered.add(entry.id)

    def write(self, batch: Batch) -> None:
        for number, entry in self._left.items():
            if number not in self._answered:
                host = self._host_of(entry.url)
                batch.call_at(batch.shard_of_host(host), "withdraw", number, host)
        told: defaultdict[int, list[list[str]]] = defaultdict(list)
        for entry in self._new.values():
            if entry.state is State.QUEUED and entry.waits is Wait.NOTHING:
                host = self._host_of(entry.url)
                told[batch.shard_of_host(host)].append(self._words(entry, host))
        for shard, some in told.items():
            for start in range(0, len(some), _MOST):
                batch.call_at(shard, "offer", to_text(some[start : start + _MOST]))

    def is_written(self) -> None:
        """Redis has what the batch had."""
        self._new.clear()
        self._left.clear()
        self._answered.clear()

    def ids(self) -> list[int]:
        """Of the entries that may be taken now."""
        return list(self._new)

    def _words(self, entry: Entry, host: str) -> list[str]:
        """What Redis is told: numbers as texts, since Lua would write large ones in its own way."""
        number, way, limits = entry.id, entry.way, self._limits(host)
        # One that could be taken before may have an answer by now, which waits in the inbox.
        is_new = number in self._answered or number in self._left or not self._is_offered(number)
        # What is known of a host before anybody has asked it.
        host_state = Host(0, host, limits, throttle=limits.start_delay)
        item = [
            entry.url,
            way.level,
            entry.rank,
            way.hops,
            way.referrer or None,
            sources_of(entry, self._entries),
            entry.verdict,
            entry.request,
            entry.again is not None,
            *self.conditions(entry),
        ]
        return [
            "1" if is_new else "0",
            str(number),
            host,
            str(score_of(*entry.key[:2])),
            to_text(item),
            str(host_state.pause),
            str(host_state.spacing),
            str(1 if host_state.spacing > 0 else limits.concurrency),
            str(limits.start_delay),
            str(limits.delay),
        ]
