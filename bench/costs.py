"""``bench duplicates``: what it costs to compare a page of 600 words with others, step by step."""

from __future__ import annotations

import hashlib
import tempfile
import time
import zlib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from datasketch import MinHash, MinHashLSH
from scrapy.http import HtmlResponse

from bench import tongues
from bench.corpus import SHINGLE, Press
from bench.finders import SIZE, THRESHOLD, Ours, shingles_of, words_of
from bench.signatures import PLANTED, fill
from crawlproject.frontier.database import connect, connect_to_memory
from crawlproject.pages import words
from crawlproject.pages.signatures import BUILTIN, signature_backend
from crawlproject.pages.text import main_text
from crawlproject.pipelines.clusters import duplicates
from crawlproject.urls.document import document, survey

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    Steps = dict[str, float]

_T = TypeVar("_T")

WORDS = 600
_PARAGRAPH = 75
_REPEAT = 5
_CLUSTERED = 5_000
_HEADERS = {"Content-Type": "text/html; charset=utf-8"}

PARSED = ("parse", "survey of the elements")
OURS = (
    *("main text", "words", "signature", "hash of the body", "kept in SQLite"),
    "compared at the end",
)
# What datasketch does, too.
COMPARED = ("words", "signature", "compared at the end")
PLAIN, TUNED = "datasketch, used plainly", "datasketch, template copy and pre-hashed shingles"


def bodies(pages: int) -> list[bytes]:
    """Pages of 600 words, on sites of all templates."""
    random = Random(1)  # noqa: S311  (to be the same each time is the point)
    press = Press(random)
    tongue = tongues.ENGLISH
    sizes = [6, *[_PARAGRAPH] * ((WORDS - 6) // _PARAGRAPH)]
    sizes.append(WORDS - sum(sizes))
    return [
        press.page(
            page, "", tongue, [tongue.tokens(random, size) for size in sizes], page
        ).html.encode()
        for page in range(pages)
    ]


def measured(pages: int) -> Steps:
    """Microseconds of the processor a page: the least of several runs, each step by itself."""
    htmls = bodies(pages)
    best: Steps = {}
    for _ in range(_REPEAT):
        for steps in (_ours(htmls), _theirs(htmls)):
            for step, spent in steps.items():
                best[step] = min(best.get(step, spent), spent)
    return {step: 1e6 * spent / pages for step, spent in best.items()} | {
        OURS[-1]: 1e6 * _compared() / _CLUSTERED
    }


class _Watch:
    def __init__(self) -> None:
        self.spent: Steps = {}

    def run(self, step: str, work: Callable[[], _T]) -> _T:
        started = time.process_time()
        result = work()
        self.spent[step] = self.spent.get(step, 0.0) + time.process_time() - started
        return result


def _ours(htmls: Sequence[bytes]) -> Steps:
    """As a crawl does it: a page after the other, and one transaction for all of them."""
    watch, ours = _Watch(), Ours()
    contents: list[tuple[int, bytes, bytes | None]] = []
    for number, html in enumerate(htmls):
        response = HtmlResponse("http://site.example/", body=html, headers=_HEADERS)
        watch.run(PARSED[0], lambda: document(response))  # noqa: B023  (it is called at once)
        watch.run(PARSED[1], lambda: survey(response))  # noqa: B023
        text = watch.run(OURS[0], lambda: main_text(response)).own  # noqa: B023
        watch.run(OURS[1], lambda: words.words_of(text))  # noqa: B023
        # The words are known by then.
        signature = watch.run(OURS[2], lambda: ours.signature(text))  # noqa: B023
        digest = watch.run(OURS[3], lambda: hashlib.sha256(html).digest())  # noqa: B023
        contents.append((number, digest, signature))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        database = connect(Path(folder))
        watch.run(OURS[4], lambda: _keep(database, contents))
        database.close()
    return watch.spent


def _keep(database: sqlite3.Connection, contents: list[tuple[int, bytes, bytes | None]]) -> None:
    database.execute("BEGIN")
    database.executemany("INSERT INTO contents VALUES (?, ?, ?)", contents)
    database.execute("COMMIT")


def _compared() -> float:
    """Seconds that it takes to find the near-duplicates of some pages, when they are all there."""
    database = connect_to_memory()
    fill(database, PLANTED, _CLUSTERED)

    def compare() -> float:
        started = time.process_time()
        for _ in duplicates(
            database, threshold=THRESHOLD, signatures=signature_backend(BUILTIN, SIZE)
        ):
            pass
        return time.process_time() - started

    best = min(compare() for _ in range(_REPEAT))
    database.close()
    return best


def _theirs(htmls: Sequence[bytes]) -> Steps:
    """From the same texts: words, shingles, signature, index."""
    watch = _Watch()
    texts = [
        main_text(HtmlResponse("http://site.example/", body=html, headers=_HEADERS)).own
        for html in htmls
    ]
    empty = MinHash(SIZE, hashfunc=int)
    for step, sign in ((PLAIN, _plain), (TUNED, lambda text: _tuned(text, empty))):
        index = MinHashLSH(THRESHOLD, SIZE)
        for number, text in enumerate(texts):
            signature = watch.run(step, lambda: sign(text))  # noqa: B023  (it is called at once)
            watch.run(step, lambda: index.query(signature))  # noqa: B023
            watch.run(step, lambda: index.insert(number, signature))  # noqa: B023
    return watch.spent


def _plain(text: str) -> MinHash:
    signature = MinHash(SIZE)
    for shingle in shingles_of(text):
        signature.update(shingle)
    return signature


def _tuned(text: str, empty: MinHash) -> MinHash:
    words = [zlib.crc32(word.encode()) for word in words_of(text)]
    values = np.array(words, np.uint64)
    count = len(values) - SHINGLE + 1
    shingles = sum(values[place : place + count] * np.uint64(31**place) for place in range(SHINGLE))
    signature = empty.copy()
    signature.update_batch(np.unique(np.asarray(shingles) & np.uint64(0xFFFFFFFF)).tolist())
    return signature
