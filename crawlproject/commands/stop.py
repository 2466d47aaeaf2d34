"""``scrapy stop redis://…``: ends a shared crawl, all workers, as Ctrl-C ends one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.inquiry import Inquiry
from crawlproject.monitoring.ending import plural
from crawlproject.monitoring.streams import tell

if TYPE_CHECKING:
    import argparse

    from crawlproject.frontier.source import Source


class Command(Inquiry, ScrapyCommand):
    name = "stop"
    options: ClassVar[tuple[str, ...]] = ()

    def syntax(self) -> str:
        return "redis://… [options]"

    def short_desc(self) -> str:
        return "End a shared crawl: all of its workers"

    def long_desc(self) -> str:
        return (
            "End a shared crawl, as Ctrl-C ends one worker: each finishes what is in flight, "
            "writes its outputs and hands back the rest. The same commands go on with it. "
            "Exit status: 0, or 2 for bad arguments."
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        workers = source.stop()
        if workers:
            ends = "ends" if workers == 1 else "end"
            tell(f"{plural(workers, 'worker')} of {source.name} {ends} within seconds.", sys.stdout)
        else:
            tell(f"Nobody works on {source.name}: there is nothing to stop.", sys.stdout)
        return 0
