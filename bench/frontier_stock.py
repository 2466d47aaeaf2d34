"""``bench frontier``: the other side, Scrapy's own scheduler, queues and dupe filter.

Its part ends where a request is given out: there is no end of a lease, no page and no link
that is kept, so none of that is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scheduler import Scheduler
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.reactor import install_reactor
from scrapy.utils.test import get_crawler

from bench.measure import allow_many_files

if TYPE_CHECKING:
    from pathlib import Path


class Stock:
    """With a ``folder``, which Scrapy calls JOBDIR, or all in memory."""

    def __init__(self, folder: Path | None) -> None:
        # Its queues on disk are an open file for every host.
        allow_many_files()
        install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
        crawler = get_crawler(Spider, {"JOBDIR": str(folder)} if folder else {})
        # The queue asks the downloader how busy a host is.
        crawler.engine = ExecutionEngine(crawler, lambda spider: None)
        self._crawler = crawler
        self._spider = Spider.from_crawler(crawler, name="stock")

    def open(self) -> None:
        # The dupe filter reads its file here already.
        self._scheduler = build_from_crawler(Scheduler, self._crawler)
        self._scheduler.open(self._spider)

    def bring(self, urls: list[str]) -> None:
        for url in urls:
            self._scheduler.enqueue_request(Request(url))

    def take(self) -> bool:
        return self._scheduler.next_request() is not None

    def commit(self) -> None:
        """Leave it: what Scrapy has not written yet is written when it closes."""

    def queued(self) -> int:
        return len(self._scheduler)

    def close(self) -> None:
        self._scheduler.close("finished")
