"""``bench frontier``: what one side does, measured in a process of its own.

``python -m bench.frontier_side SIDE fill|reopen URLS HOSTS`` works on the folder ``crawl`` of
the current one, and writes what it measured to ``figures.json``.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bench.measure import disk_bytes, ratio, resident_mb
from bench.workload import LINKS, NEW_LINKS, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    # None: too little was done to tell.
    Figures = dict[str, float | None]

OURS, STOCK, STOCK_JOBDIR = "ours", "stock", "stock-jobdir"
SIDES = (OURS, STOCK, STOCK_JOBDIR)
FIGURES = "figures.json"
_FOLDER = "crawl"

# Enough to know a rate, as many as they are.
_MOST_PAGES = 2_000
_MOST_TAKEN = 20_000
# Whoever is slow need not do it all.
_ENOUGH_SECONDS = 10.0


class Side(Protocol):
    def open(self) -> None: ...

    def bring(self, urls: list[str]) -> None:
        """A page is done, and has these links."""

    def take(self) -> bool:
        """Take a URL and be done with it; whether there was one."""

    def commit(self) -> None: ...

    def queued(self) -> int: ...

    def close(self) -> None: ...


def _side(name: str) -> Side:
    # One side must not load what the other needs: its memory is measured.
    if name == OURS:
        from bench.frontier_ours import Ours

        return Ours(Path(_FOLDER))
    from bench.frontier_stock import Stock

    return Stock(Path(_FOLDER) if name == STOCK_JOBDIR else None)


def fill(name: str, workload: Workload) -> Figures:
    side = _side(name)
    side.open()
    empty = resident_mb()
    # All of them, however long it takes: what follows depends on how many are known.
    seconds, _ = _timed((partial(side.bring, urls) for urls in workload.new()), side)
    figures: Figures = {
        "new_a_second": ratio(workload.urls, seconds),
        "queued": side.queued(),
        "resident_mb": resident_mb() - empty,
    }
    if name != STOCK:
        figures["running_bytes_a_url"] = disk_bytes(Path(_FOLDER)) / workload.urls
    pages = min(_MOST_PAGES, 1 + workload.urls // NEW_LINKS)
    seconds, pages = _timed(
        (partial(side.bring, urls) for urls in workload.mostly_known(pages)),
        side,
        _ENOUGH_SECONDS,
    )
    figures["known_a_second"] = ratio(pages * LINKS, seconds)
    seconds, taken = _timed((side.take for _ in range(_MOST_TAKEN)), side, _ENOUGH_SECONDS)
    figures["taken_a_second"] = ratio(taken, seconds)
    figures["left"] = side.queued()
    side.close()
    if name != STOCK:
        figures["closed_bytes_a_url"] = disk_bytes(Path(_FOLDER)) / workload.urls
    return figures


def reopen(name: str) -> Figures:
    """Open what ``fill`` has left, in a process that knows nothing of it."""
    side = _side(name)
    before = resident_mb()
    started = time.perf_counter()
    side.open()
    figures: Figures = {
        "reopen_seconds": time.perf_counter() - started,
        "reopened_mb": resident_mb() - before,
        "reopened_queued": side.queued(),
    }
    side.close()
    return figures


def _timed(
    steps: Iterable[Callable[[], bool | None]], side: Side, enough: float = float("inf")
) -> tuple[float, int]:
    """Seconds of the processor that the steps take, and how many there were."""
    spent, done = 0.0, 0
    # What it takes to make a step up is not counted.
    for step in steps:
        started = time.process_time()
        went_on = step()
        spent += time.process_time() - started
        if went_on is False:
            break
        done += 1
        if spent > enough:
            break
    started = time.process_time()
    side.commit()
    return spent + time.process_time() - started, done


def main(name: str, what: str, urls: str, hosts: str) -> None:
    figures = reopen(name) if what == "reopen" else fill(name, Workload(int(urls), int(hosts)))
    Path(FIGURES).write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
