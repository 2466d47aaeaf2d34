"""How the signatures of a crawl are made: from the settings, and as the crawl has stored it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.pages.signatures import (
    BACKENDS,
    BUILTIN,
    sign_text,
    sign_words,
    signature_backend,
)
from crawlproject.records import from_text

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlproject.pages.signatures import SignatureBackend
    from crawlproject.pages.words import Words

# Values of a signature.
MIN_SIZE, MAX_SIZE = 16, 1024
# The frontier note with the parameters of a crawl: a JSON list of the fields below, in order.
# Crawls that were stored before there were backends have no fourth field.
NOTE = "signatures"


class SignatureParameters(NamedTuple):
    """Only signatures with equal parameters can be compared."""

    size: int = 128
    shingle_words: int = 3
    min_words: int = 30
    backend: str = BUILTIN

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> SignatureParameters:
        return cls(
            settings.getint("DUPLICATES_PERMUTATIONS"),
            settings.getint("DUPLICATES_SHINGLE_WORDS"),
            settings.getint("DUPLICATES_MIN_WORDS"),
            settings["DUPLICATES_BACKEND"],
        )

    @classmethod
    def from_note(cls, note: str | None) -> SignatureParameters | None:
        """None: the crawl has no signatures. Raises sqlite3.DatabaseError for a foreign note."""
        if note is None:
            return None
        with suppress(ValueError, TypeError):
            parameters = cls(*from_text(note))
            *numbers, backend = parameters
            are_numbers = all(type(value) is int and value > 0 for value in numbers)
            if are_numbers and parameters.size <= MAX_SIZE and backend in BACKENDS:
                return parameters
        raise sqlite3.DatabaseError(f"the note {NOTE!r} is not one of ours: {note[:50]!r}")

    def note(self) -> str:
        return json.dumps(self)

    def signatures(self) -> SignatureBackend:
        return signature_backend(self.backend, self.size)

    def sign(self, words: Words) -> bytes | None:
        """None: the text has too few words to be compared."""
        return sign_words(words, self.signatures(), self.shingle_words, self.min_words)

    def sign_text(self, text: str) -> bytes | None:
        return sign_text(text, self.signatures(), self.shingle_words, self.min_words)
