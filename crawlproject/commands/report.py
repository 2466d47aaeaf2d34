"""``scrapy report CRAWLDIR``: what came out of a crawl, for people, as one HTML file.

It is what the crawl's own ``-O report.html`` writes, the same bytes, also while it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.inquiry import Inquiry
from crawlproject.errors import BadOutput
from crawlproject.frontier import overview
from crawlproject.frontier.reading import Reader
from crawlproject.monitoring.ending import plural, size
from crawlproject.monitoring.limits import limits_of
from crawlproject.monitoring.streams import tell
from crawlproject.pipelines.marking import Marks

if TYPE_CHECKING:
    import argparse
    import sqlite3

    from crawlproject.frontier.source import Source

_FILE = "report.html"
_EXTENSIONS = (".html", ".htm")


class Command(Inquiry, ScrapyCommand):
    name = "report"
    options: ClassVar[tuple[str, ...]] = ("--output",)

    def short_desc(self) -> str:
        return "Write the report of a crawl as one HTML file"

    def long_desc(self) -> str:
        return (
            "Write what a crawl has found as one HTML file that opens from disk: broken links with "
            "the pages that link to them, redirects, duplicates, titles, sitemaps, speed, and all "
            "pages. CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0; 1 when the file could not be written; 2 bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "-o", "--output", metavar="FILE", default=_FILE, help=f"replaces FILE ({_FILE})"
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        path = Path(opts.output)
        if path.suffix.lower() not in _EXTENSIONS:
            raise BadOutput(f"can't write {opts.output!r}: give the file the extension .html")
        with source.opened() as database:
            if not self._written(path, lambda file: self._write(file, database)):
                return 1
            counts = overview.count(database)
        rest = f"; {plural(counts.open, 'URL')} not yet fetched" if counts.open else ""
        tell(f"Wrote {path} ({size(path.stat().st_size)}){rest}.")
        return 0

    def _write(self, file: IO[bytes], database: sqlite3.Connection) -> None:
        # Scrapy imports all commands for each: what only one needs is imported when it runs.
        from crawlproject.report.document import write_report

        assert self.settings is not None
        reader = Reader(database)
        marks = Marks.from_settings(reader, self.settings)
        write_report(file, reader, marks, limits_of(database, self.settings))
