"""All links of a crawl at once, in arrays: for what follows from the whole graph.

A million pages with sixty links each take 250 MB.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from numpy.typing import NDArray

_LINK_BYTES = array("I").itemsize


class Edges(NamedTuple):
    """The links of the pages in ``pages``, page by page: those of ``pages[n]`` are
    ``links[starts[n]:starts[n + 1]]``, as the store has them (``id << 1 | is_nofollow``).
    """

    pages: NDArray[np.uint32]
    starts: NDArray[np.int64]
    links: NDArray[np.uint32]

    def of(self, place: int) -> NDArray[np.uint32]:
        """The links of the page at a place."""
        return self.links[self.starts[place] : self.starts[place + 1]]

    def sources(self) -> NDArray[np.uint32]:
        """The page of each link."""
        return np.repeat(self.pages, np.diff(self.starts))


def edges_from(rows: Iterable[tuple[int, bytes]]) -> Edges:
    """By the ids of pages, and their links as they are kept."""
    pages, ends, links = array("I"), array("q", [0]), bytearray()
    for page, packed in rows:
        pages.append(page)
        links += packed
        ends.append(len(links) // _LINK_BYTES)
    return Edges(
        np.frombuffer(pages, np.uint32) if pages else np.empty(0, np.uint32),
        np.frombuffer(ends, np.int64),
        np.frombuffer(links, np.uint32),
    )


def edges_of(database: sqlite3.Connection) -> Edges:
    """Those in a crawl directory, of pages and of sitemaps."""
    return edges_from(
        database.execute("SELECT id, links FROM pages WHERE links IS NOT NULL ORDER BY id")
    )
