"""From the body of a sitemap, or of a feed, to what it says. *Pure.*

What it is, is told by the body alone: names and content types are often wrong. Whatever the
bytes are, nothing is raised, and neither time nor memory is without a bound. What was read
before the trouble counts.
"""

from __future__ import annotations

import codecs
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from lxml import etree

from crawlproject.sitemaps.encoded import in_utf8
from crawlproject.sitemaps.gathering import Gathering
from crawlproject.sitemaps.hints import Cut, Sitemap
from crawlproject.sitemaps.lines import read_lines
from crawlproject.sitemaps.mending import mended
from crawlproject.sitemaps.outline import Outline
from crawlproject.sitemaps.pieces import Pieces
from crawlproject.urls.link_bounds import LinkBounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.urls.link_bounds import Room

# Files that were put together have a mark between them, too.
_BLANK = b" \t\r\n" + codecs.BOM_UTF8
# Characters of what the parser says.
_LONGEST_MESSAGE = 200


def read_sitemap(
    body: bytes,
    url: str,
    *,
    canonicalize: Callable[[str, str], str],
    most_urls: int,
    most_bytes: int,
    content_type: str = "",
    room: Room | None = None,
) -> Sitemap:
    """``url`` is the document's own; ``most_bytes`` are of the body as it is unpacked. ``room``
    bounds the characters of its URLs, and counts those that are left out; by default, all of them
    may have as many characters as the body bytes.
    """
    gathering = Gathering(canonicalize, most_urls, room or LinkBounds(page=most_bytes).room())
    pieces = Pieces(body, most_bytes)
    text = in_utf8(iter(pieces), content_type)
    start = _start_of(text)
    outline = Outline(url, gathering)
    problem: str | None = None
    try:
        if start.startswith(b"<"):
            problem = _read_markup(chain((start,), text), outline)
        else:
            read_lines(chain((start,), text), url, gathering)
    except Cut as cut:
        problem = str(cut)
    else:
        # Where it ends too soon, that is why it is broken.
        if not outline.is_over:
            problem = pieces.problem or problem
    if outline.kind is not None:
        kind = outline.kind.name
    elif gathering.urls:
        kind = "text"
    else:
        kind, problem = "", problem or ("no sitemap: it has no URL" if start else "it is empty")
    return Sitemap(
        kind, gathering.urls, gathering.nested, bool(kind) and problem is not None, problem
    )


def _start_of(text: Iterator[bytes]) -> bytes:
    """The first piece that is not blank, from where the document begins."""
    first = next(filter(None, (piece.lstrip(_BLANK) for piece in text)), b"")
    if first.startswith(b"<") and not first.startswith(b"<b"):
        return first
    # Some programs complain of something first, in plain text or in bold.
    return first[max(first.find(b"<?xml "), 0) :]


def _read_markup(pieces: Iterator[bytes], outline: Outline) -> str | None:
    """What is wrong with it. Raises Cut."""
    parser = etree.XMLParser(
        target=outline,
        encoding="utf-8",
        recover=True,
        # Nothing of this gets through the mending; a second fence costs nothing.
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    # What is wrong is in the log, and mostly nowhere else. Half of a surrogate pair, in what only
    # looks like CDATA, is something that lxml trips over.
    with suppress(etree.XMLSyntaxError, UnicodeDecodeError):
        for piece in filter(None, mended(pieces)):
            parser.feed(piece)
            if outline.is_over:
                break
        else:
            parser.close()
    for error in parser.feed_error_log:
        # A namespace that is not declared is no loss, nor is what follows the document.
        is_loss = error.level == etree.ErrorLevels.FATAL and error.type_name != "ERR_DOCUMENT_END"
        if is_loss:
            return f"broken XML: {' '.join(error.message.split())[:_LONGEST_MESSAGE]}"
    return None if outline.is_over else "it ends too soon"
