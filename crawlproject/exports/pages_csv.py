"""A table of the pages for spreadsheets: CSV (RFC 4180), one row a page, sorted by URL.

Columns: ``url``, ``status_code``, ``bytes``, ``fetch_ms``, ``outlinks`` (how many links the
page has), ``depth``, ``error``, ``content_type``, ``title``, ``referrer``,
``redirected_from`` (space between), ``noindex`` (true, false), ``canonical``,
``last_modified``, ``fetched_at``, ``nofollow``, ``description``, ``language``, ``h1`` (the
first), ``word_count``, ``content_hash``, ``duplicate_of``, ``near_duplicate_of``,
``similarity``, ``rendered``, ``orphan``, ``sitemap`` (its URL); then the fields that a team has
added, by name: single values, lists of them with a space between, and nested values as JSON.
What is unknown is an empty cell.

- Cells that a spreadsheet would run as a formula are defused (see ``cells``).
- Items that are no pages are rows behind the pages. Their fields are columns like others, also
  those with the names of fields of pages that have no column.
- The feed option ``fields`` chooses the columns, in that order; ``links``, ``images``,
  ``open_graph`` and other fields of pages without a column can be had that way.
- The feed's ``encoding`` is obeyed: ``utf-8-sig`` is what old Excel wants.
- ``item_export_kwargs`` are those of Scrapy's exporter: ``include_headers_line``,
  ``join_multivalued`` (a space, by default), ``errors`` (what becomes of characters that the
  encoding lacks: ``replace``, by default). Others go to ``csv.writer``: ``{"delimiter": ";"}``.
"""

from __future__ import annotations

import codecs
import csv
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.cells import cell, text_cell
from crawlproject.exports.sorted_pages import SortedPagesExporter

if TYPE_CHECKING:
    from crawlproject.records import Record

COLUMNS = (
    "url",
    "status_code",
    "bytes",
    "fetch_ms",
    "outlinks",
    "depth",
    "error",
    "content_type",
    "title",
    "referrer",
    "redirected_from",
    "noindex",
    "canonical",
    "last_modified",
    "fetched_at",
    "nofollow",
    "description",
    "language",
    "h1",
    "word_count",
    "content_hash",
    "duplicate_of",
    "near_duplicate_of",
    "similarity",
    "rendered",
    "orphan",
    "sitemap",
)
# Lists and nested values: they can be asked for by name.
_NO_COLUMNS = ("links", "alternates", "headings", "images", "media", "open_graph")
_COLUMNS = frozenset(COLUMNS)
_KNOWN = _COLUMNS | {*_NO_COLUMNS, "structured_data"}


class PagesCsvExporter(SortedPagesExporter):
    def __init__(
        self,
        file: IO[bytes],
        *,
        include_headers_line: bool = True,
        join_multivalued: str = " ",
        errors: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(file, dont_fail=True, **options)
        if not isinstance(join_multivalued, str):
            raise TypeError(f"join_multivalued: {join_multivalued!r} is not a text")
        self._has_header = include_headers_line
        self._between = join_multivalued
        self._errors = errors or "replace"
        self._writer_options: dict[str, Any] = {"lineterminator": "\r\n", **self._kwargs}
        # Where cells are quoted by the file's own rules.
        is_quoted = self._writer_options.get("quoting") != csv.QUOTE_NONE
        self._delimiter = str(self._writer_options.get("delimiter", ",")) if is_quoted else ""
        self._added_columns: set[str] = set()
        self.needs_links = "links" in (self.chosen or ())
        # Wrong options are told at the start, not after the crawl.
        csv.writer(self._encoded(file), **self._writer_options)

    def condense(self, record: Record) -> Record:
        links = record.get("links")
        if isinstance(links, list):
            record.setdefault("outlinks", len(links))
        headings = record.get("headings")
        for heading in headings if isinstance(headings, list) else ():
            # A team's items, and what its pipelines make of pages, may have others.
            if isinstance(heading, dict) and heading.get("level") == 1:
                record.setdefault("h1", heading.get("text"))
        if isinstance(sitemap := record.get("sitemap"), dict):
            record["sitemap"] = sitemap.get("url")
        if self.chosen:
            return self._chosen_of(record)
        record.pop("links", None)
        self._add_columns(record, record.keys() - _KNOWN)
        return record

    def condense_other(self, record: Record) -> Record:
        if self.chosen:
            return self._chosen_of(record)
        self._add_columns(record, record.keys() - _COLUMNS)
        return record

    def _chosen_of(self, record: Record) -> Record:
        return {field: record[field] for field in self.chosen or () if field in record}

    def _add_columns(self, record: Record, names: set[str]) -> None:
        for name in names:
            if cell(record[name]) != "":
                self._added_columns.add(name)

    def write_document(self) -> None:
        if self._reader is not None:
            for _ in self.others():
                pass  # each adds its columns
            if self._reader.has_links_left_out():
                self._added_columns.add("links_left_out")
        added = sorted(self._added_columns | (self.added_fields() - _KNOWN))
        columns = self.chosen or {name: name for name in (*COLUMNS, *added)}
        writer = csv.writer(self._encoded(self.file), **self._writer_options)
        if self._has_header:
            writer.writerow(text_cell(str(name), self._delimiter) for name in columns.values())
        for record in chain(self.pages(), self.others()):
            values = (record.get(name) for name in columns)
            writer.writerow(cell(value, self._delimiter, self._between) for value in values)

    def _encoded(self, file: IO[bytes]) -> _Encoded:
        return _Encoded(file, self.encoding or "utf-8", self._errors)


class _Encoded:
    """Text in, bytes out."""

    def __init__(self, file: IO[bytes], encoding: str, errors: str) -> None:
        codecs.lookup_error(errors)
        self._file = file
        self._encode = codecs.getincrementalencoder(encoding)(errors).encode

    def write(self, text: str) -> int:
        return self._file.write(self._encode(text))
