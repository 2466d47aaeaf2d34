"""``scrapy forget redis://… --crawl ID``: removes a crawl from Redis."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.inquiry import Inquiry
from crawlproject.errors import BadArgument
from crawlproject.monitoring.ending import plural
from crawlproject.monitoring.streams import tell

if TYPE_CHECKING:
    import argparse

    from crawlproject.frontier.source import Source


class Command(Inquiry, ScrapyCommand):
    name = "forget"
    options: ClassVar[tuple[str, ...]] = ("--force",)

    def syntax(self) -> str:
        return "redis://… --crawl ID [options]"

    def short_desc(self) -> str:
        return "Remove a shared crawl from Redis"

    def long_desc(self) -> str:
        return (
            "Remove a shared crawl from Redis: what it knows, and all of its pages. "
            "scrapy export writes them to a file before. "
            "Exit status: 0; 1 when workers are at the crawl; 2 for bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--force", action="store_true", help="also while workers are at it, which then end"
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        fleet = source.fleet()
        if fleet is not None and not (opts.crawl or self.settings["FRONTIER_CRAWL_ID"]):
            # What is gone is gone: it is not to be the one that happens to be there.
            raise BadArgument("--crawl", f"missing: {source.name} is what is there")
        if (running := source.running()) is not None and fleet is not None and not opts.force:
            assert isinstance(running, list)
            are = "is" if len(running) == 1 else "are"
            self._complain(
                f"{plural(len(running), 'worker')} {are} at {source.name}: "
                "scrapy stop ends them, --force removes it all the same"
            )
            return 1
        source.forget()
        tell(f"Removed {source.name}.", sys.stdout)
        return 0
