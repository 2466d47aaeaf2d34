"""``bench polite``: how much of its time a broad crawl spends waiting for nobody.

Many small hosts, each asked once a delay: what one of them needs at least is what all of them
together should need. Judged by the server's log, from the first request to the end of the
last, robots.txt included. A host that is asked too soon is an error.

With ``--silent-names`` hosts have names, and as many more names are asked for as is said, whose
name server never answers. Links do not wait for all seeds then (SCOPE_FOLLOW_SEED_REDIRECTS).

With ``--limits`` one host is crawled with different delays, rates and concurrencies.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench import polite_limits
from bench.measure import PROJECT, CrawlFailed, environment, run
from bench.options import OneLineParser, count, seconds
from bench.polite_log import judge
from bench.polite_server import MOST_HOSTS, address, requests_in, serving
from bench.server import NoServer
from crawlproject.frontier.redis.binary import Server
from tests.dns_server import SILENT, Name, NameServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.measure import Cost
    from bench.polite_log import Asked, Judgement

_WANTED, _WANTED_AMONG_SILENT = 0.95, 0.9
# Far more than a crawl needs that does everything one after the other.
_LIMIT_SECONDS = 120.0
_LIMIT_TIMES = 10


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="bench polite", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--hosts", type=count, default=300, help="(%(default)s)")
    parser.add_argument("--pages", type=count, default=5, help="of each host (%(default)s)")
    parser.add_argument("--delay", type=seconds, default=1.0, help="seconds (%(default)s)")
    parser.add_argument(
        "--answer", type=seconds, default=0.05, help="seconds that each takes (%(default)s)"
    )
    # More than can be sent while the first answer comes, or the beginning waits for answers.
    parser.add_argument(
        "--workers", type=count, default=200, help="requests under way, at most (%(default)s)"
    )
    parser.add_argument(
        "--silent-names", type=count, default=0, help="names that are never answered (none)"
    )
    parser.add_argument(
        "--limits", action="store_true", help="one host with different delays, rates, concurrencies"
    )
    parser.add_argument(
        "--shared", action="store_true", help="with --limits: the frontier in a Redis"
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.limits:
        if not options.shared:
            return polite_limits.main()
        with Server() as redis:
            return polite_limits.main([f"REDIS_URL={redis.url}"])
    if options.hosts > MOST_HOSTS:
        parser.error(f"argument --hosts: {options.hosts} are more than {MOST_HOSTS}")
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            cost, log = _crawl(options, Path(name))
        _check(log, options.hosts, options.pages)
    except (CrawlFailed, NoServer) as error:
        print(f"bench polite: error: {error}", file=sys.stderr)
        return 1
    judgement = judge(log, options.delay)
    _show(options, cost, judgement)
    return 1 if judgement.too_soon else 0


def _crawl(options: argparse.Namespace, folder: Path) -> tuple[Cost, list[Asked]]:
    log = folder / "log.jsonl"
    with serving(options.hosts, options.pages, options.answer, log) as port:
        print(f"bench: crawling {options.hosts} hosts …", file=sys.stderr, flush=True)
        addresses = [address(number) for number in range(options.hosts)]
        if options.silent_names:
            named = {f"host{number}.test": Name(one) for number, one in enumerate(addresses)}
            silent = [f"silent{number}.test" for number in range(options.silent_names)]
            # A silent one before each other, as long as there are some.
            pairs = zip_longest(silent, named)
            seeds = _write_seeds(folder, port, [name for pair in pairs for name in pair if name])
            with NameServer({**named, **dict.fromkeys(silent, SILENT)}) as server:
                cost = _run(
                    options,
                    folder,
                    seeds,
                    f"POLITENESS_NAME_SERVERS={server.address}",
                    "SCOPE_FOLLOW_SEED_REDIRECTS=False",
                )
        else:
            cost = _run(options, folder, _write_seeds(folder, port, addresses))
    return cost, requests_in(log)


def _write_seeds(folder: Path, port: str, hosts: Sequence[str]) -> Path:
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"http://{host}:{port}/\n" for host in hosts), encoding="utf-8")
    return seeds


def _run(options: argparse.Namespace, folder: Path, seeds: Path, *settings: str) -> Cost:
    needed = (options.pages + 1) * (options.delay + options.answer)
    return run(
        [
            *(sys.executable, "-m", "scrapy", "crawl", "site"),
            *("-a", f"seeds_file={seeds}"),
            # Else the first pages of a host are asked for together, and its time is another.
            *("-a", f"delay={options.delay}", "-a", "concurrency=1"),
            *("-a", f"workers={options.workers}"),
            *("-a", "sitemaps=never"),
            *("-s", "AUTOTHROTTLE_ENABLED=False"),
            *("-s", f"JOBDIR={folder / 'crawl'}"),
            *(word for setting in settings for word in ("-s", setting)),
            *("-O", str(folder / "pages.jsonl")),
        ],
        cwd=folder,
        environment=environment(
            PYTHONPATH=str(PROJECT), SCRAPY_SETTINGS_MODULE="crawlproject.settings"
        ),
        limit_seconds=_LIMIT_SECONDS + _LIMIT_TIMES * needed,
    )


def _check(log: list[Asked], hosts: int, pages: int) -> None:
    """Raise CrawlFailed unless each host was asked for each page, and robots.txt, once."""
    paths = {"/robots.txt", "/", *(f"/{page}.html" for page in range(1, pages))}
    expected = {(address(number), path) for number in range(hosts) for path in paths}
    asked = {(request.host, request.path) for request in log}
    if asked != expected or len(log) != len(expected):
        raise CrawlFailed(
            f"{len(expected)} requests were expected, {len(log)} came: {len(expected - asked)} "
            f"are missing, {len(asked - expected)} were for something else, "
            f"{len(log) - len(asked)} came again"
        )


def _show(options: argparse.Namespace, cost: Cost, judgement: Judgement) -> None:
    title = (
        f"{options.hosts:,} hosts, {options.pages} pages each, {options.delay:g} s between them, "
        f"{options.answer * 1000:g} ms an answer"
    )
    if options.silent_names:
        title += f", and {options.silent_names:,} names that are never answered"
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    wanted = _WANTED_AMONG_SILENT if options.silent_names else _WANTED
    is_met = "met" if judgement.utilisation >= wanted else "not met"
    for what, figure in (
        ("requests", f"{judgement.requests:,}"),
        ("seconds that a host needs at least", f"{judgement.ideal_seconds:.2f}"),
        ("seconds that it took", f"{judgement.actual_seconds:.2f}"),
        ("… until the last host was asked first", f"{judgement.beginning_seconds:.2f}"),
        (f"utilisation (≥ {wanted:.0%}: {is_met})", f"{judgement.utilisation:.1%}"),
        ("… of a host's own time, on average", f"{judgement.host_utilisation:.1%}"),
        ("asked too soon (0)", f"{judgement.too_soon:,}"),
        ("… while another was under way (0)", f"{judgement.overlapping:,}"),
        ("seconds of the processor, with start-up", f"{cost.cpu_seconds:.2f}"),
        ("MB of memory at most", f"{cost.peak_rss_mb:.0f}"),
    ):
        table.add_row(what, figure)
    Console(highlight=False, soft_wrap=True).print(table)
    if judgement.too_soon:
        print("bench polite: error: a host was asked too soon", file=sys.stderr)
