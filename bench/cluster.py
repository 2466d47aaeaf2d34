"""``bench cluster``: our crawl on a shared Redis, by one worker and by two, and scrapy-redis'.

All crawl the site of ``bench crawl``, in turns; each figure is the best of its runs. Start-up is
measured by crawling one page, and left out of the rates. Workers, Redis and the server of the site
share the machine's processors, so what each of them used is told beside: two workers are twice
as fast as one only where the others leave two processors to them. Bytes in Redis are those that
its memory grows by, for pages of the crawl, and for URLs alone in a frontier without pages.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import cluster_stock
from bench.cluster_bytes import measure_bytes
from bench.cluster_ours import measure
from bench.cluster_report import ClusterReport
from bench.comparing import parser_of, run, say, served_site
from bench.options import count
from crawlproject.frontier.redis.binary import Server

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_WORKERS = (1, 2)
# As ``scripts/cluster`` has it, so that what is written to disk counts.
_MEMORY = {"maxmemory": 8 * 1024**3}


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("cluster", __doc__, pages=4000)
    parser.add_argument(
        "--urls", type=count, default=100_000, help="whose bytes are measured (%(default)s)"
    )
    return run(parser, arguments, _compare)


def _compare(options: argparse.Namespace) -> ClusterReport:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        with (
            served_site(options, folder) as (site, served),
            Server(is_socket=True, options=_MEMORY) as server,
        ):
            fleets = measure(site, served, server, folder, _WORKERS, repeat=options.repeat, say=say)
            say("scrapy-redis: one worker")
            stock = cluster_stock.measure(
                site, served.url, server.url, folder / "stock", options.repeat
            )
        with Server(is_socket=True, options=_MEMORY) as server:
            say(f"bytes in Redis of {options.urls} URLs")
            sizes = measure_bytes(server.url, options.urls)
    return ClusterReport(options.pages, options.repeat, served, fleets, stock, sizes)
