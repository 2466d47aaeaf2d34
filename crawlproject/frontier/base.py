"""The frontier's contract: all known URLs and their state, and when a host may be asked.

One worker's life with it::

    admit(seeds) ─► take() ─► fetch ─► landed() ─► finish()   (page and links, as one)
                      ▲                    └──────► release()  (not now: try again later)
                      └──────────── queued again ◄────┘
                      └─────────────── revisit() ◄── what is done, and due

Rules that every engine keeps, and that the contract suite checks:

- A URL has one entry, whatever the number of links to it.
- Its depth is the smallest number of links from a seed, also when the longer way was
  found first: ``finish`` passes a shorter way on to the pages behind, without a refetch.
- The referrer is, of the pages one level above that link to it, the first by URL.
- A redirect is an edge of length 0: the target has the depth of its source.
- With a page budget, pages are those that a breadth-first crawl by one patient worker
  would have fetched first, whatever the order in which the answers came.
- A request to a host starts only while fewer are in flight than its concurrency (one, with a
  Crawl-delay), not before its delay has passed since the last completion, and not before the
  interval of its rate and of AutoThrottle has passed since the last start.
- Time comes in as an argument, in seconds of the epoch, from a clock that never goes back
  while the crawl runs (``clock.py``).
- Whoever opens a crawl directory again finds what was committed: what was leased then is
  queued, no host is asked before its delay and its interval have passed since the opening, and
  holds still hold.
- No host is asked for the first time before the store knows of it.
- What only a sitemap leads to has the depth 1, and comes after all that links lead to.
- A URL that is visited again keeps its page until the new one is there. What it does not link to
  any more is found out by ``settle``: then depths, referrers and pages are those of a crawl that
  has begun today, as far as pages were visited.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from crawlproject.scope.traps import GROWING_PATH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from crawlproject.frontier.bottleneck import Bottleneck
    from crawlproject.frontier.comparing import Before, Found
    from crawlproject.frontier.hosts import HostsNow
    from crawlproject.frontier.reading import Reader
    from crawlproject.items import Content
    from crawlproject.records import Record
    from crawlproject.recrawl.visit import Visit


class State(StrEnum):
    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


# Where a request carries its lease.
LEASE = "lease"
# Where a request without a lease says at which host it has a turn.
TURN = "turn"

# Reasons that speak of the way a URL was found, not of the URL: another way may let it in.
DEPTH = "depth"
NOFOLLOW = "nofollow"
# A dupe filter of the project's own takes it for another URL.
DUPLICATE = "duplicate"
# … and of those, the ones that speak of the link.
OF_LINKS = (NOFOLLOW, GROWING_PATH, DUPLICATE)
# Reasons that no other scope changes.
ROBOTS = "robots"
ROBOTS_UNREACHABLE = "robots unreachable"
# It was linked to, and is not any more.
UNLINKED = "unlinked"
LASTING = (*OF_LINKS, ROBOTS, ROBOTS_UNREACHABLE, UNLINKED, "request not kept")


# Skipped for these, a URL has its place in a budget of pages all the same.
SPENDING = (ROBOTS, ROBOTS_UNREACHABLE)


def is_of_link(reason: str | None) -> bool:
    """Whether a reason, with or without its rule, says that one link is not to be followed."""
    return reason is not None and reason.startswith(OF_LINKS)


class Candidate(NamedTuple):
    """A URL that asks to enter. ``reason`` says why it may not, judged by the scope: a word,
    and perhaps the rule after a colon.
    """

    url: str
    reason: str | None = None
    # The request, where a spider made one itself: it comes back with the lease. What is not
    # a string is kept in memory only.
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
    # Of a URL that is visited again: what its answer said of itself, to be sent back.
    is_again: bool = False
    etag: str | None = None
    last_modified: str | None = None

    # Requests of its own that the worker has made so far and that are not to be filtered.
    unfiltered: int = 0

    # Filled in by the worker, committed by ``finish``.
    # Where it leads to, in page order, and why some of these URLs may not enter, as candidates
    # have it. No objects: a page has sixty links, of which most are known.
    links: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    # The requests of links that a spider's rules have made, by URL: as text, or as the object
    # if it can't be serialised.
    requests: dict[str, Any] = field(default_factory=dict)
    # Where it redirects to, when that is followed: then it is no page of its own.
    redirect: str | None = None
    # The answer that said so: it is shown to who asks about this URL, and to nobody else.
    redirect_answer: Record | None = None
    failed: bool = False
    # Whether that is the worker's last word, whatever it raises afterwards.
    is_reported: bool = False
    # Why it is not fetched: a word, and perhaps the rule after a colon.
    skip: str | None = None
    # What came of it, after the pipelines: the kind of each item, and its record.
    records: list[tuple[str, Record]] = field(default_factory=list)
    # Whether its page looks empty without scripts, and no browser has shown it.
    is_scripted: bool = False
    # What is kept beside its page.
    content: Content | None = None
    stored: Record | None = None
    # What the visit says of the next one; None: nobody comes back.
    visit: Visit | None = None
    # The server has said that nothing has changed: page and links stay as they are.
    is_unchanged: bool = False
    # What is there is gone for good, as far as its server knows.
    is_gone: bool = False
    # What a sitemap says of the URLs that it names, and further sitemaps.
    hints: dict[str, Record] = field(default_factory=dict)
    nested: list[str] = field(default_factory=list)
    # The crawl ended while its answer was read: the URL is queued again.
    is_put_back: bool = False
    is_ended: bool = False

    # Filled in by the frontier: what was there before, and what has changed.
    before: Before | None = None
    found_changed: Found | None = None

    @property
    def found(self) -> list[Candidate]:
        """Its links as candidates."""
        return [Candidate(url, self.reasons.get(url), self.requests.get(url)) for url in self.links]

    @found.setter
    def found(self, candidates: list[Candidate]) -> None:
        self.links = [candidate.url for candidate in candidates]
        self.reasons = {url: reason for url, reason, _ in candidates if reason is not None}
        self.requests = {url: request for url, _, request in candidates if request is not None}
        for url, reason, _ in candidates:
            if reason is None:
                # One way that may be followed is enough.
                self.reasons.pop(url, None)


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
    # The setting or pattern to blame.
    rule: str | None = None


class Robots(NamedTuple):
    """What an origin's robots.txt said, and how long that holds (epoch seconds)."""

    # Its text; None: there are no rules, or it could not be had.
    # With an error, b"": the host has answered, now or before.
    body: bytes | None
    # While it is awaited: when it could not be had for the first time.
    fetched_at: float
    expires_at: float
    # Why it could not be had, and how often in a row.
    error: str | None = None
    failures: int = 0

    @property
    def is_awaited(self) -> bool:
        """Whether it could not be had, and was not given up: the error holds for no time."""
        return self.error is not None and self.expires_at <= self.fetched_at


@dataclass(slots=True)
class Counts:
    queued: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    # Of those that are done or failed.
    sitemaps: int = 0

    @property
    def open(self) -> int:
        return self.queued + self.leased

    @property
    def pages(self) -> int:
        """About: a redirect counts too."""
        denied = sum(self.skipped.get(reason, 0) for reason in SPENDING)
        return self.done + self.failed - self.sitemaps + denied


class Frontier(Protocol):
    # Where the crawl is kept, in words.
    place: str
    # Why nothing more can be kept: then nothing is given out any more.
    failure: str | None
    # The crawl directory, which may be a temporary one; None: there is none.
    folder: Path | None

    @property
    def stop_reason(self) -> str | None:
        """Why the whole crawl is to end now, though there may be more to do."""

    def go_live(self, wake: Callable[[], None]) -> None:
        """The crawl begins, in this event loop. ``wake`` is called when there is more to take, and
        nobody has asked for it.
        """

    def at_once(self) -> AbstractContextManager[None]:
        """Within, what is told is known at once, though it may take time."""

    def is_alone(self) -> bool:
        """Whether no other worker is at the crawl."""

    # --- what comes in

    def admit(self, candidates: Iterable[Candidate], depth: int = 0) -> int:
        """Let candidates in that no page brought: seeds, and requests of a spider's own.

        How many came in: neither known nor skipped.
        """

    def knows(self, url: str) -> bool:
        """Whether a URL has an entry. A worker of a shared crawl only knows what it has admitted
        itself of late: the committer ignores what is admitted twice.
        """

    def is_duplicate(self, url: str, depth: int) -> bool:
        """Whether a request of a spider's own for a URL was made before.

        A URL that was skipped is no duplicate, unless robots.txt denies it: no scope is asked about
        such a request, and its depth may be within the limit. A worker of a shared crawl only knows
        what it has admitted itself of late.
        """

    def unknown(self, urls: Iterable[str]) -> list[str]:
        """Those that have no entry, unless they were judged before. A screen: it may name some that
        have one.
        """

    def free_links(self) -> None:
        """Links do not wait any more until all seeds are done: one of these takes too long."""

    def reconsider(self, reason: str, judge: Callable[[str], str | None]) -> int:
        """Judge the URLs skipped for ``reason`` again, and say how many came in."""

    def rejudge(
        self, judge: Callable[[str], str | None], lasting: Sequence[str] = LASTING
    ) -> tuple[int, int]:
        """Judge by another scope what is queued or was skipped, but for ``lasting`` reasons: how
        many left, and came in.
        """

    def retry(self, *, failed: bool, denied: bool = False) -> int:
        """Queue again what was skipped as ``robots unreachable``, and perhaps what has failed, and
        what a robots.txt has denied.
        """

    def revisit(self, now: float, *, before: float | None = None) -> int:
        """Queue to be visited again what is due, or all that was visited ``before`` a time, the
        most deserving first: how many URLs.
        """

    def begin_round(self, mode: str, now: float, since: float) -> int:
        """The same, as a round of this mode (``rounds.py``), in a run that began at a time; or go
        on with the one that is open. Nothing if the crawl was never complete, or another worker
        has begun it, or ended it, in this run.
        """

    def end_visits(self) -> int:
        """What was to be visited again, and is not on its way, stays as it is: how many URLs."""

    def settle(self, now: float) -> int:
        """If links have gone: find the shortest way to each URL anew. What none leads to is
        skipped as ``unlinked``: how many URLs.
        """

    # --- what goes out and comes back

    def take(self, now: float) -> Lease | None:
        """The best URL of the hosts that may be asked now."""

    def next_ready(self, now: float) -> float | None:
        """When ``take`` is worth asking again; None: only after another call to the frontier."""

    def start_late(self, lease: Lease, now: float) -> float:
        """Seconds until the request of a lease may start; 0: it starts now. A middleware may have
        held it up since it was taken.
        """

    def landed(self, lease: Lease, now: float) -> None:
        """The server's answer is complete (or failed): the host's delay counts from here."""

    def withdraw(self, lease: Lease) -> None:
        """The request was not sent, and will not be: its host may be asked for something else."""

    def finish(self, lease: Lease) -> None:
        """End a lease: the page, the links it brought and its new state, as one."""

    def release(self, lease: Lease, until: float, fetch_url: str | None = None) -> None:
        """Queue the URL again, not to be taken before ``until``."""

    def exhausted(self) -> bool:
        """Whether no lease is out and none will be given: the crawl is over."""

    # --- hosts

    def host_of(self, url: str) -> str:
        """The host that a URL belongs to: the unit of politeness."""

    def acquire_turn(self, host: str, now: float) -> float:
        """Acquire a turn at a host for a request without a lease: 0, or seconds to wait."""

    def release_turn(self, host: str, now: float) -> None:
        """The request of an acquired turn has ended."""

    def hold(self, host: str, until: float) -> None:
        """Ask nothing of the host before ``until``."""

    def set_throttle(self, host: str, delay: float) -> None:
        """Set AutoThrottle's delay: the shortest time from one start to the next."""

    def throttle_delay(self, host: str) -> float:
        """The delay that ``set_throttle`` has set last."""

    def set_min_delay(self, host: str, delay: float) -> None:
        """Raise the shortest delay of a host: its Crawl-delay. It gets one request at a time."""

    def overloaded(self, host: str, *, again: bool) -> int:
        """Count that a host had too much to do; not ``again``: it has not any more.

        How often in a row it had.
        """

    def hosts(self, now: float) -> HostsNow:
        """How many hosts are in which state; of a shared crawl, those that this worker has met.
        It looks at every one of them.
        """

    def bottleneck(self) -> Bottleneck | None:
        """The limit that has cost this run most of its time, and the host that waited for it; of a
        shared crawl, as this worker has seen it.
        """

    def robots_of(self, origin: str) -> Robots | None:
        """What is known of an origin's robots.txt."""

    def keep_robots(self, origin: str, robots: Robots) -> None:
        """Keep what an origin's robots.txt said."""

    # --- what is kept

    def keep_item(self, kind: str, record: Record, url: str | None = None) -> None:
        """Keep an item that came after its lease; without a URL, for this run only."""

    def remember(self, name: str, value: str) -> None:
        """Keep a note for the runs to come."""

    def recall(self, name: str) -> str | None: ...

    def join(self, name: str, texts: Iterable[str]) -> None:
        """Add texts to a note that is a list of them."""

    def follow(self, name: str, call: Callable[[str], object]) -> None:
        """Call for each text of such a note, also for those that other workers add later."""

    def commit(self) -> None:
        """Make everything so far outlive this process."""

    def fail(self, problem: str) -> None:
        """End the crawl: what belongs to a page can't be kept. What is committed stays."""

    def close(self) -> None:
        """Commit, and let go of the crawl directory. What is known can still be read."""

    def facts(self, url: str) -> Facts | None:
        """The final depth, referrer and redirects of a URL."""

    def read(self) -> Reader:
        """Everything that is committed, page by page, of all runs."""

    def skips(self) -> Iterator[Skip]:
        """Every skipped URL."""

    def counts(self) -> Counts:
        """How many URLs are in which state."""

    def count_pages(self) -> int:
        """How many pages there are, about."""

    def depths(self) -> dict[int, int]:
        """How many pages are at which depth."""


# In place of the time of an answer: another lease has asked the host, and this one only waited.
NOT_ASKED = -1.0


class Gatekeeper(Protocol):
    """Asked about every lease before it is fetched: robots.txt, or a caller's own rule."""

    # Whether an open question is put to the lease's host: then its delay counts.
    asks_the_host: bool

    def verdict(self, lease: Lease) -> str | Awaitable[float | None] | None:
        """None: go on. A string: no, with this error. To be awaited: ask again after that; it
        may say when the host has answered, if that was before, or ``NOT_ASKED``.

        An error is a word, and perhaps a detail after a colon. In a word that ``failures.py``
        has not, the summary counts it as a refusal, by that word.
        """
