"""Sitemaps that are plain text: a URL a line. *Pure.*"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from crawlproject.sitemaps.gathering import LONGEST_TEXT, hint_of
from crawlproject.sitemaps.hints import MOST_PARTS, Cut

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlproject.sitemaps.gathering import Gathering

# A line that has more than a URL is prose.
_LINE = re.compile(rb"^[ \t]*+((?i:https?)://[^ \t\n]++)[ \t]*+$", re.MULTILINE)


def read_lines(pieces: Iterable[bytes], url: str, gathering: Gathering) -> None:
    """Lines that are no URL are skipped. Raises Cut."""
    rest, lines = b"", 0
    for piece in chain(pieces, (b"\n",)):
        text = rest + piece.replace(b"\r", b"\n")
        whole, _, rest = text.rpartition(b"\n")
        # It is too long already, and stays so.
        rest = rest[: 4 * LONGEST_TEXT]
        for line in _LINE.finditer(whole):
            lines += 1
            if lines > MOST_PARTS:
                raise Cut(f"it has more than {MOST_PARTS:,} lines")
            if found := gathering.resolve(line[1].decode(), url):
                gathering.add(found, hint_of({}, {}, []))
