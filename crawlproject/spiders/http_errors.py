"""``HTTPERROR_*`` for the callbacks of a SiteSpider's subclass.

Of a page every response becomes a Page. So Scrapy's HttpErrorMiddleware is asked only about
responses to requests with a callback of the subclass's own, and those that no page is made of. It
is not used itself: because of its ``process_spider_exception`` the fast path would leave every
response to Scrapy.

Settings read: ``HTTPERROR_ALLOW_ALL``, ``HTTPERROR_ALLOWED_CODES``.
Meta keys read: ``handle_httpstatus_all``, ``handle_httpstatus_list``.
Stats: ``httperror/response_ignored_count``, ``httperror/response_ignored_status_count/…``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scrapy.spidermiddlewares.httperror import HttpError, HttpErrorMiddleware

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawlproject.spiders.rules import RuleSpider


class SiteHttpErrors:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scrapys = HttpErrorMiddleware.from_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        if 200 <= response.status < 300:
            return
        request, spider = response.request, cast("RuleSpider", self._crawler.spider)
        assert request is not None
        if spider.is_for_page(request):
            return
        try:
            self._scrapys.process_spider_input(response)
        except HttpError:
            if request.errback is None:
                # Else Scrapy would report it as an error of the spider.
                request.errback = self._ignore
            raise

    def _ignore(self, failure: Failure) -> None:
        error = cast("HttpError", failure.value)
        self._scrapys.process_spider_exception(error.response, error)
