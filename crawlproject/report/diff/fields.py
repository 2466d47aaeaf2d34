"""What of a page is compared, by name, and the kinds of differences. *Pure.*

What is different each time (``fetch_ms``, ``fetched_at``) is never compared, and what follows from
other pages (``referrer``, ``duplicate_of``) neither.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

# In the order in which they are told.
FIELDS = (
    "status_code",
    "error",
    "redirects_to",
    "redirected_from",
    "title",
    "description",
    "headings",
    "language",
    "canonical",
    "noindex",
    "content_type",
    "content",
    "links",
    "depth",
)
# A change of the content, while the main text is almost the same.
COSMETIC = "cosmetic"

ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
# Of the changed pages: those that were fine and are not, and the other way round.
BROKE, MENDED = "broke", "mended"
# Of those added: the broken ones, to which links are new. Of those moved: those without a redirect,
# so that links to where they were are broken.
DEAD, LOST = "dead", "lost"
PARTS = {ADDED: (DEAD,), REMOVED: (), CHANGED: (BROKE, MENDED), MOVED: (LOST,)}
KINDS = (*PARTS, BROKE, MENDED, DEAD, LOST)
# Who asks for a kind asks for its parts. What is lost is gone from its URL, wherever it is now.
_WITH = {**PARTS, REMOVED: (LOST,)}

# As people say it, too.
_MEANT = {
    "status": ("status_code",),
    "redirects": ("redirects_to", "redirected_from"),
    "content_hash": ("content",),
}


def ignored(words: Iterable[str]) -> frozenset[str]:
    """The fields that ``--ignore`` leaves out. Raises BadArgument."""
    names = _names("--ignore", words, (*FIELDS, COSMETIC), tuple(_MEANT))
    return frozenset(field for name in names for field in _MEANT.get(name, (name,)))


def chosen(words: Iterable[str]) -> frozenset[str]:
    """The kinds that ``--only`` leaves; all, if it is not given. Raises BadArgument."""
    names = _names("--only", words, KINDS) or frozenset(KINDS)
    return names.union(*(_WITH.get(name, ()) for name in names))


def _names(
    option: str, words: Iterable[str], known: tuple[str, ...], meant: tuple[str, ...] = ()
) -> frozenset[str]:
    names = [name for word in words for name in word.replace(",", " ").split()]
    for name in names:
        if name not in known and name not in meant:
            nearest = get_close_matches(name, (*known, *meant), n=1)
            hint = f"did you mean {nearest[0]}? There" if nearest else "there"
            raise BadArgument(option, f"{name!r} is unknown; {hint} are {', '.join(known)}")
    return frozenset(names)
