"""What the memory engine keeps about one URL, and what follows from redirects alone. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.frontier.base import State

if TYPE_CHECKING:
    from crawlproject.frontier.hosts import Key


class Way(NamedTuple):
    """How a URL was reached. The smaller one wins, so that the answer needs no luck."""

    depth: int
    # Redirects since the last link.
    hops: int = 0
    referrer: str = ""

    def step(self, referrer: str) -> Way:
        return Way(self.depth + 1, 0, referrer)

    def hop(self) -> Way:
        return Way(self.depth, self.hops + 1, self.referrer)


@dataclass(slots=True, eq=False)
class Entry:
    url: str
    way: Way
    # The order of arrival, which decides within a depth.
    rank: int
    state: State | None = None
    reason: str | None = None
    request: Any = None
    fetch_url: str | None = None
    verdict: str | None = None
    attempts: int = 0
    bounces: int = 0
    # Queued, but not before some time.
    delayed: bool = False
    # Ordered frontiers: within the budget.
    released: bool = False
    # Followable links of a page that is done, while a shorter way to it may still turn up.
    children: list[Entry] | None = None
    target: Entry | None = None
    # Redirects since the last link on the way that has the fewest, be it the shortest or not.
    fewest_hops: int = 0
    # Where it redirects to, when that is one redirect too many.
    blocked: str | None = None
    sources: list[Entry] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.way.depth, self.rank

    @property
    def is_open(self) -> bool:
        return self.state is State.QUEUED or self.state is State.LEASED

    def is_queued_at(self, key: Key) -> bool:
        return self.state is State.QUEUED and not self.delayed and self.key == key

    def __lt__(self, other: Entry) -> bool:
        return self.url < other.url


def sources_of(entry: Entry) -> tuple[str, ...]:
    """All URLs that redirect here, each after the ones that redirect to it."""
    if not entry.sources:
        return ()
    order: dict[str, None] = {}
    visiting = {entry.url}
    stack = [(entry, False)]
    while stack:
        current, is_complete = stack.pop()
        if is_complete:
            order[current.url] = None
            continue
        if current is not entry:
            stack.append((current, True))
        for source in sorted(current.sources, key=lambda source: (source.way, source.url))[::-1]:
            if source.url not in visiting:
                visiting.add(source.url)
                stack.append((source, False))
    return tuple(order)


def loop_of(entry: Entry) -> list[Entry]:
    """The redirects that lead from an entry back to it; none if they lead elsewhere."""
    members = [entry]
    met = {entry.url}
    target = entry.target
    while target is not None and target.url not in met:
        members.append(target)
        met.add(target.url)
        target = target.target
    return members if target is entry else []
