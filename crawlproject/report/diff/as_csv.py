"""The differences as a table for spreadsheets: a row for each URL and field.

Columns: ``url``, ``kind`` (added, removed, changed, moved), ``verdict`` (of a changed page broke or
mended, of an added one dead, of a moved one lost, or nothing), ``field``, ``before``, ``after``. Of
a page that was added or removed the field is the status code, with the error in its place where
there is none; of one that has moved, the URL. Of ``links``, ``redirected_from`` and ``headings``,
before and after are those that only one side has, with a space between.
"""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.cells import cell
from crawlproject.report.diff.fields import ADDED, CHANGED, MOVED, REMOVED
from crawlproject.report.diff.words import LISTS, answer_words, gone_and_come

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.diff.comparing import Change
    from crawlproject.report.diff.comparison import Comparison
    from crawlproject.report.diff.findings import Findings

COLUMNS = ("url", "kind", "verdict", "field", "before", "after")


def write_csv(comparison: Comparison, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
    try:
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for row in _rows(comparison.findings):
            writer.writerow([cell(value) for value in row])
        text.flush()
    finally:
        # The file below is not ours to close.
        text.detach()


def _rows(findings: Findings) -> Iterator[tuple[Any, ...]]:
    for changed in findings.changed():
        for field, change in changed.changes.items():
            yield changed.url, CHANGED, changed.verdict, field, *_cells(field, change)
    for moved in findings.moved():
        yield moved.url, MOVED, moved.verdict, "url", moved.url, moved.to
    for one in findings.alone(ADDED):
        yield one.url, ADDED, one.verdict, "status_code", "", answer_words(one.page)
    for one in findings.alone(REMOVED):
        yield one.url, REMOVED, one.verdict, "status_code", answer_words(one.page), ""


def _cells(field: str, change: Change) -> tuple[Any, Any]:
    if field in LISTS:
        return gone_and_come(field, change)
    return change["before"], change["after"]
