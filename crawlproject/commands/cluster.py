"""``scrapy cluster``: a crawl by several processes of this machine, which share a Redis.

Its options, outputs and exit status are those of ``scrapy crawl``.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

from crawlproject.cluster import Fleet, fleet_of, use_fleet
from crawlproject.cluster.settings import share_bodies, supervise, without_start, worker_options
from crawlproject.cluster.workers import NO_WORKERS, Workers
from crawlproject.commands import crawl
from crawlproject.commands.crawl import STDOUT, collect_no_more, complain, cut_short
from crawlproject.errors import BadArgument, BadInput, BadOutput
from crawlproject.frontier import frontier_of
from crawlproject.scrapy_compat import stats_of

if TYPE_CHECKING:
    import argparse

    from scrapy.crawler import Crawler

    from crawlproject.cluster.whole import Whole
    from crawlproject.commands.outcome import Outcome

# More processes than that are a mistake.
_MOST = 256


class Command(crawl.Command):
    name = "cluster"

    def short_desc(self) -> str:
        return "Run a spider in several processes of this machine, as one crawl"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "-n",
            "--processes",
            metavar="N",
            help=f"how many (one for each processor: {processors()})",
        )
        parser.add_argument(
            "--dir", metavar="DIR", help="the crawl directory, as -s JOBDIR=DIR: it has the Redis"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        self._appended = list(opts.output or ())
        if opts.dir is not None:
            opts.set.append(f"JOBDIR={opts.dir}")
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            count = processes(opts.processes)
            crawler = self.checked_crawler(args, opts)
            self._check_appended(crawler)
            with ExitStack() as stack:
                self._set_up(crawler, args[0], count, opts, stack)
                self.crawl(crawler, opts)
        except BadInput as error:
            complain(str(error), self.name)
            self.exitcode = 2
            collect_no_more()

    def _check_appended(self, crawler: Crawler) -> None:
        """All pages are written at the end of each run, so who goes on would have some twice."""
        settings = crawler.settings
        if not settings["JOBDIR"] and settings["REDIS_URL"] is None:
            return
        for uri in self._appended:
            if not uri.startswith(STDOUT):
                raise BadOutput(
                    f"-o {uri}: the pages of all runs would be appended at the end of each: "
                    f"-O {uri} replaces the file"
                )

    def _set_up(
        self,
        crawler: Crawler,
        spider: str,
        count: int,
        opts: argparse.Namespace,
        stack: ExitStack,
    ) -> None:
        # Here, because nothing else needs it.
        from crawlproject.cluster.server import own_server
        from crawlproject.frontier.redis.address import is_shared, shown
        from crawlproject.frontier.redis.connection import check, connect

        settings = crawler.settings
        jobdir: str | None = settings["JOBDIR"]
        is_own = not is_shared(settings)
        if not is_own:
            url = settings["REDIS_URL"]
            place: str | None = shown(url)
        else:
            url = stack.enter_context(own_server(None if jobdir is None else Path(jobdir)))
            place = jobdir
        folder = jobdir or stack.enter_context(tempfile.TemporaryDirectory(prefix="crawl-"))
        share_bodies(settings, Path(folder))
        supervise(settings, url)
        crawler.spidercls = without_start(crawler.spidercls)
        client = connect(settings)
        stack.callback(client.close)
        # Workers say what is not ideal; here, what is not possible.
        check(client)
        workers = Workers(worker_options(spider, opts, settings), count)
        # Whatever happens, nobody is left behind.
        stack.callback(workers.kill)
        use_fleet(crawler, Fleet(workers, client, is_own, place))

    def exit_status(self, crawler: Crawler, outcome: Outcome, *, bootstrap_failed: bool) -> int:
        if outcome.reason is None and stats_of(crawler) is not None:
            fleet_of(crawler).workers.kill()
            return cut_short(_has_begun(crawler), fleet_of(crawler).place)
        status = super().exit_status(crawler, outcome, bootstrap_failed=bootstrap_failed)
        if not status and outcome.reason == NO_WORKERS:
            complain("all workers have died: the lines above say how", self.name)
            return 1
        return status


def _has_begun(crawler: Crawler) -> bool:
    """Whether a worker has asked for anything."""
    from redis.exceptions import RedisError

    try:
        look = cast("Whole", frontier_of(crawler)).look()
    except (LookupError, RedisError):
        return False
    return bool(look.counts.pages or look.counts.leased)


def processes(given: str | None) -> int:
    """Raises BadArgument."""
    if given is None:
        return processors()
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= _MOST:
        raise BadArgument("-n", f"{given!r} is not a whole number from 1 to {_MOST}")
    return int(given)


def processors() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
