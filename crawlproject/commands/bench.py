"""``scrapy bench``: Scrapy's own benchmark with this project's settings, on its local server.

Without a delay: the server is the benchmark's own. ``./scripts/bench`` measures more.
"""

from __future__ import annotations

from scrapy.commands import bench

from crawlproject.commands.single import SINGLE, SingleCommand


class Command(SingleCommand, bench.Command):
    single_settings = {  # noqa: RUF012
        **SINGLE,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "ROBOTSTXT_OBEY": False,
    }
