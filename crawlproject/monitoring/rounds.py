"""What came of visiting pages again, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.recrawl.visit import Change

if TYPE_CHECKING:
    from crawlproject.frontier.overview import RoundFacts

# What is told of pages that were visited again, in this order: one of them, and several.
_WORDS = (
    (Change.CHANGED, "has changed", "have changed"),
    (Change.COSMETIC, "has changed in looks only", "have changed in looks only"),
    (Change.GONE, "is gone", "are gone"),
    (Change.FAILED, "could not be had", "could not be had"),
    (Change.BACK, "is back", "are back"),
)


def round_note(facts: RoundFacts | None) -> str | None:
    """How many pages were visited again, and what was found."""
    if facts is None:
        return None
    found = [
        f"{count:,} {one if count == 1 else several}"
        for change, one, several in _WORDS
        if (count := facts.changes.get(change, 0))
    ]
    same = facts.unchanged
    if found or not same:
        found.insert(0, f"{same:,} {'has' if same == 1 else 'have'} not changed")
    elif facts.visited == 1:
        found = ["it has not changed"]
    else:
        found = ["none has changed"]
    was = "was" if facts.visited == 1 else "were"
    pages = f"{facts.visited:,} page{'' if facts.visited == 1 else 's'}"
    sentence = f"{pages} {was} visited again: {', '.join(found)}"
    others = [
        f"{count:,} {one if count == 1 else several}"
        for change, one, several in (
            (Change.NEW, "page is new", "pages are new"),
            (Change.UNLINKED, "is not linked to any more", "are not linked to any more"),
        )
        if (count := facts.changes.get(change, 0))
    ]
    return f"{'; '.join([sentence, *others])}."
