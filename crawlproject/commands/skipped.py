"""``scrapy skipped CRAWLDIR``: the skip ledger. Every URL that was found but not let in, and why.

Columns of the CSV and keys of the JSON lines: ``url``, ``reason`` (a word), ``rule`` (the
pattern or setting to blame), ``depth``, ``referrer``. Sorted by URL, written row by row.
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.account import skip_words
from crawlproject.commands.inquiry import Inquiry
from crawlproject.errors import BadArgument, BadOutput
from crawlproject.exports.cells import cell
from crawlproject.exports.storage import LINES
from crawlproject.frontier import overview
from crawlproject.frontier.base import LASTING
from crawlproject.frontier.reading import Reader
from crawlproject.monitoring.ending import Limits
from crawlproject.monitoring.streams import standard_output
from crawlproject.records import json_encoder

if TYPE_CHECKING:
    import argparse
    import sqlite3
    from collections.abc import Iterable

    from crawlproject.frontier.base import Skip
    from crawlproject.frontier.source import Source

COLUMNS = ("url", "reason", "rule", "depth", "referrer")
_CSV = "csv"


class Command(Inquiry, ScrapyCommand):
    name = "skipped"
    options: ClassVar[tuple[str, ...]] = ("--json", "--output", "--reason")

    def short_desc(self) -> str:
        return "List the URLs that a crawl did not let in, and why"

    def long_desc(self) -> str:
        return (
            "List the URLs that a crawl found but did not let in, sorted by URL, as CSV: url, "
            "reason, rule (the pattern or setting to blame), depth, referrer. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0, 1 when the output could not be written, 2 for bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="write JSON lines, not CSV")
        parser.add_argument(
            "-o", "--output", metavar="FILE", help="write to FILE.csv or FILE.jsonl, replacing it"
        )
        parser.add_argument(
            "--reason",
            metavar="WORD",
            action="append",
            default=[],
            help="only what was skipped for this reason, such as offsite (may be repeated)",
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        path, format_ = _output(opts.output)
        write = _write_lines if opts.json or format_ in LINES else _write_csv
        with source.opened(with_pages=False) as database:
            reasons = frozenset(opts.reason)
            _check_reasons(reasons, database)
            skips = Reader(database).skips()
            wanted = (skip for skip in skips if not reasons or skip.reason in reasons)
            if path is None:
                write(wanted, standard_output(is_json=write is _write_lines))
                return 0
            return 0 if self._written(path, lambda file: write(wanted, file)) else 1


def _output(name: str | None) -> tuple[Path | None, str]:
    if name is None or name == "-":
        return None, _CSV
    path = Path(name)
    format_ = path.suffix[1:].lower()
    if format_ != _CSV and format_ not in LINES:
        raise BadOutput(f"can't write {name!r}: give the file the extension .csv or .jsonl")
    return path, format_


def _check_reasons(reasons: Iterable[str], database: sqlite3.Connection) -> None:
    """Raise BadArgument for a word that nothing was, and nothing could be, skipped for."""
    strange = [
        word for word in reasons if word not in LASTING and skip_words(word, Limits()).what == word
    ]
    if not strange:
        return
    found = overview.count(database).skipped
    for word in strange:
        if word not in found:
            nearest = get_close_matches(word, [*found, *LASTING], n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(found)}"
            raise BadArgument("--reason", f"nothing was skipped for {word!r}; {hint}")


def _write_csv(skips: Iterable[Skip], file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
    try:
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for skip in skips:
            row = (skip.url, skip.reason, skip.rule, skip.depth, skip.referrer)
            writer.writerow([cell(value) for value in row])
        text.flush()
    finally:
        # The file below is not ours to close.
        text.detach()


def _write_lines(skips: Iterable[Skip], file: IO[bytes]) -> None:
    encode = json_encoder("utf-8")
    for skip in skips:
        values = asdict(skip)
        file.write(encode({name: values[name] for name in COLUMNS}) + b"\n")
