"""The names of what a crawl remembers of itself."""

from __future__ import annotations

from contextlib import suppress

from crawlproject.records import from_text

# The fields that pipelines have added to pages.
ADDED_FIELDS = "added fields"
# The seeds of all runs.
SEEDS = "seeds"
# Those of them that were fed while it ran.
FED = "fed"
# Hosts that seeds have led to.
WIDENED = "widened"
# Names of seeds that led into a private network, or did not (``fetching/internal_seeds.py``).
INTERNAL_SEEDS = "internal seeds"
PUBLIC_SEEDS = "public seeds"
# The name of the spider: no other one can make the requests that wait.
SPIDER = "spider"
# When the first run began.
STARTED_AT = "started at"
# It has requests that every run makes before all others (``prelude.py``).
PRELUDE = "prelude"
# The last time that its pages were visited again (``rounds.py``).
ROUND = "round"
# Links have gone since the shortest ways were found.
UNSETTLED = "unsettled"
# Pages that no link leads to any more, as far as it is known, by id: since when.
LOSING = "losing"
# Reasons for which URLs were skipped, and are judged again since.
RECONSIDERED = "reconsidered"


def texts_in(name: str, note: str | None) -> list[str]:
    """Those in a note; none if there is no such note. Raises ValueError for what is no list."""
    values = None
    with suppress(ValueError):
        values = from_text(note or "[]")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"the note {name!r} is no list of texts")
    return values
