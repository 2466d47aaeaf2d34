"""JSON Lines: a line a page, written as it arrives, for ``tail -f`` and pipes.

Each line is a page as it was when it arrived: all its fields in their own order
(``fetch_ms`` and ``fetched_at`` too) but those that are unknown or empty; ``status_code``
and ``links`` are always there, and numbers and booleans are never empty. Depth and referrer may be
bettered later, and what a page is a duplicate of is not known yet: the sorted exports have the
final word. Items that are no pages are lines like any other, with all of their fields.

- ``-o`` appends. A last line that a crash cut off is ended first, so that only it is lost.
- The feed option ``fields`` chooses the fields, in that order.
- Every line is flushed, so it can be read at once, unless post-processing keeps it back.
- UTF-8; with another ``encoding``, ASCII with escapes.
"""

from __future__ import annotations

from typing import IO, Any

from crawlproject.exports.base import PageExporter
from crawlproject.exports.files import ends_in_mid_line, local_path
from crawlproject.records import PAGE, chosen_fields, json_encoder, kind_of, record_of

_ALWAYS = frozenset({"status_code", "links", "redirected_from"})


class PagesJsonLinesExporter(PageExporter):
    def __init__(self, file: IO[bytes], **options: Any) -> None:
        super().__init__(**options)
        self.file = file
        self.chosen = chosen_fields(self.fields_to_export)
        # Indented, a record would not be a line.
        self._json = json_encoder(self.encoding)

    def start_exporting(self) -> None:
        path = local_path(self.file)
        if path is not None and ends_in_mid_line(path):
            self.file.write(b"\n")

    def take(self, item: Any) -> None:
        record = record_of(item)
        is_page = kind_of(item) == PAGE
        self.other_items += not is_page
        if self.chosen:
            record = {name: record[field] for field, name in self.chosen.items() if field in record}
        elif is_page:
            record = {
                name: value
                for name, value in record.items()
                if value or name in _ALWAYS or isinstance(value, int | float)
            }
        self.file.write(self._json(record) + b"\n")
        self.file.flush()
