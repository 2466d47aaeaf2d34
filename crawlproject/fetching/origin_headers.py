"""Headers and cookies that a user gives to a crawl (``-a header=…``, ``-a cookie=…``).

They are for the origins of the seeds, or for those in ``FETCHING_ORIGINS``: scheme, host and port
must be the same. They are added last before the download, and removed when the response is there:
no redirect, retry or callback that copies a request takes them to another origin.

Settings read: ``FETCHING_HEADERS``, ``FETCHING_COOKIES``, ``FETCHING_ORIGINS``. Meta keys read:
``dont_merge_cookies``, as Scrapy has it, and ``without_credentials`` (``origin_auth.py``). A
header or cookie that a request has is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlproject.fetching.origin_auth import WITHOUT_CREDENTIALS, origin_of_request, origins_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class OriginHeaders:
    def __init__(
        self, headers: Mapping[str, str], cookies: Mapping[str, str], origins: frozenset[str]
    ) -> None:
        self._headers = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
        self._cookies = {
            name.encode(): f"{name}={value}".encode() for name, value in cookies.items()
        }
        self._origins = origins

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        headers, cookies = settings["FETCHING_HEADERS"], settings["FETCHING_COOKIES"]
        if not headers and not cookies:
            raise NotConfigured
        origins = origins_from("FETCHING_ORIGINS", settings["FETCHING_ORIGINS"])
        return cls(headers, cookies, origins or frozenset())

    def process_request(self, request: Request) -> None:
        meta = request.meta
        if WITHOUT_CREDENTIALS in meta or origin_of_request(request) not in self._origins:
            return
        for name, value in self._headers.items():
            request.headers.setdefault(name, value)
        if self._cookies and not meta.get("dont_merge_cookies"):
            self._add_cookies(request)

    def _add_cookies(self, request: Request) -> None:
        # Of the request's own, or of Scrapy's CookiesMiddleware.
        has = request.headers.get(b"Cookie") or b""
        pairs = [pair.strip() for pair in has.split(b";") if pair.strip()]
        names = {pair.partition(b"=")[0] for pair in pairs}
        pairs += [pair for name, pair in self._cookies.items() if name not in names]
        request.headers[b"Cookie"] = b"; ".join(pairs)

    def process_response(self, request: Request, response: Response) -> Response:
        self._remove(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        self._remove(request)

    def _remove(self, request: Request) -> None:
        for name, value in self._headers.items():
            if request.headers.get(name) == value:
                del request.headers[name]
        sent = request.headers.get(b"Cookie")
        if self._cookies and sent is not None:
            given = set(self._cookies.values())
            rest = [pair for pair in sent.split(b"; ") if pair not in given]
            if rest:
                request.headers[b"Cookie"] = b"; ".join(rest)
            else:
                del request.headers[b"Cookie"]
