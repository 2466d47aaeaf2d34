"""``scrapy parse URL``: what a spider makes of one page: its items, and the links to follow.

The spider is, without ``--spider``, the one that Scrapy finds by the URL, or else ``site``. The
links of a SiteSpider go to the frontier as plain URLs; here they are shown as Requests, and are
followed only as far as ``--depth`` says.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.commands import parse
from scrapy.exceptions import ScrapyDeprecationWarning, UsageError
from scrapy.spiders import CrawlSpider
from scrapy.utils.spider import spidercls_for_request
from w3lib.url import is_url

from crawlproject.commands.single import SingleCommand
from crawlproject.errors import BadArgument
from crawlproject.frontier.base import LEASE
from crawlproject.items import Page
from crawlproject.records import record_of
from crawlproject.spiders.site import SiteSpider

if TYPE_CHECKING:
    import argparse

    from scrapy.http import Response
    from scrapy.http.request import CallbackT
    from twisted.internet.defer import Deferred


class Command(SingleCommand, parse.Command):
    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or not is_url(args[0]):
            raise UsageError
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        if not opts.spider:
            found = spidercls_for_request(loader, Request(args[0]))
            opts.spider = found.name if found else SiteSpider.name
            self.check_spider(opts)
        spider = loader.load(opts.spider)
        if opts.callback and not callable(getattr(spider, opts.callback, None)):
            raise BadArgument("--callback", f"{spider.__name__} has no method {opts.callback!r}")
        if not opts.callback and not opts.rules and issubclass(spider, CrawlSpider):
            opts.callback = self._parse_page
        with warnings.catch_warnings():
            # Scrapy's own command does what it warns of.
            warnings.filterwarnings("ignore", ".*returned a Deferred", ScrapyDeprecationWarning)
            super().execute(args, opts)
        if self.first_response is None:
            self.exitcode = 1

    def _parse_page(self, response: Response, **arguments: Any) -> Any:
        """What a CrawlSpider does with a response: it has no callback of the name ``parse``."""
        spider = self.pcrawler.spider
        assert isinstance(spider, CrawlSpider)
        return spider.parse_with_rules(response, spider.parse_start_url, arguments)

    def get_callback_from_rules(self, spider: Spider, response: Response) -> CallbackT | str | None:
        found = super().get_callback_from_rules(spider, response)
        # For a rule without a callback Scrapy says parse(), which no CrawlSpider has by itself.
        is_missing = found == "parse" and type(spider).parse is Spider.parse
        return self._parse_page if is_missing else found

    def run_callback(
        self,
        response: Response,
        callback: CallbackT,
        cb_kwargs: dict[str, Any] | None = None,
    ) -> Deferred[Any]:
        output = super().run_callback(response, callback, cb_kwargs)
        return output.addCallback(lambda found: [*found, *_links(response)])

    def print_items(self, lvl: int | None = None, colour: bool = True) -> None:
        for level, items in self.items.items():
            self.items[level] = [
                record_of(item) if isinstance(item, Page) else item for item in items
            ]
        super().print_items(lvl, colour)


def _links(response: Response) -> list[Request]:
    """The links that a SiteSpider has left for the frontier, taken away from it."""
    lease = response.meta[LEASE]
    links = [Request(url) for url in lease.links if url not in lease.reasons]
    lease.links, lease.reasons = [], {}
    return links
