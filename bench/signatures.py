"""``bench duplicates``: a crawl of many pages, compared at its end, in a process of its own.

``python -m bench.signatures KIND PAGES`` makes a crawl directory in the current folder, with the
rows that a crawl would have left, and writes what it measured to ``figures.json``. Texts are sets
of made-up shingles: to write and to read so many pages would take an hour.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.finders import SIZE, THRESHOLD
from bench.measure import disk_bytes, forget_peak, peak_mb, resident_mb
from crawlproject.frontier.database import connect
from crawlproject.pages.signatures import BUILTIN, signature_backend
from crawlproject.pipelines.clusters import duplicates

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Shingles = NDArray[np.uint32]

FIGURES = "figures.json"
PLANTED, ALIKE, TEMPLATE, MOSTLY_TEMPLATE = "planted", "alike", "template", "mostly-template"
KINDS = {
    PLANTED: "no page like another, but for planted ones",
    ALIKE: "all near-duplicates of one",
    TEMPLATE: "60 to 80 % of each page a template",
    MOSTLY_TEMPLATE: "90 % of each page a template",
}

_FOLDER = Path("crawl")
# One of so many pages is a near-duplicate of the one before.
_EVERY = 100
# A part of the shingles that is another: similarity is 0.98, so that no estimate is too low.
_EDITED = 0.01
_AT_ONCE = 10_000
_DEPTH = 7
SIGNATURES = signature_backend(BUILTIN, SIZE)


class MadeUp:
    """A set of shingles that are numbers of no text."""

    def __init__(self, numbers: Shingles) -> None:
        self._numbers = numbers

    def numbers(self) -> Shingles:
        return self._numbers

    def texts(self) -> set[bytes]:
        return {b"%d" % number for number in self._numbers.tolist()}


def pages(kind: str, count: int) -> Iterator[Shingles]:
    random = np.random.default_rng(1)

    def fresh(size: int) -> Shingles:
        return random.integers(0, 1 << 32, size, dtype=np.uint32)

    template = last = fresh(600)
    for number in range(count):
        # As on the web: most have a few hundred words, some have ten times as many.
        size = int(random.lognormal(5.8, 0.8)) + 30
        if kind == ALIKE:
            shingles = template.copy()
            shingles[: int(600 * _EDITED)] = fresh(int(600 * _EDITED))
        elif kind in {TEMPLATE, MOSTLY_TEMPLATE}:
            part = random.uniform(0.6, 0.8) if kind == TEMPLATE else 0.9
            shingles = np.concatenate((template, fresh(int(600 / part) - 600)))
        elif is_planted(number):
            shingles = last.copy()
            edited = int(len(shingles) * _EDITED)
            shingles[:edited] = fresh(edited)
        else:
            shingles = fresh(size)
        last = shingles
        yield shingles


def is_planted(number: int) -> bool:
    return number % _EVERY == 1


def fill(database: sqlite3.Connection, kind: str, count: int) -> None:
    """The rows that a crawl would have left. URLs are in no order."""
    for number, shingles in enumerate(pages(kind, count), 1):
        if number % _AT_ONCE == 1:
            database.execute("BEGIN")
        url = f"https://site.example/{number * 0x9E3779B1 % (1 << 32):08x}/page-{number}.html"
        database.execute(
            "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank) "
            "VALUES (?, ?, ?, 2, ?, 0, ?)",
            (number, number, url, number % _DEPTH, number),
        )
        database.execute("INSERT INTO pages VALUES (?, '{}', NULL)", (number,))
        database.execute(
            "INSERT INTO contents VALUES (?, ?, ?)",
            (number, number.to_bytes(32, "big"), SIGNATURES.sign(MadeUp(shingles))),
        )
        if number % _AT_ONCE == 0 or number == count:
            database.execute("COMMIT")


def missed(kind: str, count: int, found: list[tuple[int, int]]) -> int:
    """How many near-duplicates were not found, or are none."""
    if kind == ALIKE:
        return abs(count - 1 - len(found))
    if kind != PLANTED:
        return len(found)
    # Numbers of pages from 0 on; their ids are one more.
    expected = {(number, number + 1) for number in range(count) if is_planted(number)}
    return len(expected ^ {(min(pair), max(pair)) for pair in found})


def main(kind: str, pages: str) -> None:
    count = int(pages)
    _FOLDER.mkdir()
    database = connect(_FOLDER, is_lasting=False)
    fill(database, kind, count)
    database.close()
    kept = disk_bytes(_FOLDER)
    database = connect(_FOLDER)
    before = resident_mb()
    forget_peak()
    started, wall = time.process_time(), time.perf_counter()
    found = [
        (mark.page, mark.of)
        for mark in duplicates(database, threshold=THRESHOLD, signatures=SIGNATURES)
    ]
    figures = {
        "cpu_seconds": time.process_time() - started,
        "wall_seconds": time.perf_counter() - wall,
        "peak_mb": peak_mb(),
        "more_mb": peak_mb() - before,
        "disk_mb": kept / 1024 / 1024,
        "found": len(found),
        "missed": missed(kind, count, found),
    }
    Path(FIGURES).write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
