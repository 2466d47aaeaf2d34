"""Run a crawl in this process, under pytest-twisted's reactor, or as a command of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings

from crawlproject.frontier import frontier_of
from crawlproject.items import Page
from tests.forking import run

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier

PROJECT = Path(__file__).parent.parent

# Tests wait for nobody: failures are retried at once.
QUICK = {
    "FRONTIER_RETRY_BACKOFF_SECONDS": 0.01,
    "DOWNLOAD_TIMEOUT": 2,
    "MONITORING_SUMMARY": False,
    # Who tests sitemaps asks for them.
    "SITEMAPS_MODE": "never",
    "STATS_DUMP": False,
    # No name leaves this machine: nobody listens there.
    "POLITENESS_NAME_SERVERS": ["127.0.0.1:9"],
}


@dataclass
class Crawled:
    crawler: Crawler
    items: list[Any]

    @property
    def pages(self) -> dict[str, Page]:
        return {item.url: item for item in self.items if isinstance(item, Page)}

    @property
    def stats(self) -> dict[str, Any]:
        return self.crawler.stats.get_stats()

    @property
    def frontier(self) -> Frontier:
        return frontier_of(self.crawler)

    def depths(self) -> dict[str, int]:
        """The final depth of every page."""
        return {url: facts.depth for url in self.pages if (facts := self.frontier.facts(url))}

    def skipped(self) -> dict[str, str]:
        return {skip.url: skip.reason for skip in self.frontier.skips()}


def project_settings(settings: dict[str, Any] | None = None) -> Settings:
    project = Settings()
    project.setmodule("crawlproject.settings", priority="project")
    project.setdict({**QUICK, **(settings or {})}, priority="cmdline")
    return project


async def crawl_site(
    seed: str,
    settings: dict[str, Any] | None = None,
    *,
    spider: str | type[Spider] = "site",
    **arguments: str,
) -> Crawled:
    """Crawl from a seed with spider arguments; every item, whatever its end."""
    runner = AsyncCrawlerRunner(project_settings(settings))
    crawler = runner.create_crawler(spider)
    items: list[Any] = []

    def item_scraped(item: Any) -> None:
        items.append(item)

    crawler.signals.connect(item_scraped, signals.item_scraped)
    await runner.crawl(crawler, seed=seed, **arguments)
    return Crawled(crawler, items)


def scrapy(
    *arguments: str, cwd: Path, timeout: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy`` as a user does."""
    command = [sys.executable, "-m", "scrapy", *arguments]
    return run(command, cwd=cwd, env=command_environment(**environment), timeout=timeout)


def fresh_scrapy(
    *arguments: str, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The same by a new interpreter: ``tests/forking.py`` says who needs one."""
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=cwd,
        env=command_environment(**environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def command_environment(**more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "SCRAPY_SETTINGS_MODULE": "crawlproject.settings",
        **more,
    }
