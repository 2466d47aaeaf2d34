"""``scrapy frontier CRAWLDIR``: what a crawl knows, what it waits for, whom it asks how often.

``docs/usage.md`` says what each key of ``--json`` means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.account import host_account, skip_words
from crawlproject.commands.crew import WORKERS, fleet_words, worker_rows
from crawlproject.commands.inquiry import Inquiry, write_json
from crawlproject.commands.sheet import Sheet
from crawlproject.commands.times import distance, iso, moment_of
from crawlproject.commands.wording import delay_words
from crawlproject.errors import BadArgument
from crawlproject.frontier import clock, overview
from crawlproject.monitoring.ending import plural, size
from crawlproject.monitoring.limits import limits_of

if TYPE_CHECKING:
    import argparse
    import sqlite3

    from crawlproject.frontier.redis.fleet import Fleet
    from crawlproject.frontier.source import Source
    from crawlproject.monitoring.ending import Limits

_ROWS = 10


class Command(Inquiry, ScrapyCommand):
    name = "frontier"
    options: ClassVar[tuple[str, ...]] = ("--json", "--hosts")

    def short_desc(self) -> str:
        return "Show what a crawl knows: URLs by state, hosts, budgets"

    def long_desc(self) -> str:
        return (
            "Show what a crawl knows: URLs by state, skipped ones by reason, the hosts with the "
            "longest queues and with the most requests, robots.txt, full budgets, seeds. "
            "Of a shared crawl also its workers. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0, or 2 for bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--hosts",
            metavar="N",
            default=str(_ROWS),
            help=f"rows of a list (default: {_ROWS}); 0: no hosts",
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        if not (opts.hosts.isascii() and opts.hosts.isdigit() and len(opts.hosts) < 10):
            raise BadArgument("--hosts", f"{opts.hosts!r} is not a number of rows, such as 20")
        now = clock.now()
        with source.opened(with_pages=False) as database:
            values = _values(database, int(opts.hosts), now)
            limits = limits_of(database, self.settings)
        values = {
            "directory": None if source.folder is None else str(source.folder),
            "bytes": source.size(),
            "running": source.running(),
            **values,
            "fleet": _fleet(source.fleet()),
        }
        if opts.json:
            write_json(values)
            return 0
        _draw(source.name, values, limits, now)
        return 0


def _fleet(fleet: Fleet | None) -> dict[str, Any] | None:
    if fleet is None:
        return None
    return {**fleet._asdict(), "workers": [worker._asdict() for worker in fleet.workers]}


def _values(database: sqlite3.Connection, rows: int, now: float) -> dict[str, Any]:
    counts = overview.count(database)
    in_skips = sum(counts.skipped.values())
    states = {
        "queued": counts.queued,
        "leased": counts.leased,
        "done": counts.done,
        "failed": counts.failed,
        "skipped": in_skips,
    }
    waiting = overview.waiting(database)
    hosts, not_ready = overview.hosts_in_all(database, now)
    # Who wants no hosts wants the rest.
    others = rows or _ROWS
    number, first = overview.seeds(database, others)
    return {
        "urls": {**states, "total": sum(states.values())},
        "redirects": overview.redirects(database),
        "waiting": {
            "retry": waiting.retry,
            "level": waiting.level,
            "max_pages": waiting.budget,
        },
        "skipped": dict(sorted(counts.skipped.items(), key=lambda item: (-item[1], item[0]))),
        "hosts": {
            "total": hosts,
            "not_ready": not_ready,
            "longest_queues": [
                host_account(facts) for facts in overview.longest_queues(database, rows)
            ],
            "busiest": [host_account(facts) for facts in overview.busiest_hosts(database, rows)],
        },
        "visits": _visits(database, now),
        "robots": overview.robots(database)._asdict(),
        "full_budgets": [one._asdict() for one in overview.full_budgets(database, others)],
        "seeds": {"total": number, "first": [seed._asdict() for seed in first]},
    }


def _visits(database: sqlite3.Connection, now: float) -> dict[str, Any]:
    last = overview.last_round(database)
    return {
        "due": overview.due_pages(database, now),
        "next_at": iso(overview.next_visit(database)),
        "last_round": None
        if last is None
        else {
            "began_at": iso(last.began_at),
            "visited": last.visited,
            "unchanged": last.unchanged,
            "changes": last.changes,
        },
    }


def _draw(name: str, values: dict[str, Any], limits: Limits, now: float) -> None:
    sheet = Sheet()
    hosts, seeds, fleet = values["hosts"], values["seeds"], values["fleet"]
    taken = "" if values["bytes"] is None else f" ({size(values['bytes'])})"
    sheet.say(
        f"{plural(values['urls']['total'], 'URL')} in {name}{taken}.",
        _running(values["running"]),
        *_robots(values["robots"]),
        *_due(values["visits"], now),
        *([] if fleet is None else fleet_words(fleet)),
    )
    if fleet is not None:
        sheet.table("Workers", "lrrl", WORKERS, worker_rows(fleet))
    sheet.table("URLs", "lrl", (), _states(values))
    sheet.table(
        "Skipped URLs, and what lets them in",
        "rll",
        (),
        [
            (f"{count:,}", *skip_words(reason, limits)[1:])
            for reason, count in values["skipped"].items()
        ],
    )
    sheet.table(
        f"Hosts by queue, of {hosts['total']:,} ({hosts['not_ready']:,} not ready)",
        "lrrll",
        ("host", "queued", "retries", "ready", "delay"),
        [
            (
                host["name"],
                f"{host['queued']:,}",
                f"{host['retries']:,}",
                _ready(host, now),
                _delay(host),
            )
            for host in hosts["longest_queues"]
        ],
    )
    sheet.table(
        "Hosts by requests",
        "lrrll",
        ("host", "requests", "overloaded", "ready", "delay"),
        [
            (
                host["name"],
                f"{host['requests']:,}",
                f"{host['failures']:,}" if host["failures"] else "-",
                _ready(host, now),
                _delay(host),
            )
            for host in hosts["busiest"]
        ],
    )
    sheet.table(
        "Full budgets",
        "rrl",
        ("spent", "turned away", ""),
        [
            (
                "-" if budget["spent"] is None else f"{budget['spent']:,}",
                f"{budget['turned_away']:,}",
                budget["rule"],
            )
            for budget in values["full_budgets"]
        ],
    )
    sheet.table(
        "Seeds",
        "ll",
        (),
        [(seed["state"], seed["url"]) for seed in seeds["first"]],
        seeds["total"] - len(seeds["first"]),
    )
    sheet.write()


def _running(running: int | list[str] | None) -> str:
    if running is None:
        return "No crawl runs here now."
    if isinstance(running, int):
        return f"Process {running} crawls here now."
    return f"{plural(len(running), 'worker')} crawl{'s' if len(running) == 1 else ''} here now."


def _states(values: dict[str, Any]) -> list[tuple[str, str, str]]:
    waiting = values["waiting"]
    notes = {
        "queued": ", ".join(
            f"{count:,} {words}"
            for count, words in (
                (waiting["retry"], "to be tried again later"),
                (waiting["level"], "that wait for their level"),
                (waiting["max_pages"], "beyond max_pages"),
            )
            if count
        ),
        "done": _redirects(values["redirects"]),
        "leased": ""
        if values["running"] or not values["urls"]["leased"]
        else "by a run that was killed: the next one fetches them again",
    }
    return [
        (state, f"{count:,}", notes.get(state, ""))
        for state, count in values["urls"].items()
        if state != "total"
    ]


def _redirects(count: int) -> str:
    return f"{count:,} of them redirect{'s' if count == 1 else ''}" if count else ""


def _robots(robots: dict[str, int]) -> list[str]:
    if not robots["origins"]:
        return []
    awaited = robots["awaited"]
    lost = robots["unreachable"] - awaited
    rest = f"; {lost:,} could not be had, so nothing is fetched there" if lost else ""
    rest += f"; {awaited:,} could not be had yet and will be tried again" if awaited else ""
    return [f"robots.txt was asked of {plural(robots['origins'], 'origin')}{rest}."]


def _due(visits: dict[str, Any], now: float) -> list[str]:
    """When a crawl that is started again would visit something."""
    moment = moment_of(visits["next_at"])
    if visits["due"]:
        return [f"{plural(visits['due'], 'page')} {'is' if visits['due'] == 1 else 'are'} due."]
    return [] if moment is None else [f"No page is due: the next one is, {distance(moment, now)}."]


def _ready(host: dict[str, Any], now: float) -> str:
    moment = moment_of(host["ready_at"])
    return "now" if moment is None or moment <= now else distance(moment, now)


def _delay(host: dict[str, Any]) -> str:
    words = delay_words(host)
    return words.removeprefix("delay ") or "-"
