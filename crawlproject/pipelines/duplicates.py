"""Notes of every page what it can be compared by: a hash of its body, a signature of its text.

Which page is a duplicate of which is found out when the crawl has ended (``clusters.py``): only
then it is known which of them comes first, breadth first, whoever arrived first. So the same site
has the same duplicates for any concurrency, and after any number of kills. Until then, bodies that
came before are counted, about, for who watches the crawl.

Stats: ``duplicates/bodies_again``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.exceptions import NotConfigured

from crawlproject.errors import BadArgument
from crawlproject.frontier import frontier_of
from crawlproject.frontier.seen import Seen
from crawlproject.items import Content, Page
from crawlproject.pages.signature import signature_of_words
from crawlproject.pages.words import words_of
from crawlproject.pipelines.arriving import Arriving
from crawlproject.records import from_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

# What is done with duplicates.
MARK = "mark"
DROP = "drop"
# Values of a signature.
MIN_SIZE, MAX_SIZE = 16, 1024
# The note that says how the signatures of a crawl directory were made.
MAKING = "signatures"
# Of the filter that counts bodies: it grows. One in a thousand is taken for another one.
_EXPECTED_BODIES, _ERROR_RATE = 10_000, 0.001


class Making(NamedTuple):
    """How signatures are made. Only those that were made in the same way can be compared."""

    size: int = 128
    shingle_words: int = 3
    min_words: int = 30

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Making:
        return cls(
            settings.getint("DUPLICATES_PERMUTATIONS"),
            settings.getint("DUPLICATES_SHINGLE_WORDS"),
            settings.getint("DUPLICATES_MIN_WORDS"),
        )

    @classmethod
    def from_note(cls, note: str | None) -> Making | None:
        """Raises sqlite3.DatabaseError for one that was not written by us."""
        if note is None:
            return None
        with suppress(ValueError, TypeError):
            making = cls(*from_text(note))
            is_number = all(type(value) is int and value > 0 for value in making)
            if is_number and making.size <= MAX_SIZE:
                return making
        raise sqlite3.DatabaseError(f"the note {MAKING!r} is not one of ours: {note[:50]!r}")


class Duplicates:
    """Fills ``content_hash`` and what is kept beside the page.

    Items that are no pages are left alone, unless there is a field that has their text: then
    they are compared as they arrive (``arriving.py``).
    """

    def __init__(self, making: Making, crawler: Crawler | None = None) -> None:
        self.making = making
        self._crawler = crawler
        self._arriving: Arriving | None = None
        # Bodies of this run.
        self._bodies: Seen | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Duplicates:
        if not crawler.settings.getbool("DUPLICATES_ENABLED"):
            # Without words, which Scrapy would say as a warning: it was asked for.
            raise NotConfigured
        making = Making.from_settings(crawler.settings)
        # Our own spider has checked it. In another project every item would fail instead.
        if not MIN_SIZE <= making.size <= MAX_SIZE:
            raise BadArgument(
                "DUPLICATES_PERMUTATIONS",
                f"{making.size} is not a whole number from {MIN_SIZE} to {MAX_SIZE}",
            )
        if crawler.settings["DUPLICATES_ACTION"] not in (MARK, DROP):
            given = crawler.settings["DUPLICATES_ACTION"]
            raise BadArgument("DUPLICATES_ACTION", f"{given!r} is not one of {MARK}, {DROP}")
        return cls(making, crawler)

    def open_spider(self) -> None:
        if self._crawler is None:
            return
        frontier = None
        with suppress(LookupError):  # another scheduler: nothing is kept
            frontier = frontier_of(self._crawler)
            self._agree(frontier)
        settings = self._crawler.settings
        if field := settings["DUPLICATES_ITEM_TEXT"]:
            self._arriving = Arriving(
                self.making,
                field=field,
                threshold=settings.getfloat("DUPLICATES_THRESHOLD"),
                drops=settings["DUPLICATES_ACTION"] == DROP,
                stats=self._crawler.stats,
            )
            if frontier is not None:
                self._arriving.learn(frontier.read().arrived())

    def close_spider(self) -> None:
        if self._arriving is not None:
            self._arriving.close()

    def process_item(self, item: Any) -> Any:
        if type(item) is Page and item.error is None and item.response is not None:
            body = item.response.body
            if body:
                digest = hashlib.sha256(body).digest()
                item.content_hash = digest.hex()
                item.content = Content(digest, *self._signing(item))
                self._count(digest)
        elif self._arriving is not None and not isinstance(item, Page):
            return self._arriving.mark(item)
        return item

    def _count(self, digest: bytes) -> None:
        """Count bodies that came before, about: which page is the first is known at the end."""
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
        return partial(signature_of_words, words, *self.making), words.size

    def _agree(self, frontier: Frontier) -> None:
        """Go on in the way in which a crawl directory was begun."""
        try:
            begun = Making.from_note(frontier.recall(MAKING))
        except sqlite3.DatabaseError as error:
            frontier.fail(str(error))
            return
        if begun is None:
            frontier.remember(MAKING, json.dumps(self.making))
        elif begun != self.making:
            logger.warning(
                "This crawl directory was begun with DUPLICATES_PERMUTATIONS=%d, "
                "DUPLICATES_SHINGLE_WORDS=%d and DUPLICATES_MIN_WORDS=%d, and goes on with them",
                *begun,
            )
            self.making = begun
