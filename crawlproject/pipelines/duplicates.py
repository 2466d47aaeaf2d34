"""Item pipeline: records what each page can be compared by, a hash of its body and a signature.

Which page is a duplicate of which is decided when the crawl has ended (``clusters.py``): only then
it is known which of them comes first, breadth first. So the same site has the same duplicates for
any concurrency, and after any number of kills. Until then, repeated bodies are counted, about, for
monitoring.

Stats: ``duplicates/bodies_again``.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.errors import BadArgument
from crawlproject.frontier import frontier_of
from crawlproject.frontier.seen import Seen
from crawlproject.items import Content, Page
from crawlproject.pages.signatures import BACKENDS, DATASKETCH
from crawlproject.pages.words import words_of
from crawlproject.pipelines.parameters import MAX_SIZE, MIN_SIZE, NOTE, SignatureParameters
from crawlproject.pipelines.streaming import StreamingDuplicates

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

# Values of DUPLICATES_ACTION.
MARK = "mark"
DROP = "drop"
# Of the filter that counts bodies: it grows. One in a thousand is taken for another one.
_EXPECTED_BODIES, _ERROR_RATE = 10_000, 0.001


class Duplicates:
    """Sets ``content_hash`` of pages, and ``content``, which is stored beside the page.

    Items that are not pages are left alone, unless DUPLICATES_ITEM_TEXT names the field with their
    text: then they are compared as they arrive (``streaming.py``).
    """

    def __init__(self, parameters: SignatureParameters, crawler: Crawler | None = None) -> None:
        self.parameters = parameters
        self._crawler = crawler
        self._streaming: StreamingDuplicates | None = None
        # Bodies of this run.
        self._bodies: Seen | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Duplicates:
        settings = crawler.settings
        if not settings.getbool("DUPLICATES_ENABLED"):
            # Without a reason, which Scrapy would log as a warning: the user asked for it.
            raise NotConfigured
        parameters = SignatureParameters.from_settings(settings)
        # Our own spider has checked most of it. In another project every item would fail instead.
        if not MIN_SIZE <= parameters.size <= MAX_SIZE:
            raise BadArgument(
                "DUPLICATES_PERMUTATIONS",
                f"{parameters.size} is not a whole number from {MIN_SIZE} to {MAX_SIZE}",
            )
        _check_choice(crawler, "DUPLICATES_ACTION", (MARK, DROP))
        _check_choice(crawler, "DUPLICATES_BACKEND", BACKENDS)
        if parameters.backend == DATASKETCH:
            _import_datasketch()
        return cls(parameters, crawler)

    def open_spider(self) -> None:
        if self._crawler is None:
            return
        frontier = None
        with suppress(LookupError):  # another scheduler: nothing is stored
            frontier = frontier_of(self._crawler)
            self._agree(frontier)
        settings = self._crawler.settings
        if field := settings["DUPLICATES_ITEM_TEXT"]:
            self._streaming = StreamingDuplicates(
                self.parameters,
                field=field,
                threshold=settings.getfloat("DUPLICATES_THRESHOLD"),
                drops=settings["DUPLICATES_ACTION"] == DROP,
                stats=self._crawler.stats,
            )
            if frontier is not None:
                self._streaming.learn(frontier.read().arrived())
            connect = self._crawler.signals.connect
            connect(self._streaming.keep, signals.item_scraped)
            connect(self._streaming.forget, signals.item_dropped)
            connect(self._streaming.forget, signals.item_error)

    def close_spider(self) -> None:
        if self._streaming is not None:
            self._streaming.close()

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.error is None and item.response is not None:
            body = item.response.body
            if body:
                digest = hashlib.sha256(body).digest()
                item.content_hash = digest.hex()
                item.content = Content(digest, *self._signing(item))
                self._count(digest)
        elif self._streaming is not None and not isinstance(item, Page):
            return self._streaming.mark(item)
        return item

    def _count(self, digest: bytes) -> None:
        """Count repeated bodies, about: which page is the first is known at the end."""
        if self._crawler is None:
            return
        if self._bodies is None:
            self._bodies = Seen(_EXPECTED_BODIES, _ERROR_RATE)
        mark = int.from_bytes(digest[:8], "little", signed=True)
        if self._bodies.may_have(mark):
            self._crawler.stats.inc_value("duplicates/bodies_again")
        else:
            self._bodies.add(mark)

    def _signing(self, page: Page) -> tuple[Callable[[], bytes | None] | None, int]:
        """What makes a page's signature when it is committed, with many others; its size."""
        if not page.own_text:
            return None, 0
        try:
            words = words_of(page.own_text)
        except Exception as error:  # a pipeline may have changed the text to anything
            logger.warning("%s can't be compared with other pages: %s", page.url, error)
            return None, 0
        return partial(self.parameters.sign, words), words.size

    def _agree(self, frontier: Frontier) -> None:
        """Continue with the parameters that a crawl began with: a crawl never has two kinds of
        signatures.
        """
        try:
            begun = SignatureParameters.from_note(frontier.recall(NOTE))
        except sqlite3.DatabaseError as error:
            frontier.fail(str(error))
            return
        if begun is None:
            frontier.remember(NOTE, self.parameters.note())
        elif begun.backend != self.parameters.backend:
            frontier.fail(
                f"DUPLICATES_BACKEND: {self.parameters.backend!r} can't continue this crawl, whose "
                f"signatures were made by {begun.backend!r}: resume with "
                f"DUPLICATES_BACKEND={begun.backend}, or start a new crawl"
            )
        elif begun != self.parameters:
            logger.warning(
                "This crawl continues with the settings it was started with: "
                "DUPLICATES_PERMUTATIONS=%d, DUPLICATES_SHINGLE_WORDS=%d, DUPLICATES_MIN_WORDS=%d",
                *begun[:3],
            )
            self.parameters = begun


def _import_datasketch() -> None:
    """Now rather than with the first page: it takes half a second."""
    try:
        import_module("datasketch")
    except ImportError as error:
        raise BadArgument("DUPLICATES_BACKEND", f"datasketch can't be imported: {error}") from None


def _check_choice(crawler: Crawler, name: str, choices: tuple[str, ...]) -> None:
    given = crawler.settings[name]
    if given not in choices:
        raise BadArgument(name, f"{given!r} is not one of {', '.join(choices)}")
