"""What is known of every page, in arrays: of a million pages, eighty megabytes. *Pure.*

A page is its place in these arrays. What is text stays in the crawl directory, but for words that
many pages share, which have codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from http import HTTPStatus
from typing import TYPE_CHECKING

import numpy as np

from crawlproject.monitoring.tally import FINE, OUTCOMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A page, as long as it is one.
ROW = np.dtype(
    [
        *(("ids", "u4"), ("levels", "i4"), ("statuses", "i4"), ("outcomes", "u1"), ("flags", "u1")),
        *(("sizes", "i4"), ("times", "i4"), ("words", "i4"), ("outlinks", "u4"), ("fetched", "f8")),
        *(("titles", "i8"), ("descriptions", "i8"), ("canonicals", "u4")),
        *(("answers", "u4"), ("hosts", "u4"), ("types", "u4"), ("languages", "u4")),
    ]
)


class Flag(IntFlag):
    HTML = 1
    NOINDEX = 2
    TITLE = 4
    DESCRIPTION = 8
    # A heading of level 1.
    HEADING = 16
    # It names another page as the real one.
    CANONICAL = 32
    # Its main text was read, so what it has not is missing.
    READ = 64
    # It looks empty without scripts, and they did not run.
    SCRIPTED = 128


@dataclass(slots=True)
class Known:
    """By place. ``titles`` and ``descriptions`` are hashes, 0: there is none; ``canonicals`` the id
    of the URL that a page names, 0: it names none, or one that nobody knows.
    """

    ids: NDArray[np.uint32]
    levels: NDArray[np.int32]
    statuses: NDArray[np.int32]
    outcomes: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    sizes: NDArray[np.int32]
    times: NDArray[np.int32]
    words: NDArray[np.int32]
    outlinks: NDArray[np.uint32]
    # Seconds of the epoch.
    fetched: NDArray[np.float64]
    titles: NDArray[np.int64]
    descriptions: NDArray[np.int64]
    canonicals: NDArray[np.uint32]
    # Codes.
    answers: NDArray[np.uint32]
    hosts: NDArray[np.uint32]
    types: NDArray[np.uint32]
    languages: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.ids)

    def has(self, flag: Flag) -> NDArray[np.bool_]:
        has: NDArray[np.bool_] = (self.flags & int(flag)) > 0
        return has

    def is_outcome(self, outcome: str) -> NDArray[np.bool_]:
        is_so: NDArray[np.bool_] = self.outcomes == OUTCOMES.index(outcome)
        return is_so

    def indexable(self) -> NDArray[np.bool_]:
        """What search engines may show: it answered 200 with HTML, does not ask to be left out, and
        names no other page as the real one.
        """
        is_ok: NDArray[np.bool_] = self.statuses == HTTPStatus.OK
        is_page = self.is_outcome(FINE) & is_ok & self.has(Flag.HTML)
        return is_page & ~self.has(Flag.NOINDEX) & ~self.has(Flag.CANONICAL)
