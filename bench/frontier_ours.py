"""``bench frontier``: our side, the frontier on its database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.workload import SEED
from crawlproject import settings
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.database import Claim, check, connect
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.sqlite import SqliteFrontier
from crawlproject.items import Page
from crawlproject.records import PAGE, record_of
from crawlproject.urls.canonical import host_of

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.base import Lease

_LIMITS = HostLimits(delay=1.0)
# Made by other rooms, so it is not counted what it takes to make it.
_RECORD = record_of(
    Page(
        url="",
        status_code=200,
        depth=1,
        content_type="text/html",
        bytes=25_000,
        fetch_ms=120,
        title="The title of a page, as long as titles are",
        fetched_at="2025-01-01T00:00:00Z",
        referrer=SEED,
    )
)


class Ours:
    """A worker that has nothing to fetch, by a clock that moves on when it would wait."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._now = 0.0

    def open(self) -> None:
        self._claim = Claim(self._folder)
        check(self._folder)
        self._frontier = SqliteFrontier(
            connect(self._folder),
            host_of=host_of,
            limits=lambda host: _LIMITS,
            now=self._now,
            batch=settings.FRONTIER_COMMIT_PAGES,
        )

    def bring(self, urls: list[str]) -> None:
        lease = self._lease()
        if lease is None:
            self._frontier.admit([Candidate(SEED)])
            lease = self._lease()
            assert lease is not None
        self._finish(lease, urls)

    def take(self) -> bool:
        lease = self._lease()
        if lease is not None:
            self._finish(lease, [])
        return lease is not None

    def commit(self) -> None:
        self._frontier.commit()

    def queued(self) -> int:
        return self._frontier.counts().queued

    def close(self) -> None:
        self._frontier.close()
        self._claim.release()

    def _lease(self) -> Lease | None:
        while (lease := self._frontier.take(self._now)) is None:
            ready = self._frontier.next_ready(self._now)
            if ready is None:
                return None
            self._now = ready
        return lease

    def _finish(self, lease: Lease, urls: list[str]) -> None:
        lease.found = [Candidate(url) for url in urls]
        lease.records = [(PAGE, {**_RECORD, "url": lease.url, "links": urls})]
        self._frontier.landed(lease, self._now)
        self._frontier.finish(lease)
