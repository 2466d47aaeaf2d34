"""The crawl as one JSON document, a page a line::

    {
    "seed": "https://example.com/",
    "started_at": "2025-06-01T12:00:00Z",
    "pages": [
    {"url":"https://example.com/","status_code":200,"depth":0,"links":[...],...},
    {"url":"https://example.com/gone","status_code":null,"depth":1,"links":[],...}
    ]
    }

Two crawls of an unchanged site differ in ``started_at`` alone: pages are sorted by URL,
links too, and keys have a fixed order:

``url``, ``status_code`` (null: no answer), ``depth``, ``links``; then, where there is
something to say: ``error``, ``content_type``, ``bytes``, ``title``, ``referrer``,
``redirected_from``, ``noindex``, ``rendered``, ``canonical``, ``last_modified``, ``nofollow``,
``description``, ``language``, ``alternates``, ``headings``, ``word_count``, ``images``,
``media``, ``open_graph``, ``structured_data``, ``content_hash``, ``duplicate_of``,
``near_duplicate_of``, ``similarity``, ``orphan``, ``sitemap``, and the fields that a team has
added, by name.
``fetch_ms`` and ``fetched_at`` differ from crawl to crawl, so
they are left out unless asked for.

- ``seed`` is a list when there are several, null when there is none.
- The feed option ``fields`` chooses the keys of a page, in that order;
  then each page has all of them, null where unknown.
- The feed option ``indent`` (above 0) spreads pages over several lines.
- Items that are no pages are in another list behind, ``items``, if there are any.
- UTF-8; with another ``encoding``, ASCII with escapes, which reads the same everywhere.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.sorted_pages import SortedPagesExporter
from crawlproject.records import json_encoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.records import Record

KEY_ORDER = (
    "url",
    "status_code",
    "depth",
    "links",
    "error",
    "content_type",
    "bytes",
    "title",
    "referrer",
    "redirected_from",
    "noindex",
    "rendered",
    "canonical",
    "last_modified",
    "nofollow",
    "description",
    "language",
    "alternates",
    "headings",
    "word_count",
    "images",
    "media",
    "open_graph",
    "structured_data",
    "content_hash",
    "duplicate_of",
    "near_duplicate_of",
    "similarity",
    "orphan",
    "sitemap",
    "links_left_out",
)
_DIFFERS_EACH_TIME = ("fetch_ms", "fetched_at")
_KNOWN = frozenset((*KEY_ORDER, *_DIFFERS_EACH_TIME))
_SAID_WHEN_TRUE = frozenset(
    (
        *("error", "redirected_from", "noindex", "rendered", "nofollow", "alternates", "headings"),
        *("images", "media", "open_graph", "structured_data", "orphan", "sitemap"),
    )
)


class SitemapJsonExporter(SortedPagesExporter):
    def __init__(self, file: IO[bytes], **options: Any) -> None:
        super().__init__(file, **options)
        width = max(self.indent or 0, 0)
        self._pad = b" " * width
        self._json = json_encoder(self.encoding, width)

    def condense(self, record: Record) -> Record:
        links = record.get("links")
        if isinstance(links, list):
            # Not in place: the list is still the item's own.
            with suppress(TypeError):  # a team's own kind of links, which has no order
                record["links"] = sorted(links)
        return record

    def write_document(self) -> None:
        write, pad = self.file.write, self._pad
        write(b"{\n")
        write(pad + b'"seed": ' + self._indented(self._seed(), pad) + b",\n")
        write(pad + b'"started_at": ' + self._json(seconds(self.started_at)) + b",\n")
        write(pad + b'"pages": [')
        self._write_list(self._arranged(page) for page in self.pages())
        others = self.others()
        first = next(others, None)
        if first is not None:
            write(b",\n" + pad + b'"items": [')
            self._write_list(self._selected(item) for item in chain((first,), others))
        write(b"\n}\n")

    def _write_list(self, records: Iterator[Record]) -> None:
        pad = self._pad * 2
        separator = b"\n"
        for record in records:
            self.file.write(separator + pad + self._indented(record, pad))
            separator = b",\n"
        # An empty list stays on its line.
        self.file.write(b"]" if separator == b"\n" else b"\n" + self._pad + b"]")

    def _indented(self, value: Any, pad: bytes) -> bytes:
        text = self._json(value)
        # A line break in JSON text is layout, never content.
        return text.replace(b"\n", b"\n" + pad) if pad else text

    def _seed(self) -> str | list[str] | None:
        seeds = [str(seed) for seed in self.seeds]
        return seeds if len(seeds) > 1 else next(iter(seeds), None)

    def _arranged(self, page: Record) -> Record:
        if self.chosen:
            return {name: page.get(field) for field, name in self.chosen.items()}
        arranged = {}
        for name in KEY_ORDER:
            value = page.get(name)
            if value or (value is not None and name not in _SAID_WHEN_TRUE):
                arranged[name] = value
            elif name == "status_code":
                arranged[name] = None
        if len(page) > len(_KNOWN) or not page.keys() <= _KNOWN:
            added = sorted(page.keys() - _KNOWN)
            arranged.update((name, page[name]) for name in added if page[name] is not None)
        return arranged

    def _selected(self, item: Record) -> Record:
        if not self.chosen:
            return item
        return {name: item[field] for field, name in self.chosen.items() if field in item}


def seconds(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    if moment.tzinfo is not None:  # Scrapy's clock is UTC where it does not say so
        moment = moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
