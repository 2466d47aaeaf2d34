"""Pages in a file: a ``sitemap.json`` in any layout, its list of pages alone, or lines.

Gigabytes are read page by page (``json_text.py``). Compressed files (``.gz``) are unpacked on the
way. What is wrong is told with the line.
"""

from __future__ import annotations

import gzip
import zlib
from typing import IO, TYPE_CHECKING, Any, cast

from crawlproject.errors import BadInput
from crawlproject.exports.storage import LINES
from crawlproject.report.diff.facts import BadFacts
from crawlproject.report.diff.json_text import BadJson, JsonText
from crawlproject.report.diff.sides import Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlproject.report.diff.facts import Facts, Reduced

RIGHT = "give a crawl directory, a sitemap.json, or pages as .jsonl"


class FileSide(Side):
    def __init__(self, path: Path, reduced: Reduced) -> None:
        self.name = str(path)
        self._path = path
        self._reduced = reduced
        names = path.name.lower().removesuffix(".gz").split(".")
        self._is_lines = names[-1] in LINES
        # What is no file, as a pipe, can't be read again.
        self.is_sorted = path.is_file()

    def read(self) -> Iterator[Facts]:
        try:
            with self._opened() as file:
                text = JsonText(file)
                try:
                    for record in self._lines(text) if self._is_lines else self._document(text):
                        yield self._reduced(record)
                        self.note_fetch(record.get("fetched_at"))
                except BadFacts as error:
                    raise self._bad(str(error), text.line) from None
                except BadJson as error:
                    raise self._bad(str(error), error.line) from None
        except (OSError, EOFError, zlib.error) as error:
            problem = getattr(error, "strerror", None) or str(error)
            raise BadInput(f"can't read {self.name!r}: {problem}") from None

    def _opened(self) -> IO[bytes]:
        if self._path.name.lower().endswith(".gz"):
            return cast("IO[bytes]", gzip.open(self._path))
        return self._path.open("rb")

    def _document(self, text: JsonText) -> Iterator[Any]:
        has_pages = False
        begin = text.peek()
        if begin == "[":
            has_pages = True
            yield from text.elements()
        elif begin == "{":
            for name in text.names():
                if name == "pages" and text.peek() == "[":
                    has_pages = True
                    yield from text.elements()
                elif name == "started_at":
                    self._note_start(text.value())
                else:
                    text.skip()
        elif begin:
            raise self._bad(f"no JSON document begins with {begin!r}; {RIGHT}", 1)
        else:
            raise self._bad(f"it is empty; {RIGHT}", 1)
        if more := text.peek():
            text.value()
            raise self._bad(
                f"{more!r} behind the end of the document; lines go by the name of .jsonl",
                text.line,
            )
        if not has_pages:
            raise BadInput(f'{self.name!r} has no list "pages": {RIGHT}')

    def _lines(self, text: JsonText) -> Iterator[Any]:
        lines = pages = 0
        while text.peek():
            record = text.value()
            lines += 1
            # Items that are no pages are lines, too.
            if type(record) is not dict or "status_code" in record:
                pages += 1
                yield record
        if lines and not pages:
            raise BadInput(f'{self.name!r} has no pages: each has "url" and "status_code"')

    def _note_start(self, value: Any) -> None:
        self.started_at = value if isinstance(value, str) else None

    def _bad(self, problem: str, line: int) -> BadInput:
        return BadInput(f"{self.name!r}, line {line:,}: {problem}")
