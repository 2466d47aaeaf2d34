"""The frontier's contract: all known URLs and their state, and when a host may be asked.

One worker's life with it::

    admit(seeds) ─► take() ─► fetch ─► landed() ─► finish()   (page and links, as one)
                      ▲                    └──────► release()  (not now: try again later)
                      └──────────── queued again ◄────┘

Rules that every engine keeps, and that the contract suite checks:

- A URL has one entry, whatever the number of links to it.
- Its depth is the smallest number of links from a seed, also when the longer way was
  found first: ``finish`` passes a shorter way on to the pages behind, without a refetch.
- The referrer is, of the pages one level above that link to it, the first by URL.
- A redirect is an edge of length 0: the target has the depth of its source.
- With a page budget, pages are those that a breadth-first crawl by one patient worker
  would have fetched first, whatever the order in which the answers came.
- In flight per host never exceeds its cap, and a host that has a delay is asked by one
  request at a time, which starts at least that delay after the last one ended.
- Time comes in as an argument, from a clock that never goes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator


class State(StrEnum):
    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


# Where a request carries its lease.
LEASE = "lease"

# Reasons that speak of the way a URL was found, not of the URL: another way may let it in.
DEPTH = "depth"
NOFOLLOW = "nofollow"


class Candidate(NamedTuple):
    """A URL that asks to enter. ``reason`` says why it may not, judged by the scope.

    A tuple, because a page makes sixty of them.
    """

    url: str
    reason: str | None = None
    # The request, where a spider made one itself: it comes back with the lease.
    request: Any = None


@dataclass(slots=True)
class Lease:
    """A URL handed to a worker, and the place where it notes what it learned.

    ``verdict`` is set when the answer is known without asking the server.
    """

    url: str
    fetch_url: str
    host: str
    depth: int
    referrer: str | None
    # Redirects since the last link, and the URLs that redirected here.
    hops: int = 0
    redirected_from: tuple[str, ...] = ()
    # How often it was tried before, and how often it redirected to another spelling of itself.
    attempts: int = 0
    bounces: int = 0
    verdict: str | None = None
    request: Any = None

    # Filled in by the worker, committed by ``finish``.
    found: list[Candidate] = field(default_factory=list)
    # Where it redirects to, when that is followed: then it is no page of its own.
    redirect: str | None = None
    failed: bool = False
    # Items on their way through the pipelines, and whether more may come.
    pending_items: int = 0
    is_read: bool = False
    is_ended: bool = False


@dataclass(slots=True, frozen=True)
class Facts:
    """The final word on what may change after a page has arrived."""

    depth: int
    referrer: str | None
    redirected_from: tuple[str, ...]
    # Not when it redirects, though it may have been taken for one redirect too many first.
    is_page: bool = True


@dataclass(slots=True, frozen=True)
class Skip:
    """A URL that did not enter, and why."""

    url: str
    reason: str
    depth: int
    referrer: str | None


@dataclass(slots=True)
class Counts:
    queued: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def open(self) -> int:
        return self.queued + self.leased


class Frontier(Protocol):
    def admit(self, candidates: Iterable[Candidate], depth: int = 0) -> int:
        """Let candidates in that no page brought: seeds, and requests of a spider's own.

        How many came in: neither known nor skipped.
        """

    def known(self, url: str) -> bool:
        """Whether url has an entry. A screen: False may be wrong, True never is."""

    def take(self, now: float) -> Lease | None:
        """The best URL of the hosts that may be asked now."""

    def next_ready(self, now: float) -> float | None:
        """When ``take`` is worth asking again; None: only after another call to the frontier."""

    def landed(self, lease: Lease, now: float) -> None:
        """The server's answer is complete (or failed): the host's delay counts from here."""

    def finish(self, lease: Lease) -> None:
        """End a lease: the page, the links it brought and its new state, as one."""

    def release(self, lease: Lease, until: float, fetch_url: str | None = None) -> None:
        """Queue the URL again, not to be taken before ``until``."""

    def enter(self, host: str, now: float) -> float:
        """Ask for a turn at a host, for a request that is no URL's: 0, or seconds to wait."""

    def leave(self, host: str, now: float) -> None:
        """That request has ended."""

    def hold(self, host: str, until: float) -> None:
        """Ask nothing of the host before ``until``."""

    def slow(self, host: str, delay: float) -> None:
        """Leave ``delay`` seconds between two requests to the host, or more if it must be."""

    def insist(self, host: str, delay: float) -> None:
        """Never leave less than ``delay`` seconds between two requests to the host."""

    def reconsider(self, reason: str, judge: Callable[[str], str | None]) -> int:
        """Judge the URLs skipped for ``reason`` again, and say how many came in."""

    def exhausted(self) -> bool:
        """Whether no lease is out and none will be given: the crawl is over."""

    def facts(self, url: str) -> Facts | None:
        """The final depth, referrer and redirects of a URL."""

    def skips(self) -> Iterator[Skip]:
        """Every skipped URL."""

    def counts(self) -> Counts:
        """How many URLs are in which state."""

    def depths(self) -> dict[int, int]:
        """How many pages are at which depth."""


class Gatekeeper(Protocol):
    """Asked about every lease before it is fetched: robots.txt, or a caller's own rule."""

    # Whether an open question is put to the lease's host: then its delay counts.
    asks_the_host: bool

    def verdict(self, lease: Lease) -> str | Awaitable[None] | None:
        """None: go on. A string: no, with this error. To be awaited: ask again after that."""
