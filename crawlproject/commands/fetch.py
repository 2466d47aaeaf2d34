"""``scrapy fetch URL``: print a response. Exit status 1 if there is none, with the reason."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.commands import fetch
from scrapy.exceptions import UsageError
from scrapy.utils.datatypes import SequenceExclude
from scrapy.utils.spider import DefaultSpider, spidercls_for_request
from w3lib.url import is_url

from crawlproject.commands.crawl import complain
from crawlproject.commands.single import SingleCommand
from crawlproject.failures import error_of, explain
from crawlproject.monitoring.streams import abandon_standard_output

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from scrapy import Spider
    from scrapy.http import Response
    from twisted.python.failure import Failure


class Command(SingleCommand, fetch.Command):
    _has_fetched = False

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or not is_url(args[0]):
            raise UsageError
        assert self.crawler_process is not None
        request = Request(args[0], self._fetched, cb_kwargs={"opts": opts}, dont_filter=True)
        request.errback = partial(self._failed, args[0])
        if opts.no_redirect:
            request.meta["dont_redirect"] = True
            request.meta["handle_httpstatus_all"] = True
        else:
            request.meta["handle_httpstatus_list"] = SequenceExclude(range(300, 400))
        spider_class = self._spider_class(request, opts)
        crawler = self.crawler_process.create_crawler(_starting_with(spider_class, request))
        self.crawler_process.crawl(crawler)
        self.crawler_process.start()
        if not self._has_fetched:
            self.exitcode = 1

    def _spider_class(self, request: Request, opts: argparse.Namespace) -> type[Spider]:
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        if opts.spider:
            return loader.load(opts.spider)
        found = spidercls_for_request(loader, request, DefaultSpider)
        self.check_arguments(found, {})
        return found

    def _fetched(self, response: Response, opts: argparse.Namespace) -> None:
        self._has_fetched = True
        try:
            self._print_response(response, opts)
            sys.stdout.flush()
        except BrokenPipeError:
            abandon_standard_output()

    def _failed(self, url: str, failure: Failure) -> None:
        assert failure.value is not None
        complain(f"{url} could not be fetched: {explain(error_of(failure.value))}", self.command)


def _starting_with(spider_class: type[Spider], request: Request) -> type[Spider]:
    """A spider that fetches one request, and is like another in all else."""

    async def start(self: Spider) -> AsyncIterator[Any]:
        yield request

    return type(spider_class.__name__, (spider_class,), {"start": start})
