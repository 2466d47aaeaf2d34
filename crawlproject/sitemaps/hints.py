"""What is known after a sitemap has been read. *Pure.*"""

from __future__ import annotations

from typing import NamedTuple

# Elements, entities, lines: more than any sitemap has. Each takes its time.
MOST_PARTS = 1_000_000

CHANGE_FREQUENCIES = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")


class Hint(NamedTuple):
    """What a sitemap says of a URL."""

    # A date, or a time with its zone, in ISO 8601.
    lastmod: str | None
    # One of CHANGE_FREQUENCIES.
    changefreq: str | None
    # From 0 to 1.
    priority: float | None
    # Canonical URLs by language, in lower case.
    alternates: dict[str, str]
    # Canonical URLs, each once.
    images: list[str]


class Sitemap(NamedTuple):
    # "urlset", "index", "text", "rss" or "atom"; "": it is none of them.
    kind: str
    # By canonical URL, in the order of the document.
    urls: dict[str, Hint]
    # Other sitemaps, by canonical URL, with their lastmod.
    nested: dict[str, str | None]
    # There was more, or may have been: a limit was reached, or something is broken.
    is_cut: bool
    # On one line: why it is no sitemap, or why it is cut.
    problem: str | None


class Cut(Exception):
    """The reading ends here; the message says why."""
