"""Scrapy's middleware for compressed bodies, made robust against broken and hostile servers.

How it differs from Scrapy's middleware:

- A body that ends inside its compression is not accepted as complete. It is fetched again, like a
  body that is shorter than announced. In the end the page's error is ``truncated``.
- A body that can't be decompressed is ``unreadable``. So is a body in a compression that is not
  supported, such as ``compress`` or ``bzip2``. It does not become a page of noise.
- Any other word in ``Content-Encoding`` is ignored, as browsers do: a charset, ``none``, a typing
  error.
- A body that is too large once decompressed is ``too large``.
- The status of a response that is not 2xx is kept even if its body can't be decompressed. The body
  is then empty.
- The number of compressions, one inside the other, is limited.

Settings read: ``COMPRESSION_ENABLED``, ``DOWNLOAD_MAXSIZE``, ``DOWNLOAD_FAIL_ON_DATALOSS``,
``RETRY_ENABLED``. Meta keys read: ``download_maxsize``, ``download_fail_on_dataloss``,
``dont_retry``. Stats: ``httpcompression/response_bytes``, ``httpcompression/response_count``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import NotConfigured, ResponseDataLossError
from scrapy.http import TextResponse
from scrapy.responsetypes import responsetypes

from crawlproject.failures import Verdict
from crawlproject.fetching.decoding import (
    ENCODINGS,
    CutShortError,
    TooLargeError,
    UnpackError,
    unpack,
)
from crawlproject.fetching.headers import set_default, values_of
from crawlproject.frontier.time_cap import time_cap_of
from crawlproject.spider_attributes import download_limit

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_ACCEPT_ENCODING = ", ".join(ENCODINGS).encode()
# Flags of responses that are incomplete on purpose, or with the user's consent.
_PARTIAL = frozenset({"download_stopped", "dataloss"})


class Unpacking:
    def __init__(
        self, crawler: Crawler, *, max_size: int, fails_on_loss: bool, retries: bool
    ) -> None:
        self._crawler = crawler
        self._time_cap = time_cap_of(crawler)
        self._max_size = max_size
        self._fails_on_loss = fails_on_loss
        self._retries = retries

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Unpacking:
        settings = crawler.settings
        if not settings.getbool("COMPRESSION_ENABLED"):
            raise NotConfigured("COMPRESSION_ENABLED is off")
        return cls(
            crawler,
            max_size=int(download_limit(crawler, "DOWNLOAD_MAXSIZE")),
            fails_on_loss=settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS"),
            retries=settings.getbool("RETRY_ENABLED"),
        )

    def process_request(self, request: Request) -> None:
        set_default(request.headers, b"Accept-Encoding", _ACCEPT_ENCODING)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        is_packed = values_of(response.headers, b"Content-Encoding") is not None
        if not is_packed or request.method == "HEAD":
            return response
        try:
            body = self._unpacked(request, response)
        except CutShortError as error:
            return self._cut_short(request, response, error)
        except (TooLargeError, UnpackError, Verdict) as error:
            if 200 <= response.status < 300:
                if isinstance(error, Verdict):
                    raise
                reason = "too large" if isinstance(error, TooLargeError) else f"unreadable: {error}"
                raise Verdict(reason) from error
            body = b""
        return self._with(response, body)

    def readable(self, request: Request, response: Response) -> Response | None:
        """The decompressed response, for callers ahead of this middleware. None: it failed."""
        if "Content-Encoding" not in response.headers:
            return response
        try:
            return self._with(response, self._unpacked(request, response))
        except (CutShortError, TooLargeError, UnpackError):
            return None

    def _unpacked(self, request: Request, response: Response) -> bytes:
        named = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1")
        encodings = [name.strip().lower() for name in named.split(",")]
        limit = request.meta.get("download_maxsize", self._max_size)
        body = self._time_cap.run(request.meta, unpack, response.body, encodings, limit)
        self._crawler.stats.inc_value("httpcompression/response_bytes", len(body))
        self._crawler.stats.inc_value("httpcompression/response_count")
        return body

    def _cut_short(
        self, request: Request, response: Response, error: CutShortError
    ) -> Response | Request:
        meta = request.meta
        fails = meta.get("download_fail_on_dataloss", self._fails_on_loss)
        is_success = 200 <= response.status < 300
        if not fails or not is_success or not _PARTIAL.isdisjoint(response.flags):
            return self._with(response, error.so_far)
        # Scrapy's retry middleware handles errors of the downloader only.
        if self._retries and not meta.get("dont_retry"):
            assert self._crawler.spider is not None
            again = get_retry_request(request, spider=self._crawler.spider, reason="truncated")
            if again is not None:
                return again
        raise ResponseDataLossError(str(error)) from error

    @staticmethod
    def _with(response: Response, body: bytes) -> Response:
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
        changes: dict[str, Any] = {"headers": headers, "body": body}
        if issubclass(kind, TextResponse):
            # It was guessed from the compressed body.
            changes["encoding"] = None
        return response.replace(cls=kind, **changes)
