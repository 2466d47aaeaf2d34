"""The words of a text, as numbers. *Pure.*

A word is a run of letters and digits in any script, in lower case. Scripts that put no spaces
between words (Chinese, Japanese, Thai …) have a word a character, so what is made of a few words
in a row elsewhere is made of a few characters there.

All characters are looked at together, by NumPy: word by word it would take ten times as long.
A word is the polynomial of its characters at a fixed point, modulo 2**32. Western texts are looked
at a byte a character, others two, which takes twice as long; the numbers are the same.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint32]

# Longer texts are looked at piece by piece.
_PIECE = 1 << 16
# What is behind that many characters is not looked at: it is no text that somebody reads.
MAX_CHARACTERS = 1 << 21

_POINT = 0x9E3779B1
_SPREAD = 0x85EBCA6B
# Of a Western text, not more than one in so many characters is none of its letters.
_FEW = 16
_UTF16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"

# Blocks of Unicode whose words have no spaces between them, as first and last character.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3021, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Chinese characters
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),  # narrow Katakana
    # The first halves of characters beyond the first 65,536: the rarer Chinese ones, and emoji.
    (0xD800, 0xDBFF),
)
_SECOND_HALVES = (0xDC00, 0xDFFF)
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"})


class Words:
    """The words of a text. Numbers are made of them when they are needed: of many texts one after
    the other, that takes half the time.
    """

    __slots__ = ("_pieces", "count")

    def __init__(self, text: str) -> None:
        self._pieces = [_units(piece) for piece in _pieces(text)]
        self.count = sum(int(np.count_nonzero(piece.begins)) for piece in self._pieces)

    @property
    def size(self) -> int:
        """Bytes that they take."""
        return sum(piece.found.nbytes + piece.begins.nbytes for piece in self._pieces)

    def hashes(self) -> Hashes:
        """A number for each word, in the order of the text. Equal words have equal numbers."""
        hashes = list(map(_hashes, self._pieces))
        return hashes[0] if len(hashes) == 1 else np.concatenate(hashes)

    def texts(self) -> list[str]:
        """The words themselves, in lower case, in the order of the text."""
        return [word for piece in self._pieces for word in _texts(piece)]


class _Units(NamedTuple):
    """Each character in lower case, 0 for one in no word, and where words begin."""

    found: NDArray[np.uint8 | np.uint16]
    begins: NDArray[np.bool_]


class _Last:
    """The text that was looked at last: who counts its words is followed by who compares them."""

    text: str | None = None
    words: Words


def words_of(text: str) -> Words:
    if text is not _Last.text:
        _Last.text, _Last.words = text, Words(text)
    return _Last.words


def _pieces(text: str) -> list[str]:
    if len(text) <= _PIECE:
        return [text]
    text = text[:MAX_CHARACTERS]
    pieces = []
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            # Between two words, if there is a place near.
            end = text.rfind(" ", start + _PIECE // 2, end) + 1 or end
        pieces.append(text[start:end])
        start = end
    return pieces


def _hashes(units: _Units) -> Hashes:
    found, begins = units
    starts = begins.nonzero()[0]
    if not len(starts):
        return np.empty(0, np.uint32)
    powers, inverses = _powers()
    # The sum up to each place. What is between words counts for nothing.
    sums = np.zeros(len(found) + 1, np.uint32)
    np.multiply(found, powers[: len(found)], out=sums[1:], dtype=np.uint32)
    np.add.accumulate(sums, out=sums)
    before = sums.take(starts)
    hashes = np.empty_like(before)
    hashes[:-1] = before[1:]
    hashes[-1] = sums[-1]
    hashes -= before
    hashes *= inverses.take(starts)
    return hashes


def _texts(units: _Units) -> list[str]:
    # Words that follow one another without a space are separated too.
    separated = np.insert(units.found, units.begins.nonzero()[0], 0)
    encoding = "latin-1" if separated.dtype == np.uint8 else _UTF16
    return separated.tobytes().decode(encoding, "replace").replace("\0", " ").split()


def _units(text: str) -> _Units:
    western = _western(text)
    return _by_units(text) if western is None else _by_bytes(western.translate(_lowered()))


def _western(text: str) -> bytes | None:
    """A byte for each character. None: there are other letters than Western ones."""
    data = text.encode("latin-1", "replace")
    if not text.isascii():
        # Others have become question marks. Most are signs, as dashes are, and in no word either.
        if _FEW * data.count(b"?") > len(data):
            return None
        others = set()
        place = data.find(b"?")
        while place >= 0:
            others.add(text[place])
            place = data.find(b"?", place + 1)
        if any(map(_is_in_words, others)):
            return None
    return data


def _by_bytes(lowered: bytes) -> _Units:
    found = np.frombuffer(lowered, np.uint8)
    is_in_word = found != 0
    begins = is_in_word.copy()
    # A word begins where there was none before.
    np.greater(is_in_word[1:], is_in_word[:-1], out=begins[1:])
    return _Units(found, begins)


def _by_units(text: str) -> _Units:
    lowered, singles = _tables()
    units = np.frombuffer(text.encode(_UTF16, "replace"), np.uint16)
    found = lowered.take(units)
    begins = found != 0
    begins[1:] &= found[:-1] == 0
    alone = singles.take(units)
    # A character that is a word begins one, and so does what comes behind it.
    begins[1:] |= (found[1:] != 0) & (alone[1:] | alone[:-1])
    begins &= (units < _SECOND_HALVES[0]) | (units > _SECOND_HALVES[1])
    return _Units(found, begins)


def _is_in_words(character: str) -> bool:
    # What is beyond the first 65,536 characters is a word, whatever it is.
    return ord(character) >> 16 > 0 or category(character) in _WORD_CATEGORIES


@cache
def _lowered() -> bytes:
    return bytes(ord(chr(code).lower()) if _is_in_words(chr(code)) else 0 for code in range(1 << 8))


@cache
def _tables() -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """Each unit of UTF-16 in lower case, 0 for one in no word, and whether it is a word alone."""
    lowered = np.zeros(1 << 16, np.uint16)
    for code in range(1 << 16):
        if _is_in_words(chr(code)):
            lowered[code] = ord(chr(code).lower()[0])
    singles = np.zeros(1 << 16, np.bool_)
    for first, last in (*_UNSPACED, _SECOND_HALVES):
        singles[first : last + 1] = True
    # The halves of a character count as they are.
    for first, last in (*_UNSPACED[-1:], _SECOND_HALVES):
        lowered[first : last + 1] = np.arange(first, last + 1)
    return lowered, singles


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """What a character counts for at each place, and what takes a word back to the first place.

    UTF-16 may need two units a character.
    """
    size = 2 * _PIECE + 1
    point = np.full(size, _POINT, np.uint32)
    inverse = np.full(size, pow(_POINT, -1, 1 << 32), np.uint32)
    powers: Hashes = np.multiply.accumulate(point, dtype=np.uint32)
    return powers * np.uint32(_SPREAD), np.multiply.accumulate(inverse, dtype=np.uint32)
