"""Rules of a spider's own: CrawlSpider's way of following links.

The default spider's links go to the frontier as plain URLs. A spider with ``rules`` of its own
needs Requests: for ``process_request``, for callbacks and errbacks, and for spider middlewares.
They are CrawlSpider's, each with the page that it was found on, so that the scheduler commits them
together with that page (``frontier/own_requests.py``).

Meta keys written, as CrawlSpider has them: ``rule``, ``link_text``; and ``followed_from``,
``dont_redirect`` (redirects of pages are the frontier's).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.spiders import CrawlSpider
from twisted.python.failure import Failure

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE
from crawlproject.frontier.flags import set_flags
from crawlproject.frontier.own_requests import FOLLOWED_FROM, Followed
from crawlproject.urls.directives import page_nofollow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.link import Link

    from crawlproject.frontier.base import Frontier
    from crawlproject.items import Page
    from crawlproject.spiders.page_links import PageLinks

_NOFOLLOW = "nofollow"


class RuleSpider(CrawlSpider):
    """What SiteSpider does when its ``rules`` are not the default ones."""

    _token: str
    _links: PageLinks

    @cached_property
    def frontier(self) -> Frontier:
        return frontier_of(self.crawler)

    if TYPE_CHECKING:  # SiteSpider has it

        def page_failed(self, failure: Failure) -> Iterator[Page]: ...

        def parse_sitemap(self, response: Response) -> None: ...

    def follow(self, response: Response) -> list[Request]:
        """The requests that the rules make of a page's links."""
        lease = response.meta[LEASE]
        followed = []
        for request in self._requests_to_follow(response):
            if request is not None:
                nofollow = bool(request.meta.pop(_NOFOLLOW, False))
                request.meta[FOLLOWED_FROM] = Followed(
                    lease, nofollow or page_nofollow(response, self._token)
                )
                set_flags(request.meta, "dont_redirect")
                followed.append(request)
        return followed

    # Private of CrawlSpider, which has no public hook between a link and its request.
    def _build_request(self, rule_index: int, link: Link) -> Request:
        request = super()._build_request(rule_index, link)
        if link.nofollow:
            request.meta[_NOFOLLOW] = True
        return request

    def link_reason(self, url: str, followed: Followed) -> str | None:
        """Why a link may not be followed; None: it may."""
        return self._links.reason(
            url,
            followed.lease.url,
            nofollow=followed.nofollow,
            frontier=self.frontier,
            stats=self.crawler.stats,
        )

    def is_for_page(self, request: Request) -> bool:
        """Whether a Page is made of what comes, and no callback of a subclass's own is called."""
        if request.callback is None:
            return LEASE in request.meta
        return request.callback in (self._callback, self.parse_sitemap)

    # Named by requests that are kept in crawl directories, as CrawlSpider names it.
    def _errback(self, failure: Failure) -> Iterable[Any]:
        yield from self.page_failed(failure)
        yield from super()._errback(failure)

    def rule_errback(self, response: Response) -> Iterable[Any]:
        """What a rule's errback makes of a response that its callback does not get."""
        failure = Failure(HttpError(response, "Ignoring non-200 response"))
        failure.request = response.request  # type: ignore[attr-defined]
        return super()._errback(failure)

    def is_for_errback(self, response: Response) -> bool:
        """Whether the response of a rule's request is an HTTP error to the rule, as Scrapy's
        HttpErrorMiddleware has it. (A Page is made of it in any case.)
        """
        # By default all are allowed, for the sake of pages.
        is_asked_for = (self.crawler.settings.getpriority("HTTPERROR_ALLOW_ALL") or 0) > _PROJECT
        request = response.request
        # Not by its meta, which may be another response's.
        is_of_rule = request is not None and request.callback == self._callback
        return is_of_rule and self.is_http_error(response, by_default=not is_asked_for)

    def is_http_error(self, response: Response, *, by_default: bool = False) -> bool:
        """Whether ``HTTPERROR_*`` keeps a response from callbacks."""
        meta, settings = response.meta, self.crawler.settings
        if 200 <= response.status < 300 or meta.get("handle_httpstatus_all"):
            return False
        is_named = "handle_httpstatus_list" in meta
        if not is_named and not by_default and settings.getbool("HTTPERROR_ALLOW_ALL"):
            return False
        allowed = meta.get(
            "handle_httpstatus_list",
            getattr(self, "handle_httpstatus_list", settings.getlist("HTTPERROR_ALLOWED_CODES")),
        )
        return response.status not in map(int, allowed)


_PROJECT = SETTINGS_PRIORITIES["project"]
