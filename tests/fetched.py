"""The download handler alone, and servers that send exactly the bytes that they are told to."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from crawlproject import settings as defaults
from crawlproject.fetching.handler import HttpDownloadHandler

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Fetcher:
    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.handler = HttpDownloadHandler.from_crawler(crawler)

    async def get(self, url: str, **options: Any) -> Response:
        options["meta"] = {"download_timeout": 60, **options.get("meta", {})}
        return await self.handler.download_request(Request(url, **options))

    @property
    def open_connections(self) -> int:
        return len(self.handler._pool._open)


@asynccontextmanager
async def fetching(**settings: Any) -> AsyncIterator[Fetcher]:
    """A handler whose responses are delivered at once: no downloader is in between."""
    ours = {name: value for name, value in vars(defaults).items() if name.isupper()}
    crawler = get_crawler(Spider, {**ours, **settings})
    crawler.spider = Spider("any")
    crawler.engine = SimpleNamespace(downloader=None)  # type: ignore[assignment]
    fetcher = Fetcher(crawler)
    try:
        yield fetcher
    finally:
        await fetcher.handler.close()
        assert not fetcher.open_connections


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that does with each connection what it is told; its address."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}/"


class Script:
    """Sends the given pieces for each request, and does not close the connection itself."""

    def __init__(self, *pieces: bytes, closes: bool = False) -> None:
        self.pieces: Sequence[bytes] = pieces
        self.closes = closes
        self.requests: list[bytes] = []
        self.writers: list[asyncio.StreamWriter] = []

    @property
    def connections(self) -> int:
        return len(self.writers)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.requests.append(head)
                for piece in self.pieces:
                    writer.write(piece)
                    await writer.drain()
                if self.closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()
