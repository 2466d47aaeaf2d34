"""The words of a text, as numbers. *Pure.*

A word is a run of letters and digits in any script, in lower case. Scripts that put no spaces
between words (Chinese, Japanese, Thai …) have a word a character, so what is made of a few words
in a row elsewhere is made of a few characters there.

All characters are looked at together, by NumPy: word by word it would take ten times as long.
A word is the polynomial of its characters at a fixed point, modulo 2**32.
"""

from __future__ import annotations

import re
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


# Bytes of UTF-8 that begin no character of a script without spaces, nor of some others.
_SPACED = bytes({*range(0xE0), 0xE2})
# Signs, as far as they are two or three bytes: a letter among them is rare. One pattern for both
# would be looked for byte by byte.
_SHORT_SIGNS = re.compile(rb"\xc2[^\xaa\xb5\xba]")
_LONG_SIGNS = re.compile(rb"\xe2..", re.DOTALL)
_KINDS = bytes(
    ord("x") if code >= 0x80 or chr(code).isalnum() else ord(" ") for code in range(0x100)
)


def count_words(text: str) -> int:
    """How many words a text has. For most scripts in a third of the time."""
    text = text[:MAX_CHARACTERS]
    data = text.encode("utf-8", "replace")
    if not text.isascii():
        if data.translate(None, _SPACED):
            return len(word_hashes(text))
        data = _LONG_SIGNS.sub(b" ", _SHORT_SIGNS.sub(b" ", data))
    # A space in front: a word begins where there was none before.
    kinds = np.frombuffer(b" " + data.translate(_KINDS), np.uint8)
    return int(np.count_nonzero(kinds[1:] > kinds[:-1]))


def word_hashes(text: str) -> Hashes:
    """A number for each word, in the order of the text. Equal words have equal numbers."""
    text = text[:MAX_CHARACTERS]
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
    values, singles = _tables()
    powers, inverses = _powers()
    # A space in front: a word begins where there was none before.
    units = np.frombuffer(f" {text}".encode(_UTF16, "replace"), np.uint16)
    found = values.take(units)
    is_word = found != 0
    begins = is_word[1:] > is_word[:-1]
    if units.max() >= _UNSPACED[0][0] and singles.take(units[units >= _UNSPACED[0][0]]).any():
        alone = singles.take(units)
        # A character that is a word begins one, and so does what comes behind it.
        begins |= is_word[1:] & ((alone[1:] != 0) | (alone[:-1] != 0))
        begins &= (units[1:] < _SECOND_HALVES[0]) | (units[1:] > _SECOND_HALVES[1])
    starts = np.flatnonzero(begins)
    starts += 1
    if not len(starts):
        return np.empty(0, np.uint32)
    found *= powers[: len(found)]
    # What is between words counts for nothing.
    hashes: Hashes = np.add.reduceat(found, starts, dtype=np.uint32)
    hashes *= inverses.take(starts)
    return hashes


@cache
def _tables() -> tuple[Hashes, NDArray[np.uint8]]:
    """What each unit of UTF-16 counts for (0: it is in no word), and whether it is a word alone."""
    values = np.zeros(1 << 16, np.uint32)
    for code in range(1 << 16):
        if category(chr(code)) in _WORD_CATEGORIES:
            lowered = chr(code).lower()
            values[code] = ord(lowered[0]) * _SPREAD % (1 << 32)
    singles = np.zeros(1 << 16, np.uint8)
    for first, last in (*_UNSPACED, _SECOND_HALVES):
        singles[first : last + 1] = 1
    for first, last in (*_UNSPACED[-1:], _SECOND_HALVES):
        values[first : last + 1] = (np.arange(first, last + 1) * _SPREAD % (1 << 32)).astype(
            np.uint32
        )
    return values, singles


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
