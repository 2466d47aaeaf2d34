"""``bench cluster``: the other side, a stock CrawlSpider on scrapy-redis' scheduler, one worker.

What it costs itself is measured as in ``bench crawl``. What it costs Redis is what the server
counts: commands, and the processor's time. The bytes of a URL are those of the key that holds
them: of seen ones after the crawl, of queued ones after a crawl that stops early.

``python -m bench.cluster_stock --pages 2000`` measures it alone, on a server of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis import Redis

from bench.crawlers import OUTPUT, missing, read_pages
from bench.measure import PROJECT, Cost, CrawlFailed, Result, best, environment, ratio, run
from bench.options import OneLineParser, count
from bench.server import NoServer, serve
from bench.site import ALONE, Site
from crawlproject.errors import BadRedis
from crawlproject.frontier.redis.binary import Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = "scrapy-redis"
_SPIDER = PROJECT / "bench" / "cluster_stock_spider.py"
_SEEN, _QUEUED = "redis_stock:dupefilter", "redis_stock:requests"
_LIMIT_SECONDS = 60.0
_LIMIT_SECONDS_A_PAGE = 0.5
# Pages after which the queue is looked at: a few bring hundreds of URLs.
_EARLY_PAGES = 20
# What clients ask when they connect, and what is asked here.
_NOT_COUNTED = frozenset({"client", "hello", "ping", "info", "config", "config|resetstat"})


@dataclass(frozen=True, slots=True)
class RedisUse:
    """What a crawl of so many pages has cost a Redis."""

    pages: int
    commands: int
    # Four commands of scrapy-redis go together, between MULTI and EXEC; any other goes alone.
    round_trips: int
    cpu_seconds: float
    bytes_a_seen_url: float | None = None
    bytes_a_queued_url: float | None = None

    def figures(self) -> dict[str, float | None]:
        return {
            "commands_a_page": ratio(self.commands, self.pages),
            "round_trips_a_page": ratio(self.round_trips, self.pages),
            "cpu_ms_a_page": ratio(1000 * self.cpu_seconds, self.pages),
            "bytes_a_seen_url": self.bytes_a_seen_url,
            "bytes_a_queued_url": self.bytes_a_queued_url,
        }


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison; its figures have the names that ``bench crawl`` gives them."""

    name: str
    result: Result
    redis: RedisUse
    # How its pages differ from the site's.
    differences: list[str]

    def figures(self) -> dict[str, Any]:
        return {
            "pages": self.result.pages,
            **asdict(self.result.cost),
            "pages_per_second": self.result.pages_per_second,
            "cpu_ms_a_page": self.result.cpu_ms_a_page,
            "pages_per_cpu_second": self.result.pages_per_cpu_second,
            "start_up": asdict(self.result.start_up),
            "redis": self.redis.figures(),
        }


def measure(site: Site, url: str, redis_url: str, folder: Path, repeat: int = 1) -> Side:
    """Crawl the site at ``url`` by way of a Redis, which is emptied. Raises CrawlFailed."""
    pages = len(site.paths)
    limit = _LIMIT_SECONDS + pages * _LIMIT_SECONDS_A_PAGE
    client: Any = Redis.from_url(redis_url)
    try:
        start_up: list[Cost] = []
        costs: list[Cost] = []
        for turn in range(repeat):
            client.flushall()
            start_up.append(_crawl(url + ALONE, redis_url, folder / f"alone-{turn}", limit))
        client.flushall()
        early = ("-s", f"CLOSESPIDER_PAGECOUNT={_EARLY_PAGES}")
        _crawl(url, redis_url, folder / "early", limit, *early)
        queued = _bytes_each(client, _QUEUED, client.zcard(_QUEUED))
        uses: list[RedisUse] = []
        for turn in range(repeat):
            client.flushall()
            with _counted(client, pages) as counts:
                costs.append(_crawl(url, redis_url, folder / f"site-{turn}", limit))
            uses += counts
        seen = _bytes_each(client, _SEEN, client.scard(_SEEN))
    finally:
        client.close()
    use = min(uses, key=lambda one: one.cpu_seconds)
    expected = {url + path.lstrip("/") for path in site.paths}
    return Side(
        NAME,
        Result(pages, best(costs), best(start_up)),
        RedisUse(pages, use.commands, use.round_trips, use.cpu_seconds, seen, queued),
        list(missing(NAME, read_pages(folder / "site-0"), expected)),
    )


def _crawl(seed: str, redis_url: str, folder: Path, limit: float, *options: str) -> Cost:
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "scrapy", "runspider", str(_SPIDER), "-a", f"seed={seed}"]
    return run(
        [*command, "-s", f"REDIS_URL={redis_url}", "-O", OUTPUT, *options],
        cwd=folder,
        environment=environment(PYTHONPATH=str(PROJECT)),
        limit_seconds=limit,
    )


@contextmanager
def _counted(client: Any, pages: int) -> Iterator[list[RedisUse]]:
    """What the server does for others in the block; the list has it when the block has ended."""
    uses: list[RedisUse] = []
    client.config_resetstat()
    before = _cpu_seconds(client)
    yield uses
    cpu_seconds = _cpu_seconds(client) - before
    calls = {
        name.removeprefix("cmdstat_"): figures["calls"]
        for name, figures in client.info("commandstats").items()
    }
    commands = sum(number for name, number in calls.items() if name not in _NOT_COUNTED)
    uses.append(RedisUse(pages, commands, commands - 3 * calls.get("exec", 0), cpu_seconds))


def _cpu_seconds(client: Any) -> float:
    used = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])


def _bytes_each(client: Any, key: str, members: int) -> float | None:
    # 0: not a sample of its members, but all.
    return ratio(client.memory_usage(key, samples=0) or 0, members)


def main(arguments: Sequence[str]) -> int:
    parser = OneLineParser(prog="bench.cluster_stock", allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pages", type=count, default=2000, help="of the site (%(default)s)")
    parser.add_argument("--repeat", type=count, default=1, help="runs (%(default)s)")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            site, root = Site(options.pages), folder / "site"
            root.mkdir()
            site.write(root)
            redis = Server(options={"appendonly": "no"})
            with serve(root, folder / "server") as served, redis:
                side = measure(site, served.url, redis.url, folder / "runs", options.repeat)
    except (CrawlFailed, NoServer, BadRedis) as error:
        print(f"bench.cluster_stock: error: {error}", file=sys.stderr)
        return 1
    print(json.dumps({side.name: side.figures(), "differences": side.differences}, indent=2))
    return 1 if side.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
