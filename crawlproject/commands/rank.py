"""``scrapy rank CRAWLDIR``: the pages that matter most, by the links of the site itself.

PageRank over all links that may be followed; a link to what redirects counts for where it ends. The
rank of the mean page is 1. Keys of the JSON and columns of the CSV: ``url``, ``rank``, ``inlinks``
(pages that link to it), ``depth``.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.inquiry import Inquiry, write_json
from crawlproject.commands.sheet import Sheet
from crawlproject.errors import BadArgument
from crawlproject.exports.cells import cell
from crawlproject.frontier.reading import Reader
from crawlproject.monitoring.ending import plural
from crawlproject.monitoring.streams import standard_output

if TYPE_CHECKING:
    import argparse

    from crawlproject.frontier.source import Source
    from crawlproject.report.linked import Ranked

_TOP = 20


class Command(Inquiry, ScrapyCommand):
    name = "rank"
    options: ClassVar[tuple[str, ...]] = ("--json", "--csv", "--top")

    def short_desc(self) -> str:
        return "List the pages of a crawl that matter most, by PageRank"

    def long_desc(self) -> str:
        return (
            "List the pages that the links of the site itself lead to most, by PageRank; 1 is the "
            "mean of all pages. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0, 2 for bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--csv", action="store_true", help="answer in CSV")
        parser.add_argument("--top", metavar="N", help=f"how many pages ({_TOP}); 0: all")

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        # Scrapy imports all commands for each: what only one needs is imported when it runs.
        from crawlproject.report.linked import ranked

        if opts.json and opts.csv:
            raise BadArgument("--csv", "goes not together with --json: give one of them")
        top = _number(opts.top)
        with source.opened() as database:
            reader = Reader(database)
            pages = reader.count_pages()
            found = ranked(reader, top or pages)
        if opts.json:
            write_json({"pages": pages, "ranked": [page._asdict() for page in found]})
        elif opts.csv:
            _write_csv(found)
        else:
            _write_table(found, pages)
        return 0


def _number(text: str | None) -> int:
    if text is None:
        return _TOP
    if not (text.isascii() and text.isdigit()):
        raise BadArgument("--top", f"{text!r} is not a number of pages such as {_TOP}")
    return int(text)


def _write_csv(found: list[Ranked]) -> None:
    from crawlproject.report.linked import Ranked

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(Ranked._fields)
    writer.writerows([cell(value) for value in page] for page in found)
    standard_output().write(text.getvalue().encode("utf-8", "replace"))


def _write_table(found: list[Ranked], pages: int) -> None:
    sheet = Sheet()
    if not found:
        sheet.say("There are no pages.")
    else:
        sheet.say(
            f"The first {len(found):,} of {plural(pages, 'page')} by PageRank; 1 is the mean."
        )
    rows = [
        (f"{page.rank:,.2f}", f"{page.inlinks:,}", f"{page.depth:,}", page.url) for page in found
    ]
    sheet.table("", "rrrl", ("rank", "inlinks", "depth", "page"), rows)
    sheet.write()
