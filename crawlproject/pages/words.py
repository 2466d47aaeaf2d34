"""The words of a text, as numbers. *Pure.*

A word is a run of letters and digits in any script, in lower case. Scripts that put no spaces
between words (Chinese, Japanese, Thai …) have a word a character, so what is made of a few words
in a row elsewhere is made of a few characters there.

All characters are looked at together, by NumPy: word by word it would take ten times as long.
A word is the polynomial of its characters at a fixed point, modulo 2**32.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING
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
_ALONE = np.uint32(1)
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


class _Last:
    """The text that was looked at last: who counts its words is followed by who compares them."""

    text = ""
    hashes: Hashes = np.empty(0, np.uint32)


def word_hashes(text: str) -> Hashes:
    """A number for each word, in the order of the text. Equal words have equal numbers."""
    if text is not _Last.text:
        _Last.text, _Last.hashes = text, _in_pieces(text[:MAX_CHARACTERS])
    return _Last.hashes


def _in_pieces(text: str) -> Hashes:
    if len(text) <= _PIECE:
        return _hashes(text)
    pieces = []
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            # Between two words, if there is a place near.
            end = text.rfind(" ", start + _PIECE // 2, end) + 1 or end
        pieces.append(_hashes(text[start:end]))
        start = end
    return np.concatenate(pieces)


def _hashes(text: str) -> Hashes:
    units = np.frombuffer(text.encode(_UTF16, "replace"), np.uint16)
    found = _values().take(units)
    # A word begins where there was none before.
    begins = found != 0
    begins[1:] &= found[:-1] == 0
    if not text.isascii() and np.count_nonzero(alone := found & _ALONE):
        # A character that is a word begins one, and so does what comes behind it.
        begins[1:] |= (found[1:] != 0) & ((alone[1:] | alone[:-1]) != 0)
        begins &= (units < _SECOND_HALVES[0]) | (units > _SECOND_HALVES[1])
    starts = begins.nonzero()[0]
    if not len(starts):
        return np.empty(0, np.uint32)
    powers, inverses = _powers()
    found *= powers[: len(found)]
    # What is between words counts for nothing.
    hashes: Hashes = np.add.reduceat(found, starts, dtype=np.uint32)
    hashes *= inverses.take(starts)
    return hashes


@cache
def _values() -> Hashes:
    """What each unit of UTF-16 counts for. 0: it is in no word; odd: it is a word alone."""
    values = np.zeros(1 << 16, np.uint32)
    for code in range(1 << 16):
        if category(chr(code)) in _WORD_CATEGORIES:
            values[code] = ord(chr(code).lower()[0])
    # The halves of a character count as they are.
    for first, last in (*_UNSPACED[-1:], _SECOND_HALVES):
        values[first : last + 1] = np.arange(first, last + 1)
    values *= np.uint32(_SPREAD)
    values &= ~_ALONE
    for first, last in (*_UNSPACED, _SECOND_HALVES):
        values[first : last + 1] |= (values[first : last + 1] != 0).astype(np.uint32)
    return values


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """The powers of the point, and those of its inverse. UTF-16 may need two units a character."""
    size = 2 * _PIECE + 1
    point = np.full(size, _POINT, np.uint32)
    inverse = np.full(size, pow(_POINT, -1, 1 << 32), np.uint32)
    return (
        np.multiply.accumulate(point, dtype=np.uint32),
        np.multiply.accumulate(inverse, dtype=np.uint32),
    )
