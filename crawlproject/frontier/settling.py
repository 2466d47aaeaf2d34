"""The shortest way to every URL, found anew over the whole graph. *Pure.*

While a crawl goes on, ways get shorter only, and that is passed on link by link (``graph.py``).
When links have gone, some ways are longer than they were, or there is none any more; so they are
all found again, level by level, from where the crawl began. What comes out is what a crawl of the
same pages would have found that has begun today: the rules are those of ``Way`` and ``LinkGraph``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.entry import BY_SITEMAP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.frontier.edges import Edges

    Ids = NDArray[np.int64]
    Mask = NDArray[np.bool_]

# The level of what no way leads to.
NOWHERE = 1 << 40
_MOST_HOPS = 1 << 20


class Graph(NamedTuple):
    """By the ids of URLs, which are places in the arrays (0 is nobody's)."""

    # Where the crawl began: level, or NOWHERE.
    roots: Ids
    # The place in the order of spelling.
    order: Ids
    # Where it redirects to; 0: nowhere.
    targets: Ids
    # Whether its links lead on, and whether links that must not be followed name it, too.
    leads_on: Mask
    is_outside: Mask
    is_sitemap: Mask


class Ways(NamedTuple):
    """By the ids of URLs."""

    levels: Ids
    hops: Ids
    referrers: Ids
    fewest_hops: Ids


def shortest_ways(graph: Graph, edges: Edges, depth_limit: int | None) -> Ways:
    return _Settling(graph, edges, depth_limit).ways()


class _Settling:
    def __init__(self, graph: Graph, edges: Edges, depth_limit: int | None) -> None:
        self._graph = graph
        self._edges = edges
        self._limit = depth_limit
        count = len(graph.roots)
        self._levels = np.full(count, NOWHERE, np.int64)
        self._hops = np.zeros(count, np.int64)
        self._referrers = np.zeros(count, np.int64)
        # What is reached by a link that is followed.
        self._is_linked = np.zeros(count, np.bool_)
        # Links that wait for their level: those who have them, and where they lead.
        self._waiting: dict[int, list[tuple[Ids, Ids]]] = {}
        # … and those that lead too deep: they name what nothing else leads to.
        self._too_deep: dict[int, list[tuple[Ids, Ids]]] = {}

    def ways(self) -> Ways:
        roots = np.flatnonzero(self._graph.roots < NOWHERE)
        for level in np.unique(self._graph.roots[roots]).tolist():
            there = roots[self._graph.roots[roots] == level]
            self._waiting.setdefault(level, []).append((np.zeros_like(there), there))
        while self._waiting:
            level = min(self._waiting)
            reached = self._reach(level, self._waiting.pop(level))
            self._expand(level, reached)
        for level in sorted(self._too_deep):
            self._linked(level, self._too_deep[level])
        return Ways(self._levels, self._hops, self._referrers, self._fewest_hops(roots))

    def _reach(self, level: int, links: list[tuple[Ids, Ids]]) -> Ids:
        """Who is found at a level: by links from those above, and by redirects from there on."""
        found = self._linked(level, links)
        reached = [found]
        hops = 0
        while len(found):
            hops += 1
            found = found[self._graph.targets[found] > 0]
            # Who redirects hands on its own referrer.
            referrers, targets = self._referrers[found], self._graph.targets[found]
            found = self._settle(level, hops, referrers, targets)
            reached.append(found)
        return np.concatenate(reached)

    def _linked(self, level: int, links: list[tuple[Ids, Ids]]) -> Ids:
        sources = np.concatenate([some for some, _ in links])
        return self._settle(level, 0, sources, np.concatenate([some for _, some in links]))

    def _settle(self, level: int, hops: int, referrers: Ids, found: Ids) -> Ids:
        """Take a way to those who have none yet; of several, the one of the first referrer."""
        is_new = self._levels[found] == NOWHERE
        referrers, found = referrers[is_new], found[is_new]
        first = np.lexsort((self._graph.order[referrers], found))
        found, places = np.unique(found[first], return_index=True)
        self._levels[found] = level
        self._hops[found] = hops
        self._referrers[found] = referrers[first][places]
        return found

    def _expand(self, level: int, reached: Ids) -> None:
        """Have the links of pages wait for the next level."""
        graph = self._graph
        pages = np.sort(reached[graph.leads_on[reached] & (graph.targets[reached] == 0)])
        sources, links = self._links_of(pages)
        targets = (links >> 1).astype(np.int64)
        is_followed = (links & 1) == 0
        self._is_linked[targets[is_followed]] = True
        counts = is_followed | graph.is_outside[targets]
        # What a sitemap names is behind all links, unless it is a sitemap itself.
        is_named = graph.is_sitemap[sources] & ~graph.is_sitemap[targets]
        for above, some in ((level, counts & ~is_named), (BY_SITEMAP, counts & is_named)):
            if some.any():
                is_too_deep = self._limit is not None and above % BY_SITEMAP + 1 > self._limit
                waiting = self._too_deep if is_too_deep else self._waiting
                waiting.setdefault(above + 1, []).append((sources[some], targets[some]))

    def _links_of(self, pages: Ids) -> tuple[Ids, NDArray[np.uint32]]:
        """The links of some pages, and the page of each."""
        edges = self._edges
        places = np.searchsorted(edges.pages, pages)
        places = np.minimum(places, max(len(edges.pages) - 1, 0))
        if len(edges.pages):
            has_links = edges.pages[places] == pages
            pages, places = pages[has_links], places[has_links]
        else:
            pages = pages[:0]
            places = places[:0]
        starts, ends = edges.starts[places], edges.starts[places + 1]
        counts = ends - starts
        # The places of all their links: each page's from its start on.
        offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        return np.repeat(pages, counts), edges.links[offsets + np.arange(len(offsets))]

    def _fewest_hops(self, roots: Ids) -> Ids:
        """Redirects since the last link on the way that has the fewest of them."""
        fewest = np.where(self._is_linked, 0, _MOST_HOPS)
        fewest[roots] = 0
        sources = np.flatnonzero((self._graph.targets > 0) & (self._levels < NOWHERE))
        targets = self._graph.targets[sources]
        while True:
            before = fewest[targets].copy()
            np.minimum.at(fewest, targets, fewest[sources] + 1)
            if np.array_equal(before, fewest[targets]):
                break
        return np.where(fewest == _MOST_HOPS, self._hops, fewest)
