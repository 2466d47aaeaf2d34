"""Languages to write texts in: made up, with words as unevenly frequent as in real ones. *Pure.*

A text is a list of *tokens*: words, or single characters where nothing is between words.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING

from bench import prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STEMS = (  # noqa: SIM905  (easier to read than a list of strings)
    "bal cor den fal gri hol jut kem lor mun nar oss pel quin rav sol tur ulm vel wos yar zin"
).split()
_ENDINGS = ("a", "en", "is", "o", "um", "ek", "ir", "ast", "é", "ün")


class Tongue:
    """``mark`` ends a sentence."""

    def __init__(self, name: str, tokens: Sequence[str], *, spaced: bool, mark: str) -> None:
        self.name = name
        self.spaced = spaced
        self._mark = mark
        self._tokens = list(tokens)
        self._numbers = {token: number for number, token in enumerate(tokens)}
        # The tenth word is as frequent as a tenth of the first (Zipf), and a bit more.
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(tokens))))

    def tokens(self, random: Random, count: int) -> list[str]:
        return random.choices(self._tokens, cum_weights=self._weights, k=count)

    def translated(self, tokens: Iterable[str], into: Tongue) -> list[str]:
        """Word for word."""
        return [into._tokens[self._numbers[token] % len(into._tokens)] for token in tokens]

    def sentences(self, tokens: Sequence[str], length: int = 13) -> list[str]:
        """As they are written: with capitals, commas, full stops."""
        return [
            self._sentence(list(tokens[start : start + length]))
            for start in range(0, len(tokens), length)
        ]

    def _sentence(self, tokens: list[str]) -> str:
        if not self.spaced:
            return "".join(tokens) + self._mark
        if len(tokens) > 9:
            tokens[4] += ","
        text = " ".join(tokens)
        return text[0].upper() + text[1:] + self._mark


def _characters(*ranges: tuple[int, int]) -> list[str]:
    return [chr(code) for first, last in ranges for code in range(first, last + 1)]


def _shuffled(tokens: list[str], seed: int) -> list[str]:
    # Not the same words are the frequent ones, and in no alphabetical order.
    Random(seed).shuffle(tokens)  # noqa: S311  (to be the same each time is the point)
    return tokens


def _invented() -> list[str]:
    stems = [f"{one}{other}" for one in _STEMS for other in ("", *_STEMS[:4])]
    return [f"{stem}{ending}" for stem in stems for ending in _ENDINGS]


ENGLISH = Tongue("English", _shuffled([*prose.WORDS], 1), spaced=True, mark=".")
INVENTED = Tongue("an invented one", _shuffled(_invented(), 2), spaced=True, mark=".")
CHINESE = Tongue("Chinese", _shuffled(_characters((0x4E00, 0x51FF)), 3), spaced=False, mark="。")
JAPANESE = Tongue(
    "Japanese",
    _shuffled(_characters((0x3042, 0x3093), (0x30A2, 0x30F3), (0x6000, 0x60FF)), 4),
    spaced=False,
    mark="。",
)
# Sentences have a space between them.
THAI = Tongue(
    "Thai", _shuffled(_characters((0x0E01, 0x0E2E), (0x0E30, 0x0E39)), 5), spaced=False, mark=" "
)
