"""``bench links``: finding the links of a page, by our extractor and by Scrapy's.

Each page is new to the extractor, as in a crawl; parsing is included. The two take turns,
fifty pages each, so that a slower moment of the machine is slower for both, and neither
spends its time on what the other has put into the processor's caches.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from bench.options import OneLineParser, count
from bench.site import Site
from crawlproject.urls.links import FastLinkExtractor

if TYPE_CHECKING:
    from collections.abc import Sequence

_ORIGIN = "http://site.example"
_HEADERS = {"Content-Type": "text/html; charset=utf-8"}
_TURN = 50


def main(arguments: Sequence[str]) -> int:
    parser = OneLineParser(prog="bench links", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pages", type=count, default=1000, help="(%(default)s)")
    pages: int = parser.parse_args(arguments).pages
    site = Site(pages)
    extractors = {
        "Scrapy's LinkExtractor": LinkExtractor(),
        "ours": FastLinkExtractor(),
    }
    seconds = dict.fromkeys(extractors, 0.0)
    for start in range(0, pages, _TURN):
        turn = range(start, min(start + _TURN, pages))
        bodies = {site.paths[number]: site.html(number).encode() for number in turn}
        for name, extractor in extractors.items():
            seconds[name] += _extract(extractor, bodies)
    _show(pages, seconds)
    return 0


def _extract(extractor: Any, bodies: dict[str, bytes]) -> float:
    """Seconds of the processor that it takes to find the links of some pages."""
    seconds = 0.0
    for path, body in bodies.items():
        response = HtmlResponse(_ORIGIN + path, body=body, headers=_HEADERS)
        started = time.process_time()
        extractor.extract_links(response)
        seconds += time.process_time() - started
    return seconds


def _show(pages: int, seconds: dict[str, float]) -> None:
    table = Table(title=f"{pages:,} pages, 25 KB and 60 links each", title_justify="left")
    for heading in ("extractor", "ms a page", "times as fast"):
        table.add_column(heading, justify="left" if heading == "extractor" else "right")
    slowest = max(seconds.values())
    for name, spent in seconds.items():
        table.add_row(name, f"{spent / pages * 1000:.2f}", f"{slowest / spent:.1f}")
    Console().print(table)
