"""How much of their text two versions of a page have in common, by what is kept of both."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from crawlproject.frontier import frontier_of
from crawlproject.pages.signature import is_signature, similarity
from crawlproject.pipelines.duplicates import MAKING, Making

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Likeness:
    """Called with two signatures: a part of 1, or None, if they can't be compared."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Likeness:
        return cls(crawler)

    @cached_property
    def _size(self) -> int:
        # The crawl directory may have been begun with other settings than those of now.
        with suppress(sqlite3.DatabaseError):
            making = Making.from_note(frontier_of(self._crawler).recall(MAKING))
            return 0 if making is None else making.size
        return 0

    def __call__(self, one: bytes, other: bytes) -> float | None:
        size = self._size
        if not size or not (is_signature(one, size) and is_signature(other, size)):
            return None
        return similarity(one, other, size)
