"""The caller's own functions in the places of the network, the extractor and robots.txt."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse

from crawlproject.failures import Verdict
from crawlproject.frontier.base import LEASE
from crawlproject.spiders.site import SiteSpider
from crawlproject.urls.canonical import NotCrawlable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.frontier.base import Lease

# Where a response keeps what http_get returned.
CONTENT = "content"


class Functions:
    """The functions of one crawl, each call in a thread."""

    def __init__(
        self,
        http_get: Callable[[str], Any] | None,
        extract_links: Callable[[Any, str], Iterable[str]] | None,
        is_allowed: Callable[[str], bool] | None,
        *,
        threads: int,
    ) -> None:
        self.http_get = http_get
        self.extract_links = extract_links
        self.is_allowed = is_allowed
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="crawl")

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's result; Verdict when it raises."""
        loop = asyncio.get_running_loop()
        result, error = await loop.run_in_executor(self._threads, _try, function, arguments)
        if error is not None:
            name = getattr(function, "__name__", type(function).__name__)
            problem = f"{type(error).__name__}: {error}".rstrip(": ")
            raise Verdict(f"failed: {name} raised {problem}") from error
        return result

    def close(self) -> None:
        self._threads.shutdown(wait=False)


def _try(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, BaseException | None]:
    """The result or the error. A future can't carry StopIteration, and must not SystemExit."""
    try:
        return function(*arguments), None
    except BaseException as error:
        return None, error


# Not a setting: Scrapy copies settings deeply, and with a method the object it belongs to.
_functions: WeakKeyDictionary[Crawler, Functions] = WeakKeyDictionary()


def use_functions(crawler: Crawler, functions: Functions) -> None:
    _functions[crawler] = functions


class CallerHandler:
    """Download handler: ``http_get`` is the network."""

    lazy = False

    def __init__(self, functions: Functions) -> None:
        assert functions.http_get is not None
        self._functions = functions
        self._http_get = functions.http_get

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CallerHandler:
        return cls(_functions[crawler])

    async def download_request(self, request: Request) -> Response:
        content = await self._functions.call(self._http_get, request.meta[LEASE].fetch_url)
        if content is None:
            raise Verdict("failed: http_get returned None")
        request.meta[CONTENT] = content
        body = content.encode("utf-8", "replace") if isinstance(content, str) else content
        if not isinstance(body, bytes):
            body = b""
        return HtmlResponse(request.url, body=body, encoding="utf-8", request=request)

    async def close(self) -> None:
        pass


class CallerGatekeeper:
    """``is_allowed`` is robots.txt; without one, everything is allowed."""

    asks_the_host = False

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._verdicts: dict[str, str | None] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CallerGatekeeper:
        return cls(_functions[crawler])

    def verdict(self, lease: Lease) -> str | Awaitable[None] | None:
        if self._functions.is_allowed is None:
            return None
        if lease.url in self._verdicts:
            return self._verdicts.pop(lease.url)
        return self._ask(self._functions.is_allowed, lease.url)

    async def _ask(self, is_allowed: Callable[[str], bool], url: str) -> None:
        try:
            allowed = await self._functions.call(is_allowed, url)
        except Verdict as verdict:
            self._verdicts[url] = verdict.error
        else:
            self._verdicts[url] = None if allowed else "robots"


class CallerSpider(SiteSpider):
    """The site spider, with ``extract_links`` as the link extractor."""

    async def find_links(self, response: Response) -> dict[str, bool]:
        functions = _functions[self.crawler]
        if functions.extract_links is None:
            return await super().find_links(response)
        content = response.meta.get(CONTENT, getattr(response, "text", response.body))
        extract_links = functions.extract_links

        def extract() -> list[str]:
            # The iterable may be a generator: it is the caller's code too.
            return [str(url) for url in extract_links(content, response.url)]

        extract.__name__ = "extract_links"
        urls: dict[str, bool] = {}
        for url in await functions.call(extract):
            try:
                urls[self.canonicalize(url, response.url)] = False
            except NotCrawlable:
                continue
        return urls
