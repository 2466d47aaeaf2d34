"""What has changed on a page. *Pure.*

A change has ``before`` and ``after``, and of some fields more:

| field | |
|---|---|
| ``content`` | hashes of the body, and where it is known ``similarity`` of the main text, and |
| | ``cosmetic``; numbers of bytes, where neither page has a hash |
| ``links`` | how many there are, and which were ``added`` and ``removed`` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.report.diff.facts import is_fine
from crawlproject.report.diff.fields import BROKE, COSMETIC, FIELDS, MENDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.report.diff.facts import Facts

Change = dict[str, Any]
Changes = dict[str, Change]

# From here on, it is dates, counters and the like.
COSMETIC_SIMILARITY = 0.98
_DIGITS = 3
# What is known of a page with an error, too: of what it says, nothing is.
_KNOWN = frozenset({"status_code", "error", "content_type", "redirected_from", "depth"})


class End(NamedTuple):
    """What comes of a URL that redirects on one side at least."""

    # Where it leads; None: it is a page.
    target: str | None
    # Of the page there.
    error: str | None


class Comparing:
    def __init__(self, ignored: frozenset[str]) -> None:
        self._fields = [name for name in FIELDS if name not in ignored]
        self._known = [name for name in self._fields if name in _KNOWN]
        self._ignores_cosmetic = COSMETIC in ignored

    def __call__(self, before: Facts, after: Facts, alike: Callable[[], float | None]) -> Changes:
        """The fields that are different. ``alike`` tells how much of the main text is the same, if
        that is known.
        """
        if before == after:
            return {}
        changes: Changes = {}
        for name in self._fields if is_fine(before) == is_fine(after) else self._known:
            if name == "content":
                change = _content(before, after, alike)
                if change and self._ignores_cosmetic and change.get(COSMETIC):
                    continue
            else:
                change = _COMPARED.get(name, _value)(before, after, name)
            if change:
                changes[name] = change
        return changes

    def redirects(self, before: End, after: End) -> Changes:
        """Of a URL that redirects before, after, or both."""
        values = {
            "error": (before.error, after.error),
            "redirects_to": (before.target, after.target),
        }
        return {
            name: {"before": old, "after": new}
            for name, (old, new) in values.items()
            if old != new and name in self._fields
        }


def verdict(changes: Changes) -> str | None:
    """Whether a page was fine before, and is not now, or the other way round. Of a URL that
    redirects, it is the page where it leads that counts.
    """
    error = changes.get("error", {"before": None, "after": None})
    if bool(error["before"]) == bool(error["after"]):
        return None
    return BROKE if error["after"] else MENDED


def _value(before: Facts, after: Facts, name: str) -> Change | None:
    # Whether a page is a redirect now is found out elsewhere.
    old, new = before.get(name), after.get(name)
    return None if old == new else {"before": old, "after": new}


def _links(before: Facts, after: Facts, _: str) -> Change | None:
    if before["links"] == after["links"]:
        return None
    old, new = set(before["links"]), set(after["links"])
    if old == new:
        return None
    return {
        "before": len(old),
        "after": len(new),
        "added": sorted(new - old),
        "removed": sorted(old - new),
    }


def _redirects(before: Facts, after: Facts, _: str) -> Change | None:
    old, new = before["redirected_from"], after["redirected_from"]
    # Their order follows from the shortest way to them, which is none of the page's.
    return None if set(old) == set(new) else {"before": old, "after": new}


def _content(before: Facts, after: Facts, alike: Callable[[], float | None]) -> Change | None:
    old, new = before["content_hash"], after["content_hash"]
    if old is None and new is None:
        old, new = before["bytes"], after["bytes"]
        return None if old == new else {"before": old, "after": new}
    if old == new:
        return None
    if old is None or new is None:
        # One crawl has made no hashes, or the page is broken. But an empty body never has one.
        bare = before if old is None else after
        is_empty = is_fine(bare) and bare["bytes"] == 0
        return {"before": old, "after": new} if is_empty else None
    change = {"before": old, "after": new}
    similarity = alike()
    if similarity is not None:
        change["similarity"] = round(similarity, _DIGITS)
        change[COSMETIC] = similarity >= COSMETIC_SIMILARITY
    return change


_COMPARED = {"links": _links, "redirected_from": _redirects}
