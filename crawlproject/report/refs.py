"""URLs as numbers: a page by its number in the report, another URL by its place in a list of texts.

So a URL that a thousand rows name is written once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from crawlproject.report.lists import Ref


class Refs:
    """Of one part of the data. Texts are numbered from -1 downwards."""

    def __init__(self, numbers: NDArray[np.int32], url_of: Callable[[int], str]) -> None:
        """``numbers``: of pages, by the id of their URL, -1 for what is not in the report."""
        self._numbers = numbers
        self._url_of = url_of
        self._places: dict[Ref, int] = {}
        self.texts: list[str] = []

    def anew(self) -> Refs:
        return Refs(self._numbers, self._url_of)

    def __call__(self, ref: Ref | None) -> int | None:
        if ref is None or ref == 0 or ref == "":
            return None
        if isinstance(ref, int) and (number := int(self._numbers[ref])) >= 0:
            return number
        place = self._places.get(ref)
        if place is None:
            place = self._places[ref] = len(self.texts)
            self.texts.append(self._url_of(ref) if isinstance(ref, int) else ref)
        return -1 - place
