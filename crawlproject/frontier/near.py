"""Known URLs that come near one that is not known: what was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.rows import STATES
from crawlproject.frontier.seen import fingerprint

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from crawlproject.frontier.base import State

_MAX_SAME_PATH = 5
_MAX_SPELLINGS = 3
# Rows that are compared letter by letter: a second's work at most.
_MAX_COMPARED = 20_000
_CUTOFF = 0.75
# How much longer or shorter a misspelled URL may be.
_LETTERS = 3

# The path begins at the first slash behind 'https://' and one letter of the host.
_SAME_PATH = """
    SELECT url, state, reason FROM (
        SELECT url, state, reason,
               substr(url, 8 + instr(substr(url, 9), '/') + length(:path)) AS rest
        FROM urls WHERE instr(url, :path) > 8
        AND substr(url, 8 + instr(substr(url, 9), '/'), length(:path)) = :path
    ) WHERE rest IN ('', '/') OR substr(rest, 1, 1) = '?' OR substr(rest, 1, 2) = '/?' LIMIT :most
"""
_SIMILAR = """
    SELECT url, state, reason FROM urls
    WHERE length(url) BETWEEN :shortest AND :longest
    AND substr(url, 1, length(:origin)) = :origin
    AND (substr(url, 1, length(:stem)) = :stem OR substr(url, -length(:tail)) = :tail)
    LIMIT :most
"""


class Near(NamedTuple):
    url: str
    state: State
    reason: str | None
    # In what it differs.
    how: str


class _Parts(NamedTuple):
    scheme: str
    authority: str
    # Without a slash at its end, and whether it had one.
    path: str
    has_slash: bool
    query: str

    @property
    def url(self) -> str:
        slash = "/" if self.has_slash or not self.path else ""
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.authority}{self.path}{slash}{query}"


def near(database: sqlite3.Connection, url: str) -> list[Near]:
    """The known URLs that come nearest to a canonical one, the nearest first."""
    found: dict[str, Near] = {}
    wanted = _split(url)
    for one in (
        *_variants(database, wanted),
        *_same_path(database, wanted),
        *_spellings(database, wanted),
        *_above(database, wanted),
    ):
        if one.url != url:
            found.setdefault(one.url, one)
    return list(found.values())


def guesses(database: sqlite3.Connection, url: str) -> list[str]:
    """How one that comes near may be written, for who can look up whole URLs only. Of the database
    the names of the hosts are looked at.
    """
    wanted = _split(url)
    return [parts.url for parts in (*_rewritten(database, wanted), *_way_up(wanted))]


def _split(url: str) -> _Parts:
    location, _, query = url.partition("?")
    scheme, _, rest = location.partition("://")
    authority, _, path = rest.partition("/")
    return _Parts(scheme, authority, f"/{path}".rstrip("/"), path.endswith("/"), query)


def _difference(wanted: _Parts, other: _Parts) -> str:
    differences = []
    if other.scheme != wanted.scheme:
        differences.append("another scheme")
    if other.authority != wanted.authority:
        differences.append("another host")
    if other.has_slash != wanted.has_slash and wanted.path:
        differences.append("a slash at its end" if other.has_slash else "no slash at its end")
    if other.query != wanted.query:
        both = other.query and wanted.query
        differences.append("another query" if both else "a query" if other.query else "no query")
    return ", ".join(differences)


def _variants(database: sqlite3.Connection, wanted: _Parts) -> Iterator[Near]:
    """The usual ways to write an address differently."""
    for variant in _rewritten(database, wanted):
        yield from _known(database, variant.url, _difference(wanted, variant))


def _rewritten(database: sqlite3.Connection, wanted: _Parts) -> Iterator[_Parts]:
    twin = {"http": "https", "https": "http"}.get(wanted.scheme, wanted.scheme)
    www = wanted.authority.removeprefix("www.")
    authorities = [
        wanted.authority,
        f"www.{www}" if www == wanted.authority else www,
        *_similar_hosts(database, wanted.authority),
    ]
    for query, authority, has_slash, scheme in product(
        dict.fromkeys((wanted.query, "")),
        dict.fromkeys(authorities),
        (wanted.has_slash, not wanted.has_slash),
        (wanted.scheme, twin),
    ):
        yield _Parts(scheme, authority, wanted.path, has_slash, query)


def _similar_hosts(database: sqlite3.Connection, authority: str) -> list[str]:
    rows = database.execute(
        "SELECT name FROM hosts ORDER BY requests DESC LIMIT ?", (_MAX_COMPARED,)
    )
    host, colon, port = authority.partition(":")
    names = [name for (name,) in rows if name != host]
    return [f"{name}{colon}{port}" for name in get_close_matches(host, names, n=2, cutoff=0.85)]


def _same_path(database: sqlite3.Connection, wanted: _Parts) -> Iterator[Near]:
    """With another host or query. A home page would be near to all others."""
    if not wanted.path:
        return
    rows = database.execute(_SAME_PATH, {"path": wanted.path, "most": _MAX_SAME_PATH})
    for url, state, reason in rows:
        yield Near(url, STATES[state], reason, _difference(wanted, _split(url)))


def _spellings(database: sqlite3.Connection, wanted: _Parts) -> Iterator[Near]:
    """One segment is written a little differently: the last one, or one before it."""
    if not wanted.path:
        return
    url = wanted.url
    stem, _, _ = url.partition("?")
    stem = stem.rstrip("/").rpartition("/")[0] + "/"
    tail = url[len(stem) :]
    rows = database.execute(
        _SIMILAR,
        {
            "shortest": len(url) - _LETTERS,
            "longest": len(url) + _LETTERS,
            "origin": f"{wanted.scheme}://{wanted.authority}/",
            "stem": stem,
            "tail": tail,
            "most": _MAX_COMPARED,
        },
    ).fetchall()
    known = {row[0]: row for row in rows}
    # Compared is only what differs, or all URLs of a long path would be alike.
    tails = {one[len(stem) :]: one for one in known if one.startswith(stem)}
    stems = {one.removesuffix(tail): one for one in known if not one.startswith(stem)}
    for part, parts in ((tail, tails), (stem, stems)):
        for match in get_close_matches(part, parts, n=_MAX_SPELLINGS, cutoff=_CUTOFF):
            one, state, reason = known[parts[match]]
            yield Near(one, STATES[state], reason, "spelled almost the same")


def _above(database: sqlite3.Connection, wanted: _Parts) -> Iterator[Near]:
    """The nearest page above it."""
    for parts in _way_up(wanted):
        if found := list(_known(database, parts.url, "the nearest above")):
            yield from found
            return


def _way_up(wanted: _Parts) -> Iterator[_Parts]:
    # What has a query has the page without it above.
    path = f"{wanted.path}/?" if wanted.query else wanted.path
    while path:
        path = path.rpartition("/")[0]
        for has_slash in (True, False):
            yield _Parts(wanted.scheme, wanted.authority, path, has_slash, "")


def _known(database: sqlite3.Connection, url: str, how: str) -> Iterator[Near]:
    row = database.execute(
        "SELECT state, reason FROM urls WHERE fingerprint = ? AND url = ?", (fingerprint(url), url)
    ).fetchone()
    if row is not None:
        yield Near(url, STATES[row[0]], row[1], how)
