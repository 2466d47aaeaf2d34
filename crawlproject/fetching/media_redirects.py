"""Redirects of files and images (``MEDIA_ALLOW_REDIRECTS``) where ``REDIRECT_ENABLED`` is off.

Redirects of pages are the frontier's, so Scrapy's middleware for them is off by default. Requests
of media pipelines are not the frontier's: their redirects are followed here, as Scrapy's middleware
does it, each in a turn of its own.

Settings read: ``MEDIA_ALLOW_REDIRECTS`` (also with the name of a pipeline before it),
``REDIRECT_ENABLED``, ``REDIRECT_MAX_TIMES``, ``REDIRECT_PRIORITY_ADJUST``.
Meta keys read: ``handle_httpstatus_list``, and those of Scrapy's RedirectMiddleware.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.referer import RefererMiddleware
from scrapy.utils.datatypes import SequenceExclude

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

_SETTING = "MEDIA_ALLOW_REDIRECTS"


class MediaRedirects(RedirectMiddleware):
    def __init__(self, settings: BaseSettings) -> None:
        names = [name for name in settings if name.endswith(_SETTING)]
        if settings.getbool("REDIRECT_ENABLED") or not any(map(settings.getbool, names)):
            raise NotConfigured
        self.enabled_setting = next(filter(settings.getbool, names))
        super().__init__(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        return middleware

    def process_response(  # type: ignore[override] # without the deprecated spider
        self, request: Request, response: Response
    ) -> Request | Response:
        return super().process_response(request, response) if _is_media(request) else response

    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)
        referer = self.crawler.get_spider_middleware(RefererMiddleware)
        if referer is not None:
            referer.get_processed_request(request, response)


def _is_media(request: Request) -> bool:
    """Whether a media pipeline has made a request, and wants its redirects followed."""
    statuses = request.meta.get("handle_httpstatus_list")
    return request.callback is NO_CALLBACK and isinstance(statuses, SequenceExclude)
