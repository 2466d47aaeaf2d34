"""Scrapy's middleware for compressed bodies, for servers that mean harm and those that fail.

Where it differs from Scrapy's own:

- A body that ends too soon inside its compression is not taken for a whole one. It is fetched
  again, as one is that is shorter than announced, and ``truncated`` in the end.
- A body that can't be unpacked, or is in an encoding that nobody asked for, says so in one
  word (``unreadable``), and is no page full of noise. One that is too large is ``too large``.
- An answer that is not 2xx counts by its status: if its body can't be had, it goes without.
- Encodings can be piled up only so far.

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
from crawlproject.frontier.time_cap import time_cap_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_ACCEPT_ENCODING = ", ".join(ENCODINGS).encode()
# Flags of an answer that somebody has cut, or lets pass though it is cut.
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
            max_size=settings.getint("DOWNLOAD_MAXSIZE"),
            fails_on_loss=settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS"),
            retries=settings.getbool("RETRY_ENABLED"),
        )

    def process_request(self, request: Request) -> None:
        # As Headers keeps it, without its questions what type it is.
        dict.setdefault(request.headers, b"Accept-Encoding", [_ACCEPT_ENCODING])

    def process_response(self, request: Request, response: Response) -> Response | Request:
        is_packed = dict.__contains__(response.headers, b"Content-Encoding")
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
        """The answer unpacked, for who needs it before its time; None: it can't be."""
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
        # Scrapy's retries are for what the downloader raises; this is found out after it.
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
            # It was found out by the compressed one.
            changes["encoding"] = None
        return response.replace(cls=kind, **changes)
