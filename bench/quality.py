"""``bench duplicates``: how well near-duplicates are found, judged by what is true.

Pages that differ in 2 % of their words are near-duplicates to a user, pages that differ in 4 % are
not; pairs in between are not judged. All finders are given the same texts: the main texts that we
extract from the pages.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from scrapy.http import HtmlResponse

from bench.corpus import truth
from bench.finders import THRESHOLD, Ours, finders
from crawlproject.frontier.database import connect_to_memory
from crawlproject.pages.text import main_text
from crawlproject.pipelines.clusters import duplicates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.corpus import Document
    from bench.finders import Pairs

# True similarity with 2 % of the words changed, here and there: (1 - 0.06) / (1 + 0.06) …
SURE = 0.88
# … and with 4 %, rounded up.
SURE_NOT = 0.80
# What the default is chosen from.
THRESHOLDS = (0.75, 0.8, 0.85, 0.9, 0.95)
_HEADERS = {"Content-Type": "text/html; charset=utf-8"}


class Verdict(NamedTuple):
    name: str
    recall: float
    precision: float
    # None: it is not measured.
    ms_a_page: float | None = None
    signature_bytes: float | None = None
    # How many pairs were not found, by what was done to the texts; most of all first.
    missed: tuple[tuple[tuple[str, str], int], ...] = ()


class Truth:
    """Of pairs of documents, by their numbers."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        families: dict[int, list[int]] = {}
        for number, document in enumerate(documents):
            families.setdefault(document.family, []).append(number)
        # Texts of different families have nothing in common but chance.
        self.alike: Pairs = {
            pair
            for family in families.values()
            for pair in combinations(family, 2)
            if self.of(*pair) >= SURE
        }

    def of(self, one: int, other: int) -> float:
        return truth(self._documents[one], self._documents[other])

    def verdict(self, name: str, found: Pairs) -> Verdict:
        right = len(found & self.alike)
        wrong = sum(self.of(*pair) <= SURE_NOT for pair in found - self.alike)
        missed = Counter(self._kinds(*pair) for pair in self.alike - found)
        return Verdict(
            name,
            _part(right, len(self.alike)),
            _part(right, right + wrong),
            missed=tuple(missed.most_common()),
        )

    def _kinds(self, *pair: int) -> tuple[str, str]:
        one, other = sorted(self._documents[number].kind for number in pair)
        return one, other


class Corpus:
    """Documents with their main texts, and what is true of them."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.texts = [own_text(document.html) for document in documents]
        self.known = Truth(documents)


def by_threshold(corpus: Corpus, backend: str) -> dict[float, Verdict]:
    ours = Ours(backend)
    signatures = [ours.signature(text) for text in corpus.texts]
    return {
        threshold: corpus.known.verdict(ours.name, ours.pairs(signatures, threshold))
        for threshold in THRESHOLDS
    }


def judged(corpus: Corpus) -> list[Verdict]:
    """Ours first."""
    texts, known = corpus.texts, corpus.known
    verdicts = []
    for finder in finders():
        finder.signature(texts[0])  # what is imported or cached once
        started = time.process_time()
        signatures = [finder.signature(text) for text in texts]
        found = finder.pairs(signatures)
        spent = time.process_time() - started
        sizes = [len(signature) for signature in signatures if signature is not None]
        verdicts.append(
            known.verdict(finder.name, found)._replace(
                ms_a_page=1000 * spent / len(texts),
                signature_bytes=sum(sizes) / max(1, len(sizes)),
            )
        )
        if isinstance(finder, Ours):
            verdicts.append(clustered(known, signatures, finder))
    return verdicts


def own_text(html: str) -> str:
    response = HtmlResponse("http://site.example/", body=html.encode(), headers=_HEADERS)
    return main_text(response).own


def clustered(known: Truth, signatures: Sequence[bytes | None], ours: Ours) -> Verdict:
    """What a crawl says at its end: each page is a near-duplicate of one, or a first one."""
    database = connect_to_memory()
    for number, signature in enumerate(signatures):
        # By depth, then by URL: documents come in that order.
        database.execute(
            "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank) "
            "VALUES (?, 0, ?, 2, 0, 0, 0)",
            (number + 1, f"http://site.example/{number:09}"),
        )
        database.execute("INSERT INTO pages VALUES (?, '{}', NULL)", (number + 1,))
        database.execute(
            "INSERT INTO contents VALUES (?, ?, ?)", (number + 1, number.to_bytes(8), signature)
        )
    marks = {
        mark.page - 1: mark.of - 1
        for mark in duplicates(
            database, threshold=THRESHOLD, signatures=ours.parameters.signatures()
        )
    }
    database.close()
    # Whoever is like an earlier first page.
    expected = {page for first, page in known.alike if first not in marks}
    right = sum(known.of(first, page) >= SURE for page, first in marks.items())
    wrong = sum(known.of(first, page) <= SURE_NOT for page, first in marks.items())
    return Verdict(
        f"… {ours.parameters.backend}, as clusters",
        _part(len(expected & marks.keys()), len(expected)),
        _part(right, right + wrong),
    )


def _part(some: int, of: int) -> float:
    return some / of if of else 1.0
