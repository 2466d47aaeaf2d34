"""The download handler for http and https: HTTP/1.1 on asyncio, to addresses that the guard allows.

How it differs from Scrapy's handler:

- A request is sent once. If a server drops a connection that was kept alive, the request fails and
  is retried like any other, after the host's delay.
- No connection is made into a private network (``guard.py``).
- Path and query of a URL are sent as they are in the request. A GET without a body has no
  ``Content-Length``.
- Responses are delivered when the downloader has time for them (``GatedDownloader.line_up``).
- The arrival of the last byte is recorded: the host's delay counts from then.

Requests through a proxy go to Scrapy's ``HTTP11DownloadHandler``, after the guard has checked their
host. That handler needs a Twisted reactor.

Meta keys read: ``proxy``, ``bindaddress``, ``download_timeout``, ``download_maxsize``,
``download_warnsize``, ``download_fail_on_dataloss``. Written: ``download_latency``,
``fetch_ended``, ``on_the_wire``.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from crawlproject.failures import NotHttp
from crawlproject.fetching.connection import Exchange, TooLarge
from crawlproject.fetching.decoding import CutShortError, TooLargeError, UnpackError, unpack
from crawlproject.fetching.guard import RefusedAddressError, use_guard
from crawlproject.fetching.headers import make_headers, values_of
from crawlproject.fetching.origins import Origins, host_of_url
from crawlproject.fetching.pool import Pool
from crawlproject.fetching.resolver import resolver_of
from crawlproject.fetching.tls import tls_context
from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED, ON_THE_WIRE, Wire
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.receivers import has_receivers
from crawlproject.spider_attributes import download_limit

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

    from crawlproject.fetching.connection import Connection, Fetched
    from crawlproject.fetching.heads import Head
    from crawlproject.fetching.origins import Origin, Prepared

logger = logging.getLogger(__name__)

# Most responses have one of a few types.
_class_for_type = lru_cache(maxsize=256)(responsetypes.from_content_type)


class HttpDownloadHandler(BaseDownloadHandler):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._timeout = download_limit(crawler, "DOWNLOAD_TIMEOUT")
        self._max_size = int(download_limit(crawler, "DOWNLOAD_MAXSIZE"))
        self._warn_size = int(download_limit(crawler, "DOWNLOAD_WARNSIZE"))
        self._fails_on_loss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._has_warned_of_loss = False
        # Used by the downloader: names are looked up before a request counts as in flight.
        self.names = resolver_of(crawler)
        self._guard = use_guard(crawler, self.names)
        self._origins = Origins(settings["DOWNLOAD_BIND_ADDRESS"])
        self._pool = Pool(
            self._guard,
            partial(tls_context, settings),
            logs_tls=settings.getbool("DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING"),
        )
        self._proxying: BaseDownloadHandler | None = None

    async def close(self) -> None:
        await self._pool.close()
        if self._proxying is not None:
            await self._proxying.close()
        self._guard.close()
        await self.names.close()

    async def download_request(self, request: Request) -> Response:
        meta = request.meta
        if meta.get("proxy"):
            return await self._download_through_proxy(request)
        prepared = self._origins.prepare(request)
        max_size = meta.get("download_maxsize", self._max_size) or 0
        started_at = now()
        fetched = await self._fetch(request, prepared, max_size)
        meta["download_latency"] = fetched.began_at - started_at
        meta[ON_THE_WIRE] = Wire(fetched.head.reason, prepared.fields, fetched.head.fields)
        if fetched.stop is None:
            meta[FETCH_ENDED] = fetched.ended_at
        return self._response(request, fetched, max_size)

    async def _fetch(self, request: Request, prepared: Prepared, max_size: int) -> Fetched:
        loop = asyncio.get_running_loop()
        seconds: float | None = request.meta.get("download_timeout", self._timeout)
        deadline = loop.time() + seconds if seconds and seconds > 0 else None
        exchange = connection = None
        try:
            connection = self._pool.take(prepared.origin)
            if connection is None:
                connection = await self._connect(prepared.origin, deadline)
            exchange = Exchange(
                loop,
                self._deliver,
                deadline=deadline,
                max_size=max_size,
                is_head=request.method == "HEAD",
                listener=_listener(self.crawler, request),
            )
            exchange.start(connection, prepared.data)
            return await exchange.outcome
        except BaseException as error:
            if exchange is not None:
                exchange.cancel()
            # The error refers to this frame, and the exchange to the error.
            exchange = connection = None
            if isinstance(error, TimeoutError):
                raise DownloadTimeoutError(
                    f"Getting {request.url} took longer than {seconds} seconds."
                ) from error
            if isinstance(error, TooLarge):
                raise _too_large(request, error, max_size) from error
            if isinstance(error, NotHttp | OSError):
                raise DownloadFailedError(str(error)) from error
            raise

    async def _connect(self, origin: Origin, deadline: float | None) -> Connection:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._pool.connect(origin)
        except (ssl.SSLError, TimeoutError):
            raise
        except OSError as error:
            raise DownloadConnectionRefusedError(str(error)) from error

    def _deliver(self, waiting: asyncio.Future[Any], value: Any) -> None:
        if (downloader := self._gated_downloader) is not None:
            downloader.line_up(waiting, value)
        elif not waiting.done():
            waiting.set_result(value)

    @property
    def _gated_downloader(self) -> GatedDownloader | None:
        """None: the crawl has another downloader, or none yet."""
        downloader = self.crawler.engine.downloader
        return downloader if isinstance(downloader, GatedDownloader) else None

    def _response(self, request: Request, fetched: Fetched, max_size: int) -> Response:
        head, body, flags = fetched.head, fetched.body, []
        loss = fetched.loss
        if head.codings and fetched.stop is None:
            try:
                body = unpack(body, head.codings, max_size)
            except TooLargeError as error:
                too_large = TooLarge(max_size + 1, is_announced=False)
                raise _too_large(request, too_large, max_size) from error
            except UnpackError as error:
                raise DownloadFailedError(str(error)) from NotHttp(f"Transfer-Encoding: {error}")
            except CutShortError as error:
                body, loss = error.so_far, loss or error
        if loss is not None:
            self._check_loss(request, loss)
            flags.append("dataloss")
        warn_size = request.meta.get("download_warnsize", self._warn_size)
        if warn_size and len(body) > warn_size:
            logger.warning(
                "%s: %d bytes, more than the download warn size of %d",
                request,
                len(body),
                warn_size,
            )
        headers = make_headers(head.headers)
        # The fragment is not sent, and Scrapy's handlers leave it out, too.
        url = request.url.partition("#")[0]
        response = _response_class(headers, url, body)(
            url,
            head.status,
            body=body,
            flags=flags,
            certificate=fetched.certificate,
            ip_address=fetched.address,
            protocol=head.protocol,
        )
        # As an argument they would be copied, which costs as much as all the rest.
        response.headers = headers
        if fetched.stop is not None:
            response.flags.append("download_stopped")
            if fetched.stop.fail:
                fetched.stop.response = response
                raise fetched.stop
        return response

    def _check_loss(self, request: Request, loss: Exception) -> None:
        """Raises ResponseDataLossError, unless incomplete bodies are accepted."""
        if not request.meta.get("download_fail_on_dataloss", self._fails_on_loss):
            return
        if not self._has_warned_of_loss:
            self._has_warned_of_loss = True
            logger.warning(
                "Incomplete response from %s: %s (only the first is logged; with "
                "DOWNLOAD_FAIL_ON_DATALOSS=False incomplete responses are kept)",
                request.url,
                loss,
            )
        raise ResponseDataLossError(str(loss)) from loss

    async def _download_through_proxy(self, request: Request) -> Response:
        try:
            await self._guard.allow_through_proxy(host_of_url(request.url))
        except RefusedAddressError as error:
            raise self._guard.refuse(error) from None
        if self._proxying is None:
            # Few crawls use a proxy, and the import takes time.
            from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

            self._proxying = HTTP11DownloadHandler.from_crawler(self.crawler)
        response = await self._proxying.download_request(request)
        request.meta[FETCH_ENDED] = now()
        if (downloader := self._gated_downloader) is not None:
            await downloader.stand_in_line()
        return response


class _SignalSender:
    """Sends Scrapy's signals while a response arrives."""

    def __init__(self, crawler: Crawler, request: Request) -> None:
        self._crawler = crawler
        self._request = request

    def head_received(self, head: Head) -> StopDownload | None:
        headers = make_headers({name: values.copy() for name, values in head.headers.items()})
        return self._send(signals.headers_received, headers=headers, body_length=head.length)

    def body_received(self, piece: bytes) -> StopDownload | None:
        return self._send(signals.bytes_received, data=piece)

    def _send(self, signal: object, **values: Any) -> StopDownload | None:
        sent = self._crawler.signals.send_catch_log(
            signal, request=self._request, spider=self._crawler.spider, **values
        )
        for receiver, result in sent:
            raised = getattr(result, "value", None)
            if isinstance(raised, StopDownload):
                logger.debug("%s: stopped by the signal handler %s", self._request, receiver)
                return raised
        return None


def _listener(crawler: Crawler, request: Request) -> _SignalSender | None:
    if has_receivers(crawler, signals.headers_received, signals.bytes_received):
        return _SignalSender(crawler, request)
    return None


def _too_large(request: Request, error: TooLarge, limit: int) -> DownloadCancelledError:
    verb = "announces" if error.is_announced else "sent"
    message = f"{request}: the server {verb} {error.size} bytes, the limit is {limit}"
    logger.warning(message)
    return DownloadCancelledError(message)


def _response_class(headers: Headers, url: str, body: bytes) -> type[Response]:
    """The class for the Content-Type if there is one, else Scrapy's guess."""
    types = values_of(headers, b"Content-Type")
    # The cache would keep long ones.
    if types and len(types[-1]) < 256 and not values_of(headers, b"Content-Encoding"):
        found = _class_for_type(types[-1])
        if found is not Response:
            return found
    return responsetypes.from_args(headers=headers, url=url, body=body)
