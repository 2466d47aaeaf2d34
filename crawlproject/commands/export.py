"""``scrapy export CRAWLDIR -O FILE``: the report of a crawl, also of a shared one, as it is now.

It is written by what writes the outputs of a crawl, so the bytes are the same: a crawl is set up
that has nothing to fetch, over what was read (``exporting.py``).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

from scrapy.commands import ScrapyCommand

from crawlproject.commands import crawl
from crawlproject.commands.crawl import collect_no_more, complain, less_garbage_collection
from crawlproject.commands.exporting import ExportSpider, check_bodies, problems, report_of, settle
from crawlproject.commands.inquiry import INTERRUPTED, add_source_options, source_in
from crawlproject.errors import BadArgument, BadInput
from crawlproject.exports.formats import complete_feeds
from crawlproject.exports.outputs import check_outputs
from crawlproject.frontier import overview, use_frontier
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.redis.address import check_address
from crawlproject.frontier.source import source_of
from crawlproject.monitoring.ending import plural
from crawlproject.monitoring.streams import tell

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

_SYNTAX = "CRAWLDIR -O FILE [options]"


class Command(crawl.Command):
    name = "export"

    def syntax(self) -> str:
        return _SYNTAX

    def short_desc(self) -> str:
        return "Write the report of a crawl to a file"

    def long_desc(self) -> str:
        return (
            "Write what a crawl has found, sorted, as its own outputs are: the same bytes. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Outputs by file extension: .json .jsonl .csv .xml .html .parquet, and .warc.gz where "
            "bodies are stored. "
            "Exit status: 0; 1 when an output could not be written; 2 bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        # Not those of a crawl: there is no spider that takes arguments.
        ScrapyCommand.add_options(self, parser)
        add_source_options(parser)
        for letter, name, help_ in (
            ("-O", "--overwrite-output", "write to FILE, replacing it; -O -:json: standard output"),
            ("-o", "--output", "the same, but lines (.jsonl) go behind those that are there"),
        ):
            parser.add_argument(letter, name, metavar="FILE", action="append", help=help_)
        parser.set_defaults(spargs=[])
        parser.error = self._refuse  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        settle(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            where = self._where(args, opts.redis)
            if not self.settings.getdict("FEEDS"):
                raise BadArgument("-O", f"missing: give {_SYNTAX}")
            source = source_of(where, self.settings, opts.crawl)
            with source.opened() as database:
                self.exitcode = self._export(Reader(database), source.folder)
        except BadInput as error:
            complain(str(error), self.name)
            self.exitcode = 2
            collect_no_more()
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED

    def _where(self, args: list[str], redis: str | None) -> str:
        assert self.settings is not None
        if redis is not None:
            check_address("--redis", redis)
        for arg in args[0 if redis else 1 :]:
            raise BadInput(f"unknown argument {arg!r}; give {_SYNTAX}")
        where = redis or (args[0] if args else source_in(self.settings))
        if not where or where.startswith("-"):
            raise BadArgument("CRAWLDIR", f"missing: give {_SYNTAX}")
        return where

    def _export(self, reader: Reader, folder: Path | None) -> int:
        """The exit status. Raises BadInput for outputs that can't be written."""
        assert self.crawler_process is not None
        crawler = self.crawler_process.create_crawler(ExportSpider)
        complete_feeds(crawler.settings)
        feeds = crawler.settings.getdict("FEEDS")
        check_outputs(feeds, crawler)
        check_bodies(feeds, reader.database, crawler.settings["STORE_URI"])
        use_frontier(crawler, report_of(reader, folder))
        with less_garbage_collection():
            self.crawler_process.crawl(crawler)
            self.crawler_process.start()
        found = problems(crawler)
        for problem in found:
            complain(problem, self.name)
        if found or self.crawler_process.bootstrap_failed:
            return 1
        _say(reader)
        return 0

    def _refuse(self, message: str) -> NoReturn:
        complain(message, self.name)
        sys.exit(2)


def _say(reader: Reader) -> None:
    counts = overview.count(reader.database)
    rest = f"; {plural(counts.open, 'URL')} not yet fetched" if counts.open else ""
    others = reader.count_others()
    pages = reader.count() - others
    words = [plural(pages, "page")] if pages or not others else []
    words += [plural(others, "item")] if others else []
    tell(f"Wrote {' and '.join(words)}{rest}.")
