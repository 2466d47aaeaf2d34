"""What a crawl directory knows about one URL. For commands, also while a crawl runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier import overview
from crawlproject.frontier.base import Robots, State
from crawlproject.frontier.entry import SITEMAP, Wait, Way, address_of, depth_of
from crawlproject.frontier.near import near
from crawlproject.frontier.own_requests import START_MARK
from crawlproject.frontier.reading import LINK_BYTES, Node, Reader
from crawlproject.frontier.redirects import sources_of
from crawlproject.frontier.rows import STATES
from crawlproject.frontier.seen import fingerprint
from crawlproject.records import PAGE_CLASS, from_text
from crawlproject.recrawl.interval import history_from
from crawlproject.urls.canonical import host_of, origin_of

if TYPE_CHECKING:
    import sqlite3

    from crawlproject.frontier.near import Near
    from crawlproject.frontier.overview import HostFacts
    from crawlproject.records import Record
    from crawlproject.recrawl.interval import History

_COLUMNS = (
    "id, url, state, level, hops, referrer, rank, host, reason, rule, verdict, attempts, due, "
    "waits, target, blocked, again"
)


class Known(NamedTuple):
    """The row of a URL; ``referrer``, ``host`` and ``target`` are ids."""

    id: int
    url: str
    state: State
    level: int
    hops: int
    referrer: int | None
    rank: int
    host: int | None
    reason: str | None
    rule: str | None
    verdict: str | None
    # How often it was tried before the last time.
    attempts: int
    due: float | None
    waits: Wait
    target: int | None
    blocked: str | None
    # None, unless it is queued to be visited again (``rows.again_of``).
    again: int | None = None

    @property
    def depth(self) -> int:
        return depth_of(self.level)

    @property
    def is_sitemap(self) -> bool:
        return self.url.endswith(SITEMAP)


class Lead(StrEnum):
    """How a URL came into the crawl."""

    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    # A sitemap names it. Of a sitemap: its site does, in robots.txt or by where it is.
    SITEMAP = "sitemap"
    SITE = "site"
    # A spider's own request, which no page brought.
    REQUEST = "request"


class Step(NamedTuple):
    """A URL on the way to another, and how the one before it leads there."""

    url: str
    lead: Lead


class Visits(NamedTuple):
    """What visits to a URL have found."""

    history: History
    # How it has changed the last time, and when; None: it has not.
    change: str | None
    changed_at: float | None


class Questions:
    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self._reader = Reader(database)

    def find(self, url: str) -> Known | None:
        """A page, or else a sitemap, or what a spider has started with."""
        return self._find(url) or self._find(f"{url}{SITEMAP}") or self._find(f"{url}#{START_MARK}")

    def _find(self, url: str) -> Known | None:
        return self._one("fingerprint = ? AND url = ?", fingerprint(url), url)

    def near(self, url: str) -> list[Near]:
        """Known URLs that come near one that is not known."""
        return near(self.database, url)

    def is_over(self) -> bool:
        """Whether nothing is left to be fetched."""
        return not overview.open_urls(self.database)

    def way(self, known: Known) -> list[Step]:
        """The shortest way to a URL, from where the crawl began."""
        steps: list[Step] = []
        met: set[int] = set()
        current: Known | None = known
        while current is not None and current.id not in met:
            met.add(current.id)
            before, lead = self._before(current)
            steps.append(Step(address_of(current.url), lead))
            current = before
        return steps[::-1]

    def targets(self, known: Known) -> list[str]:
        """Where a URL redirects to, hop by hop; for a loop, until it is closed."""
        urls: list[str] = []
        met = {known.id}
        target = known.target
        while target is not None:
            row = self._one("id = ?", target)
            if row is None:
                break
            urls.append(row.url)
            target = None if row.id in met else row.target
            met.add(row.id)
        return urls

    def sources(self, known: Known) -> list[str]:
        """The URLs that redirect to this one, in the order of the chain."""
        node = Node(known.id, known.url, Way(known.level, known.hops))
        return list(sources_of(node, self._reader))

    def sites(self) -> dict[str, list[str]]:
        """The hosts that the seeds lead to in the end; of each, the origins on the way there, the
        last one first.
        """
        sites: dict[str, list[str]] = {}
        for seed in self._reader.seeds():
            known = self.find(seed)
            way = [seed] if known is None else [seed, *self.targets(known)]
            origins = sites.setdefault(host_of(way[-1]), [])
            for origin in map(origin_of, reversed(way)):
                if origin not in origins:
                    origins.append(origin)
        return sites

    def page(self, known: Known) -> Record | None:
        """What came of a URL, without its links; None: no page was kept."""
        row = self.database.execute("SELECT record FROM pages WHERE id = ?", (known.id,)).fetchone()
        if row is None or not row[0]:
            return None
        record: Record = from_text(row[0])
        record.pop("links", None)
        record.pop(PAGE_CLASS, None)
        return record

    def visits(self, known: Known) -> Visits | None:
        """None: nobody comes back."""
        row = self.database.execute(
            "SELECT next_at, visited_at, rate, history, kind, at FROM visits "
            "LEFT JOIN changes USING (id) WHERE id = ?",
            (known.id,),
        ).fetchone()
        if row is None:
            return None
        next_at, visited_at, rate, kept, change, changed_at = row
        try:
            history = history_from(next_at, visited_at, rate, from_text(kept))
        except ValueError:
            # What we have not written says nothing.
            return None
        return Visits(history, change, changed_at)

    def hint(self, known: Known) -> Record:
        """What a sitemap says of a URL; nothing: none names it."""
        return self._reader.hint(known.id)

    def named(self, known: Known) -> int:
        """How many URLs a sitemap names."""
        row = self.database.execute("SELECT links FROM pages WHERE id = ?", (known.id,)).fetchone()
        return 0 if row is None or row[0] is None else len(row[0]) // LINK_BYTES

    def is_answered(self, known: Known) -> bool:
        """Whether a URL that is leased was fetched, and only its links wait."""
        row = self.database.execute(
            "SELECT 1 FROM answers WHERE url = ? LIMIT 1", (known.id,)
        ).fetchone()
        return row is not None

    def ahead(self, known: Known) -> int:
        """How many URLs come before a queued one: of its host, or of all that wait as it does."""
        place = (known.level, known.rank)
        if known.waits is Wait.LEVEL:
            return self._count("state IN (0, 1) AND level < ?", known.level)
        if known.waits is Wait.BUDGET:
            return self._count("waits = 2 AND (level, rank) < (?, ?)", *place)
        if known.again is not None:
            return self._count(
                "again IS NOT NULL AND state = 0 AND host = ? AND rank < ?", known.host, known.rank
            )
        return self._count(
            "state = 0 AND due IS NULL AND waits IS NULL AND again IS NULL AND host = ? "
            "AND (level, rank) < (?, ?)",
            known.host,
            *place,
        )

    def host(self, known: Known | None, name: str) -> HostFacts | None:
        """The host of a URL; by its name where the URL was never queued."""
        key = name if known is None or known.host is None else known.host
        return overview.host(self.database, key)

    def in_flight(self, known: Known) -> int:
        """How many URLs of the same host are leased."""
        return self._count("state = 1 AND host = ?", known.host)

    def robots(self, origin: str) -> Robots | None:
        # Not its text, which may be long.
        row = self.database.execute(
            "SELECT CASE WHEN body IS NULL THEN NULL ELSE x'' END, fetched_at, expires_at, error, "
            "failures FROM robots WHERE origin = ?",
            (origin,),
        ).fetchone()
        return None if row is None else Robots(*row)

    def _before(self, known: Known) -> tuple[Known | None, Lead]:
        if known.hops:
            source = self._one(
                "target = ? AND level = ? AND hops = ? ORDER BY url LIMIT 1",
                known.id,
                known.level,
                known.hops - 1,
            )
            if source is not None:
                return source, Lead.REDIRECT
        if known.referrer is not None:
            referrer = self._one("id = ?", known.referrer)
            is_named = referrer is not None and referrer.is_sitemap
            return referrer, Lead.SITEMAP if is_named else Lead.LINK
        if known.is_sitemap:
            return None, Lead.SITE
        return None, Lead.REQUEST if known.level else Lead.SEED

    def _one(self, condition: str, *values: int | str) -> Known | None:
        row = self.database.execute(
            f"SELECT {_COLUMNS} FROM urls WHERE {condition}",  # noqa: S608
            values,
        ).fetchone()
        if row is None:
            return None
        known = Known(*row)
        return known._replace(
            state=STATES[row[2]], attempts=known.attempts or 0, waits=Wait(row[13] or 0)
        )

    def _count(self, condition: str, *values: int | None) -> int:
        number: int = self.database.execute(
            f"SELECT count(*) FROM urls WHERE {condition}",  # noqa: S608
            values,
        ).fetchone()[0]
        return number
