"""How much a page matters. *Pure.*

What others think of it counts: a page that many link to matters more, but a page on which a
menu of thousands leads matters not thousands of times as much, so it is the logarithm that
counts. With the distance from a seed it is less; what the site itself says in its sitemap
(``priority``) counts in both directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# What a sitemap means that says nothing.
USUAL_PRIORITY = 0.5
# A step away from a seed costs this part of the importance.
_STEP = 0.1
# Of PageRank: how far a reader follows links, and when it is exact enough.
_DAMPING = 0.85
_EXACT = 1e-8
_MOST_ROUNDS = 200


def importance(
    inlinks: NDArray[np.integer],
    depths: NDArray[np.integer],
    priorities: NDArray[np.floating] | float = USUAL_PRIORITY,
) -> NDArray[np.float64]:
    """Of pages, by how many others link to each, by depth, and by what the sitemap says."""
    by_links = 1 + np.log2(1 + inlinks.astype(np.float64))
    by_depth = 1 / (1 + _STEP * depths.astype(np.float64))
    # From half to twice as much.
    by_site = 2.0 ** (2 * (np.asarray(priorities, np.float64) - USUAL_PRIORITY))
    return by_links * by_depth * by_site


def page_rank(
    sources: NDArray[np.integer], targets: NDArray[np.integer], count: int
) -> NDArray[np.float64]:
    """PageRank of ``count`` pages with links from ``sources`` to ``targets``: their sum is 1.

    Pages are numbers from 0. What a page without links has goes to all.
    """
    return page_rank_of_parts([(sources, targets)], count)


def page_rank_of_parts(
    links: Sequence[tuple[NDArray[np.integer], NDArray[np.integer]]], count: int
) -> NDArray[np.float64]:
    """The same, of links in several parts: so it takes little more memory than they do."""
    if not count:
        return np.empty(0)
    outlinks = np.zeros(count, np.int64)
    for sources, _ in links:
        outlinks += np.bincount(sources, minlength=count)
    is_dangling = outlinks == 0
    parts = 1 / np.maximum(outlinks, 1)
    rank = np.full(count, 1 / count)
    for _ in range(_MOST_ROUNDS):
        share = rank * parts
        given = np.zeros(count)
        for sources, targets in links:
            given += np.bincount(targets, weights=share[sources], minlength=count)
        spread = (rank[is_dangling].sum() * _DAMPING + 1 - _DAMPING) / count
        new = _DAMPING * given + spread
        is_exact = float(np.abs(new - rank).sum()) < _EXACT
        rank = new
        if is_exact:
            break
    return rank
