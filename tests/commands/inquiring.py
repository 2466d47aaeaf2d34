"""A crawl made by hand, in a directory or in Redis, and the commands that look into it, run in this
process.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from scrapy.cmdline import execute

from crawlproject.frontier import clock
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.database import connect
from crawlproject.frontier.entry import SITEMAP
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.redis.connection import connect as connect_to_redis
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.frontier.sqlite import SqliteFrontier
from crawlproject.items import Page
from crawlproject.records import PAGE, record_of
from crawlproject.recrawl.visit import Visit
from crawlproject.urls.canonical import host_of
from tests.crawling import project_settings

if TYPE_CHECKING:
    from crawlproject.frontier.base import Frontier

SITE = "https://site.example"
FETCHED_AT = "2026-11-16T02:23:31.500+00:00"


class Crawl:
    """A frontier, and a worker who knows what the site will answer. ``now`` is the time for it.
    With ``recrawl`` somebody comes back.
    """

    now = 0.0

    def __init__(self, folder: Path, *seeds: str, **options: Any) -> None:
        self.keeps_visits = "recrawl" in options
        self.frontier = self._open(folder, **options)
        self.frontier.admit([Candidate(url(seed)) for seed in seeds or ("/",)])

    def _open(self, folder: Path, **options: Any) -> Frontier:
        folder.mkdir(parents=True, exist_ok=True)
        return SqliteFrontier(
            connect(folder),
            host_of=host_of,
            limits=lambda host: HostLimits(0, 9),
            **options,
        )

    def fetch(
        self, path: str, *links: str | Candidate, now: float | None = None, **fields: Any
    ) -> None:
        """The next URL must be this one; its page links to others."""
        now = self.now if now is None else now
        lease = self.frontier.take(now)
        assert lease is not None
        assert lease.url == url(path)
        lease.found = [Candidate(url(one)) if isinstance(one, str) else one for one in links]
        page = Page(lease.url, 200, links=[found.url for found in lease.found])
        page.content_type, page.bytes, page.fetch_ms = "text/html", 7936, 12
        page.title, page.fetched_at = f"Page {path}", FETCHED_AT
        for name, value in fields.items():
            setattr(page, name, value)
        lease.failed = page.error is not None
        lease.records = [(PAGE, record_of(page))]
        lease.content, lease.stored = page.content, page.stored
        self.frontier.landed(lease, now)
        if self.keeps_visits:
            lease.visit = Visit(now)
            lease.is_gone = page.status_code == 404
        self.frontier.finish(lease)

    def read_sitemap(self, path: str, *named: str, hint: dict[str, Any] | None = None) -> None:
        """The next URL must be this one, as a sitemap that names some."""
        lease = self.frontier.take(self.now)
        assert lease is not None
        assert lease.url == f"{url(path)}{SITEMAP}"
        lease.found = [Candidate(url(one)) for one in named]
        lease.hints = {url(one): hint or {} for one in named}
        lease.visit = Visit(self.now)
        self.frontier.landed(lease, self.now)
        self.frontier.finish(lease)

    def redirect(self, path: str, target: str, status: int | None = None) -> None:
        """Without a status, it is not known what the answer was."""
        lease = self.frontier.take(self.now)
        assert lease is not None
        assert lease.url == url(path)
        lease.redirect = url(target)
        if status is not None:
            page = Page(lease.url, status, fetched_at=FETCHED_AT)
            lease.redirect_answer = record_of(page)
        self.frontier.landed(lease, self.now)
        self.frontier.finish(lease)

    def close(self) -> None:
        self.frontier.close()


class SharedCrawl(Crawl):
    """The same in Redis, as the only worker; its time is the real one."""

    def __init__(self, address: str, *seeds: str, crawl: str = "crawl", **options: Any) -> None:
        self._address = address
        self._crawl = crawl
        self.now = clock.now()
        super().__init__(Path(), *seeds, **options)

    def _open(self, folder: Path, **options: Any) -> Frontier:
        return RedisFrontier(
            Scripts(
                connect_to_redis(project_settings({"REDIS_URL": self._address})),
                self._crawl,
            ),
            "worker",
            host_of=host_of,
            limits=lambda host: HostLimits(0, 9),
            now=self.now,
            **{"depth_limit": None, "budget": None, "budgets": None, "capacity": None}
            | {"max_redirects": 20, "seeds_first": False}
            | options,
        )


def url(path: str) -> str:
    return f"{SITE}{path}" if path.startswith("/") else path


class Answer(NamedTuple):
    status: int
    out: str
    err: str


def ask(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> Answer:
    """Run a command of the project as a user does, but for the process."""
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", *map(str, arguments)], project_settings())
    assert isinstance(end.value.code, int)
    return Answer(end.value.code, *capfd.readouterr())
