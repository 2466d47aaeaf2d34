"""What the list of pages says of each page. *Pure.*"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.monitoring.tally import FINE
from crawlproject.report.known import Flag
from crawlproject.report.lists import PAGE_COLUMN, Column, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.report.known import Known

INDEXABLE = ("yes", "error", "no HTML", "noindex", "names another page")

# What each page has, besides its URL.
COLUMNS = (
    PAGE_COLUMN,
    Column("answer", "Answer", Kind.ANSWER, is_filter=True),
    Column("outcome", "Outcome", is_filter=True, is_aside=True),
    Column("depth", "Depth", Kind.NUMBER, is_filter=True, hint="links from a seed"),
    Column("inlinks", "Inlinks", Kind.NUMBER, hint="pages that link to it"),
    Column(
        "outlinks", "Outlinks", Kind.NUMBER, is_aside=True, hint="links on it, also to other sites"
    ),
    Column("rank", "PageRank", Kind.RANK, hint="1 is the mean of all pages"),
    Column("fetch_ms", "Time", Kind.MILLISECONDS),
    Column("bytes", "Size", Kind.BYTES),
    Column("words", "Words", Kind.NUMBER, hint="of the main text"),
    Column("indexable", "Indexable", is_filter=True, hint="whether search engines may show it"),
    Column("type", "Type", is_filter=True, is_aside=True),
    Column("language", "Language", is_filter=True, is_aside=True),
    Column("host", "Host", is_filter=True, is_aside=True),
    Column("title", "Title", is_aside=True),
    Column("description", "Description", is_aside=True),
    Column("heading", "Main heading", is_aside=True),
    Column("canonical", "Canonical", Kind.URL, is_aside=True),
    Column("duplicate_of", "Duplicate of", Kind.URL, is_aside=True),
    Column("similarity", "Similarity", Kind.SHARE, is_aside=True),
    Column("in_sitemap", "In a sitemap", Kind.YES, is_filter=True, is_aside=True),
    Column("data", "Structured data", Kind.WORDS, is_filter=True, is_aside=True),
    Column("fetched", "Fetched", Kind.TIME, is_aside=True),
    Column("sources", "Pages that link to it", Kind.URLS, is_aside=True),
)


def indexable(known: Known) -> NDArray[np.uint8]:
    """By place, as ``INDEXABLE`` says it."""
    why = np.zeros(len(known), np.uint8)
    # The last word counts, so what matters most comes last.
    why[known.has(Flag.CANONICAL)] = INDEXABLE.index("names another page")
    why[known.has(Flag.NOINDEX)] = INDEXABLE.index("noindex")
    why[~known.has(Flag.HTML)] = INDEXABLE.index("no HTML")
    why[~known.is_outcome(FINE) | (known.statuses != 200)] = INDEXABLE.index("error")
    return why
