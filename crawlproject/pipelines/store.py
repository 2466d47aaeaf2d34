"""Item pipeline: stores the body and headers of every response before its page is committed.

The body goes to the blobs (``blobs.py``), one copy of each content. Headers, sizes and the hash of
the body go into ``page.stored``, which is committed together with the page: a committed page always
has its body, whenever the process was killed. A body that can't be stored ends the crawl, as a full
disk does, and the next run fetches its page again.

Off by default: ``STORE_BODIES``. Also on for an output that needs bodies, such as .warc.gz.

Stats: ``store/bodies``, ``store/bodies_again``, ``store/body_bytes``, ``store/stored_bytes``.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from crawlproject.frontier import frontier_of
from crawlproject.items import Page
from crawlproject.pipelines.blobs import Blobs, Folder, StoreError
from crawlproject.pipelines.places import place_of, store_name
from crawlproject.pipelines.stored import stored_answer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

# Bodies up to this size are compressed and written in the event loop: a thread costs more.
_SMALL = 128 * 1024
# Extensions of outputs without bodies.
_BODILESS = (".json", ".jsonl", ".jl", ".csv", ".xml", ".parquet")
# Bodies that are written at once.
_THREADS = 8


class Store:
    def __init__(self, crawler: Crawler, uri: str | None) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._uri = uri
        self._store = store_name(uri)
        self._frontier: Frontier | None = None
        self._blobs: Blobs | None = None
        self._threads: ThreadPoolExecutor | None = None
        # Bodies that are being written by a thread, by key.
        self._under_way: dict[str, asyncio.Future[tuple[int, bool]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Store:
        if not crawler.settings.getbool("STORE_BODIES"):
            # Without words, which Scrapy would say as a warning: it is off by default.
            raise NotConfigured
        return cls(crawler, crawler.settings["STORE_URI"])

    def open_spider(self) -> None:
        self._frontier = frontier = frontier_of(self._crawler)
        if frontier.folder is None or frontier.failure is not None:
            return
        try:
            place = place_of(self._uri, frontier.folder)
        except StoreError as error:
            frontier.fail(f"bodies can't be stored in {self._store!r}: {error}")
            return
        if self._uri is None and isinstance(place, Folder):
            # It is this process's alone, as the crawl directory is.
            place.clear()
        if self._uri is None and not self._crawler.settings["JOBDIR"] and not self._has_outputs():
            logger.warning(
                "STORE_BODIES: bodies are removed at the end, with a crawl directory that is "
                "temporary: -s JOBDIR=… or -s STORE_URI=… keeps them"
            )
        self._blobs = Blobs(place)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="store")

    def _has_outputs(self) -> bool:
        """Whether an output may hold bodies: an archive, or one of a format that we don't know."""
        feeds = self._crawler.settings.getdict("FEEDS")
        return any(not str(uri).endswith(_BODILESS) for uri in feeds)

    async def close_spider(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.response is not None and self._blobs is not None:
            await self._keep(item, self._blobs)
        return item

    async def _keep(self, page: Page, blobs: Blobs) -> None:
        assert self._frontier is not None
        response = page.response
        assert response is not None
        if self._frontier.failure is not None:
            return
        # Not the page's, which a pipeline may have changed: by this the body is found again.
        key = hashlib.sha256(response.body).hexdigest()
        stored = stored_answer(page, response)
        try:
            size, is_new = await self._put(blobs, key, response.body)
        except StoreError as error:
            self._frontier.fail(
                f"the body of {page.url} can't be stored in {blobs.place.name!r}: {error}"
            )
            return
        page.stored = {
            **stored,
            "content_hash": key,
            "stored_bytes": size,
            "store": self._store,
        }
        self._count(len(response.body), size, is_new=is_new)

    async def _put(self, blobs: Blobs, key: str, body: bytes) -> tuple[int, bool]:
        if (size := blobs.size(key)) is not None:
            return size, False
        if len(body) <= _SMALL and not blobs.place.is_slow:
            return blobs.put(key, body)
        if (under_way := self._under_way.get(key)) is not None:
            # The same body, of another page.
            return (await asyncio.shield(under_way))[0], False
        loop = asyncio.get_running_loop()
        writing = loop.run_in_executor(self._threads, blobs.put, key, body)
        self._under_way[key] = writing
        try:
            return await writing
        finally:
            del self._under_way[key]

    def _count(self, body_bytes: int, stored_bytes: int, *, is_new: bool) -> None:
        if not is_new:
            self._stats.inc_value("store/bodies_again")
            return
        self._stats.inc_value("store/bodies")
        self._stats.inc_value("store/body_bytes", body_bytes)
        self._stats.inc_value("store/stored_bytes", stored_bytes)
