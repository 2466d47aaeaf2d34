"""Which pages the site itself holds to be the most important: by links, and by PageRank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.entry import depth_of
from crawlproject.report.lists import Section, pages_list
from crawlproject.report.web import Web, page_ids

if TYPE_CHECKING:
    from crawlproject.frontier.reading import Reader
    from crawlproject.report.survey import Survey

ROWS = 1_000


class Ranked(NamedTuple):
    """A page, how often links lead there (1 is the mean), pages that link to it, its depth."""

    url: str
    rank: float
    inlinks: int
    depth: int


def section(survey: Survey) -> Section:
    known, inlinks = survey.known, survey.web.inlinks
    places = np.lexsort((known.ids, -inlinks, -survey.rank))[:ROWS]
    listing = pages_list(
        "linked",
        "Top pages by links",
        survey.ids(places),
        lead="PageRank is how often somebody who follows links at random comes by; 1 is the mean "
        "of all pages. The pages that matter to you should be on top.",
        empty="No pages.",
        of_page=("rank", "inlinks", "outlinks", "depth"),
    )
    return Section("links", "Most linked pages", [listing])


def ranked(reader: Reader, top: int) -> list[Ranked]:
    """The first pages of a crawl; of the same rank, those with more links."""
    ids = page_ids(reader.database)
    web = Web(reader.database, ids)
    rank = web.rank()
    found = []
    for place in np.lexsort((ids, -web.inlinks, -rank))[:top].tolist():
        level, url = reader.place_of(int(ids[place]))
        found.append(Ranked(url, float(rank[place]), int(web.inlinks[place]), depth_of(level)))
    return found
