"""What the frontier keeps about one URL. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.base import State

if TYPE_CHECKING:
    from crawlproject.frontier.hosts import Key


# In place of a request that can't be written down.
NOT_KEPT = ""
# The states of a URL of which an answer is still to come.
OPEN = frozenset({State.QUEUED, State.LEASED})
# Where the levels begin of what no link leads to, but a sitemap: behind all levels of links.
BY_SITEMAP = 1 << 24
# Behind the URL of a sitemap: it may be linked to as a page, too.
SITEMAP = "#sitemap"
# … and what is none, for SQL.
NO_SITEMAP = f"substr(url, -{len(SITEMAP)}) <> '{SITEMAP}'"
# Requests of a higher priority count as of this one, and of a lower one as of the opposite.
HIGHEST_PRIORITY = 1000
# Ids below 2 ** 31 do not reach into the next priority.
_PRIORITY_SHIFT = 31
# In place of the level, in the key of a URL that is queued to be visited again.
AGAIN = -1


def depth_of(level: int) -> int:
    """Links from a seed, or from a sitemap."""
    return level % BY_SITEMAP


def rank_of(number: int, priority: int) -> int:
    """The order within a host and level: by the priority of a request, then by arrival."""
    clipped = max(-HIGHEST_PRIORITY, min(priority, HIGHEST_PRIORITY))
    return number - (clipped << _PRIORITY_SHIFT)


def address_of(url: str) -> str:
    """The URL that is fetched. Behind what is no page's own may be a mark that tells it apart."""
    return url.partition("#")[0]


def is_orphan(level: int) -> bool:
    """Whether a sitemap names a URL, and no page that links lead to does."""
    return level == BY_SITEMAP + 1


class Way(NamedTuple):
    """How a URL was reached. The smaller one wins, so that the answer needs no luck."""

    # The depth; of what is reached by a sitemap only, behind BY_SITEMAP.
    level: int
    # Redirects since the last link.
    hops: int = 0
    referrer: str = ""
    # The same, as the store knows it.
    referrer_id: int = 0

    def step(self, entry: Entry) -> Way:
        """On to a page that this one links to, or that this sitemap names."""
        level = BY_SITEMAP if entry.is_sitemap else self.level
        return Way(level + 1, 0, entry.url, entry.id)

    def hop(self) -> Way:
        """On to where it redirects."""
        return Way(self.level, self.hops + 1, self.referrer, self.referrer_id)


class Wait(IntEnum):
    """What a queued URL waits for, besides its host."""

    NOTHING = 0
    # All URLs above it are done: only then its place in a budget is known.
    LEVEL = 1
    # The crawl may have more pages.
    BUDGET = 2


@dataclass(slots=True, eq=False)
class Entry:
    id: int
    url: str
    way: Way
    # What decides within a level: priority and arrival; of what is visited again, its turn.
    rank: int
    state: State | None = None
    reason: str | None = None
    rule: str | None = None
    # The id of its host, once it was queued.
    host: int = 0
    # A request of a spider's own, as text.
    request: str | None = None
    fetch_url: str | None = None
    verdict: str | None = None
    attempts: int = 0
    bounces: int = 0
    # Queued, but not before this time.
    due: float | None = None
    waits: Wait = Wait.NOTHING
    # Where it redirects to, when that was followed.
    target: int | None = None
    # Redirects since the last link on the way that has the fewest, be it the shortest or not.
    fewest_hops: int = 0
    # Where it redirects to, when that is one redirect too many.
    blocked: str | None = None
    # What it was before it was queued to be visited again: done or failed.
    again: State | None = None
    # Whether the items of the visit before are dropped, because this one has brought some.
    is_renewed: bool = False

    @property
    def key(self) -> Key:
        return self.way.level if self.again is None else AGAIN, self.rank, self.id

    @property
    def is_sitemap(self) -> bool:
        return self.url.endswith(SITEMAP)

    def has_place(self, state: State | None) -> bool:
        """Whether it counts in a budget of pages, when it is done, or has failed."""
        return not self.is_sitemap and (self.target is None or state is State.FAILED)

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    def start_over(self) -> None:
        """Forget what was learned when it was asked for."""
        self.attempts = self.bounces = 0
        self.is_renewed = False
        self.verdict = self.fetch_url = self.blocked = None

    def is_queued_at(self, key: Key) -> bool:
        is_free = self.due is None and self.waits is Wait.NOTHING
        return self.state is State.QUEUED and is_free and self.key == key

    def __lt__(self, other: Entry) -> bool:
        return self.url < other.url
