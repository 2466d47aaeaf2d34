"""How similar the texts of two versions of a page are, by their stored signatures."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from crawlproject.pipelines.parameters import NOTE, SignatureParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.pages.signatures import SignatureBackend


class Likeness:
    """Called with two signatures: a share of 1, or None, if they can't be compared.

    ``recall`` gives the notes of the crawl. (Not ``frontier_of``: who takes over a shared crawl
    compares pages before its crawl has a frontier.)
    """

    def __init__(self, recall: Callable[[str], str | None]) -> None:
        self._recall = recall

    @cached_property
    def _signatures(self) -> SignatureBackend | None:
        # The crawl may have been started with other settings than those of now.
        with suppress(sqlite3.DatabaseError):
            parameters = SignatureParameters.from_note(self._recall(NOTE))
            return None if parameters is None else parameters.signatures()
        return None

    def __call__(self, one: bytes, other: bytes) -> float | None:
        signatures = self._signatures
        if signatures is None:
            return None
        if not (signatures.is_signature(one) and signatures.is_signature(other)):
            return None
        return signatures.similarity(one, other)
