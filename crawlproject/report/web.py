"""Who links to whom: how many pages link to each, which ones, and PageRank.

A link to what redirects is a link to the page that answers in the end. A page that links to another
in several ways links to it once, and links to itself don't count. Links that are not to be followed
count as links, but pass no rank on. Sitemaps are no pages: what they name is told apart.

Links are read some ten thousand pages at a time. A million pages with sixty links each take half a
gigabyte, almost all of it for their ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.edges import edges_from
from crawlproject.frontier.entry import SITEMAP
from crawlproject.frontier.reading import IS_PAGE
from crawlproject.recrawl.importance import page_rank_of_parts
from crawlproject.report.sources import FirstSources

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crawlproject.frontier.edges import Edges

# Pages whose links are looked at together.
_AT_ONCE = 50_000
# A redirect leads on up to 2 ** _DOUBLINGS times: more than anybody follows.
_DOUBLINGS = 6
# Of a redirect that pages link to.
_SOURCES_OF_REDIRECTS = 100


class Sitemap(NamedTuple):
    """One that was read: its id, and those of the URLs that it names."""

    id: int
    names: NDArray[np.integer]


class Web:
    """The links among the pages with these ids; a page is its place among them."""

    def __init__(
        self,
        database: sqlite3.Connection,
        ids: NDArray[np.uint32],
        limits: NDArray[np.integer] | None = None,
        reached: NDArray[np.bool_] | None = None,
    ) -> None:
        """``limits``: of how many linking pages of each page the places are kept. ``reached``: the
        pages that links lead to from a seed; None: all of them.
        """
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()
        self._database = database
        self._ids = ids
        # By the id of a URL: the place of its page, or -1.
        self.places = np.full(last + 1, -1, np.int32)
        self.places[ids] = np.arange(len(ids), dtype=np.int32)
        self.redirects, self._ends = _redirects(database, last)
        self._redirect_places = np.full(last + 1, -1, np.int32)
        self._redirect_places[self.redirects] = np.arange(len(self.redirects), dtype=np.int32)
        self.first = FirstSources(np.zeros(len(ids), np.int64) if limits is None else limits)
        self.to_redirects = FirstSources(
            np.full(len(self.redirects), 0 if limits is None else _SOURCES_OF_REDIRECTS)
        )
        self._reached = np.ones(len(ids), np.bool_) if reached is None else reached
        # By place: whether a page that is reached links there. It may be too deep to be followed.
        self.is_linked = np.zeros(len(ids), np.bool_)
        self.sitemaps: list[Sitemap] = []
        self._links: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self._read()

    @property
    def inlinks(self) -> NDArray[np.int64]:
        return self.first.counts

    def place_of(self, number: int) -> int | None:
        """Of the page that answers for a URL in the end, by the id of the URL."""
        place = int(self.places[self._ends[number]]) if number < len(self._ends) else -1
        return None if place < 0 else place

    def end_of(self, number: int) -> int:
        """The id of the URL that one leads to in the end."""
        return int(self._ends[number])

    def is_redirect(self, number: int) -> bool:
        """Whether it was followed. Where a loop was found out, it is a page that failed."""
        return bool(self._redirect_places[number] >= 0)

    def sources_of_redirect(self, number: int) -> tuple[int, list[int]]:
        """How many pages link to a URL that redirects, and the places of the first of them."""
        place = int(self._redirect_places[number])
        return int(self.to_redirects.counts[place]), self.to_redirects.of(place)

    def rank(self) -> NDArray[np.float64]:
        """PageRank by place, where the mean is 1. To be asked for once: it lets go of the links."""
        rank = page_rank_of_parts(self._links, len(self._ids)) * len(self._ids)
        self._links = []
        return rank

    def in_sitemaps(self) -> NDArray[np.bool_]:
        """By the id of a URL: whether a sitemap names it."""
        is_named = np.zeros(len(self.places), np.bool_)
        for sitemap in self.sitemaps:
            is_named[sitemap.names] = True
        return is_named

    def _read(self) -> None:
        sitemaps = {
            number
            for (number,) in self._database.execute(
                "SELECT id FROM pages JOIN urls USING (id) WHERE record = '' AND url LIKE ?",
                (f"%{SITEMAP}",),
            )
        }
        for edges in _edges(self._database):
            self._add(edges)
            for number in sitemaps.intersection(edges.pages.tolist()):
                names = edges.of(int(edges.pages.searchsorted(number))) >> 1
                self.sitemaps.append(Sitemap(number, names))

    def _add(self, edges: Edges) -> None:
        sources = self.places[edges.sources()]
        numbers = edges.links >> 1
        targets = self.places[self._ends[numbers]]
        is_link = (sources >= 0) & (targets >= 0) & (sources != targets)
        is_link &= _is_first(sources, targets, is_link & (self._ends[numbers] != numbers))
        linking, linked = sources[is_link], targets[is_link]
        self.first.add(linked, linking)
        self.is_linked[linked[self._reached[linking]]] = True
        passes_on = is_link & ((edges.links & 1) == 0)
        self._links.append((sources[passes_on], targets[passes_on]))
        redirects = self._redirect_places[numbers]
        is_link = (sources >= 0) & (redirects >= 0)
        self.to_redirects.add(redirects[is_link], sources[is_link])


def page_ids(database: sqlite3.Connection) -> NDArray[np.uint32]:
    """Of all pages."""
    rows = database.execute(
        f"SELECT id FROM pages JOIN urls USING (id) WHERE {IS_PAGE} ORDER BY id"  # noqa: S608
    )
    return np.fromiter((number for (number,) in rows), np.uint32)


def _edges(database: sqlite3.Connection) -> Iterator[Edges]:
    rows = database.execute("SELECT id, links FROM pages WHERE links IS NOT NULL ORDER BY id")
    while some := rows.fetchmany(_AT_ONCE):
        yield edges_from(some)


def _redirects(
    database: sqlite3.Connection, last: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The ids of what redirects and was followed, and for each id where it leads in the end."""
    rows = database.execute("SELECT id, target FROM urls WHERE target IS NOT NULL AND state <> 3")
    pairs = np.array(rows.fetchall() or np.empty((0, 2)), np.int64)
    ends = np.arange(last + 1, dtype=np.uint32)
    ends[pairs[:, 0]] = pairs[:, 1]
    if len(pairs):
        for _ in range(_DOUBLINGS):
            ends = ends[ends]
    return np.sort(pairs[:, 0]), ends


def _is_first(
    sources: NDArray[np.int32], targets: NDArray[np.int32], is_by_redirect: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Not where a page links to another again. Links of a page differ, so one of them leads there
    by a redirect.
    """
    is_first = np.ones(len(sources), np.bool_)
    if is_by_redirect.any():
        places = np.flatnonzero(np.isin(targets, targets[is_by_redirect]))
        keys = sources[places].astype(np.int64) << 32 | targets[places]
        is_first[places] = False
        is_first[places[np.unique(keys, return_index=True)[1]]] = True
    return is_first
