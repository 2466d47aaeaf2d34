"""The list of all pages, in parts; a page has a number by which other lists name it.

Beyond ``MOST_PAGES``, those that other lists name come first, then those that matter most, and the
rest is left out. The same order decides which parts are written first: if the report gets too
large, what is missing is what matters least. Within a part, pages are sorted by URL, which makes it
small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.frontier.entry import depth_of
from crawlproject.monitoring.tally import FINE, OUTCOMES
from crawlproject.report.lists import TEXT_CHARS, URL_CHARS, Kind, cut
from crawlproject.report.page_columns import INDEXABLE, indexable
from crawlproject.report.refs import Refs
from crawlproject.report.structured import names_of
from crawlproject.report.values import NONE, canonical_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crawlproject.records import Record
    from crawlproject.report.lists import Listing
    from crawlproject.report.survey import Survey

MOST_PAGES = 150_000
_PART = 2_000
_AT_ONCE = 500
_DESCRIPTION_CHARS = 200


class PageParts:
    """``numbers`` are those of pages, by the id of their URL; -1: it is not in the report."""

    def __init__(self, survey: Survey, listings: list[Listing], most: int = MOST_PAGES) -> None:
        self._survey = survey
        places = _chosen(survey, listings, most)
        self._parts = [
            self._by_url(places[first : first + _PART]) for first in range(0, len(places), _PART)
        ]
        self.numbers = np.full(len(survey.web.places), -1, np.int32)
        # By place: of pages without an id, too.
        self._by_place = np.full(len(survey.known), -1, np.int32)
        number = 0
        for part in self._parts:
            self._by_place[part] = np.arange(number, number + len(part))
            number += len(part)
        self.numbers[survey.known.ids] = self._by_place
        self.numbers[0] = -1
        self._copies = {mark.page: mark for mark in survey.copies or ()}
        self._data = survey.structured.codes()
        self._indexable = indexable(survey.known)

    def words(self) -> dict[str, list[str]]:
        """What the codes of columns mean."""
        survey = self._survey
        return {
            "answer": survey.answers,
            "outcome": list(OUTCOMES),
            "type": survey.types,
            "language": [cut(language, 40) for language in survey.languages],
            "indexable": list(INDEXABLE),
            "data": list(self._data),
        }

    def forget(self, first: int) -> None:
        """There was no room for this page, and those behind it."""
        self.numbers[self.numbers >= first] = -1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """What is to be written of each part: values by column."""
        return map(self._part, self._parts)

    def _by_url(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        urls = [
            self._survey.reader.url_of(number) if number else ""
            for number in self._survey.ids(places)
        ]
        return places[sorted(range(len(places)), key=urls.__getitem__)]

    def _part(self, places: NDArray[np.int64]) -> dict[str, Any]:
        refs = Refs(self.numbers, self._survey.url)
        columns: dict[str, list[Any]] = {"url": [], **self._numbers(places)}
        texts = (
            "title",
            "description",
            "heading",
            "canonical",
            "duplicate_of",
            "similarity",
            "data",
        )
        columns |= {name: [] for name in (*texts, "sources")}
        for first in range(0, len(places), _AT_ONCE):
            some = places[first : first + _AT_ONCE].tolist()
            records = dict(self._survey.records(some))
            for place in some:
                for name, value in self._texts(place, records.get(place, {}), refs).items():
                    columns[name].append(value)
        columns["texts"] = refs.texts
        return columns

    def _numbers(self, places: NDArray[np.int64]) -> dict[str, list[Any]]:
        survey, known = self._survey, self._survey.known
        is_listed = survey.in_sitemap[known.ids[places]]
        fetched = known.fetched[places]
        return {
            "answer": known.answers[places].tolist(),
            "outcome": known.outcomes[places].tolist(),
            "type": known.types[places].tolist(),
            "language": known.languages[places].tolist(),
            "depth": [depth_of(level) for level in known.levels[places].tolist()],
            "inlinks": survey.web.inlinks[places].tolist(),
            "outlinks": known.outlinks[places].tolist(),
            "rank": _rounded(survey.rank[places]),
            "fetch_ms": _or_none(known.times[places]),
            "bytes": _or_none(known.sizes[places]),
            "words": _or_none(known.words[places]),
            "indexable": self._indexable[places].tolist(),
            "in_sitemap": is_listed.astype(int).tolist(),
            "fetched": [None if at != at else round(at) for at in fetched.tolist()],
        }

    def _types(self, record: Record) -> list[int]:
        """All that are counted, so that a figure leads to the pages that it counts."""
        names = sorted(set(names_of(record.get("structured_data"))))
        return [self._data[name] for name in names if name in self._data]

    def _texts(self, place: int, record: Record, refs: Refs) -> dict[str, Any]:
        survey, known = self._survey, self._survey.known
        number = int(known.ids[place])
        canonical = int(known.canonicals[place]) or cut(canonical_of(record) or "", URL_CHARS)
        mark = self._copies.get(number) if number else None
        url = survey.url(number) if number else cut(text_of(record.get("url")) or "", URL_CHARS)
        sources = self._by_place[survey.web.first.of(place)].tolist() if number else []
        similarity = None if mark is None else mark.similarity
        return {
            "url": url,
            "title": _cut_or_none(record.get("title"), TEXT_CHARS),
            "description": _cut_or_none(record.get("description"), _DESCRIPTION_CHARS),
            "heading": _cut_or_none(_heading(record), _DESCRIPTION_CHARS),
            "canonical": refs(canonical),
            "duplicate_of": None if mark is None else refs(mark.of),
            "similarity": 1 if mark is not None and similarity is None else similarity,
            "data": self._types(record),
            "sources": [source for source in sources if source >= 0],
        }


def _chosen(survey: Survey, listings: list[Listing], most: int) -> NDArray[np.int64]:
    """The places of the pages that are shown, what matters most first."""
    known = survey.known
    is_named = np.zeros(len(survey.web.places), np.bool_)
    for listing in listings:
        for ref in _refs(listing):
            if isinstance(ref, int):
                is_named[ref] = True
    is_fine = known.outcomes == OUTCOMES.index(FINE)
    keys = (known.ids, -survey.rank, is_fine, ~is_named[known.ids])
    return np.lexsort(keys)[:most].astype(np.int64)


def _refs(listing: Listing) -> Iterator[Any]:
    for place, column in enumerate(listing.columns):
        if column.kind in (Kind.PAGE, Kind.URL):
            yield from (row[place] for row in listing.rows)


def _heading(record: Record) -> str | None:
    headings = record.get("headings")
    for one in headings if isinstance(headings, list) else ():
        if isinstance(one, dict) and one.get("level") == 1:
            return text_of(one.get("text"))
    return None


def _cut_or_none(value: Any, chars: int) -> str | None:
    text = text_of(value)
    return None if text is None else cut(" ".join(text.split()), chars)


def _or_none(numbers: NDArray[np.int32]) -> list[int | None]:
    return [None if number == NONE else number for number in numbers.tolist()]


def _rounded(ranks: NDArray[np.float64]) -> list[float]:
    """To three digits: more would be noise, and a third of the size of the report."""
    return [float(f"{rank:.3g}") for rank in ranks.tolist()]
