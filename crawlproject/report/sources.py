"""Of each URL, the first pages that link to it. *Pure.*

A menu is on every page: of what it leads to, a hundred linking pages are enough to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FirstSources:
    """Fed with links, in the order of their pages. ``counts`` is how many there were in all."""

    def __init__(self, limits: NDArray[np.integer]) -> None:
        """``limits``: how many sources of each target are kept."""
        self._room = limits.astype(np.int64)
        self.counts = np.zeros(len(limits), np.int64)
        self._targets: list[NDArray[np.int64]] = []
        self._sources: list[NDArray[np.int64]] = []
        self._starts: NDArray[np.int64] | None = None

    def add(self, targets: NDArray[np.integer], sources: NDArray[np.integer]) -> None:
        """No pair twice."""
        self.counts += np.bincount(targets, minlength=len(self.counts))
        is_wanted = self._room[targets] > 0
        if not is_wanted.any():
            return
        chosen, theirs = targets[is_wanted].astype(np.int64), sources[is_wanted].astype(np.int64)
        order = np.argsort(chosen, kind="stable")
        chosen, theirs = chosen[order], theirs[order]
        # The how-manieth of its target each one is, from 0.
        firsts = np.flatnonzero(np.r_[True, chosen[1:] != chosen[:-1]])
        lengths = np.diff(np.r_[firsts, len(chosen)])
        places = np.arange(len(chosen)) - np.repeat(firsts, lengths)
        fits = places < self._room[chosen]
        self._targets.append(chosen[fits])
        self._sources.append(theirs[fits])
        self._room -= np.bincount(chosen[fits], minlength=len(self._room))

    def of(self, target: int) -> list[int]:
        """After all were added."""
        if self._starts is None:
            nothing: NDArray[np.int64] = np.empty(0, np.int64)
            targets = np.concatenate([nothing, *self._targets])
            order = np.argsort(targets, kind="stable")
            self._sources = [np.concatenate([nothing, *self._sources])[order]]
            self._starts = np.searchsorted(targets[order], np.arange(len(self._room) + 1))
            self._targets = []
        found: list[int] = self._sources[0][
            self._starts[target] : self._starts[target + 1]
        ].tolist()
        return found
