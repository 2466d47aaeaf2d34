"""What the site's own sitemaps name: pages that nothing links to, and pages that they leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.frontier.entry import BY_SITEMAP
from crawlproject.frontier.rows import state_of
from crawlproject.report.lists import Column, Issue, Kind, Listing, Section, Severity, pages_list

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

ROWS = 20_000
_NONE = (
    "No sitemap was read in this crawl, so nobody knows which pages are in one, and which in none."
)


def section(survey: Survey) -> Section:
    name, title = "sitemaps-section", "Sitemaps"
    if not survey.web.sitemaps:
        return Section(name, title, notes=[_NONE])
    return Section(name, title, [_orphans(survey), _unlisted(survey), _sitemaps(survey)])


def _orphans(survey: Survey) -> Listing:
    # As ``is_orphan`` has it.
    places = np.flatnonzero(survey.known.levels == BY_SITEMAP + 1)
    why = "Visitors don't find them, and search engines take them for unimportant."
    words = ("page that nothing links to", "pages that nothing links to")
    return pages_list(
        "orphans",
        "Orphans",
        survey.ids(places[:ROWS]),
        lead="A sitemap names them, and no page that links lead to does.",
        empty="No orphans. Every page in a sitemap can be reached by links.",
        total=len(places),
        of_page=("answer", "words"),
        issues=[Issue(Severity.WARNING, len(places), *words, why, "orphans")],
    )


def _unlisted(survey: Survey) -> Listing:
    known = survey.known
    is_listed = survey.in_sitemap[known.ids]
    # Of hosts that have a sitemap at all.
    hosts = np.unique(known.hosts[is_listed])
    is_missing = known.indexable() & ~is_listed & np.isin(known.hosts, hosts)
    places = np.flatnonzero(is_missing)
    places = places[np.lexsort((places, -survey.web.inlinks[places]))]
    why = "Search engines learn of new pages and changes sooner by a sitemap."
    words = ("page that no sitemap names", "pages that no sitemap names")
    return pages_list(
        "unlisted",
        "Missing from sitemaps",
        survey.ids(places[:ROWS]),
        lead="Search engines may show them, and no sitemap of their host names them.",
        empty="Every page that search engines may show is in a sitemap.",
        total=len(places),
        of_page=("depth", "inlinks"),
        issues=[Issue(Severity.NOTICE, len(places), *words, why, "unlisted")],
    )


def _sitemaps(survey: Survey) -> Listing:
    known = survey.known
    is_indexable = known.indexable()
    rows = []
    for sitemap in survey.web.sitemaps[:ROWS]:
        (state,) = survey.database.execute(
            "SELECT state FROM urls WHERE id = ?", (sitemap.id,)
        ).fetchone()
        places = survey.web.places[sitemap.names]
        places = places[places >= 0]
        rows.append(
            (
                survey.url(sitemap.id),
                str(state_of(state)),
                len(sitemap.names),
                len(places),
                int(is_indexable[places].sum()),
            )
        )
    columns = (
        Column("url", "Sitemap", Kind.URL),
        Column("state", "State", is_filter=True),
        Column("names", "URLs", Kind.NUMBER),
        Column("pages", "Crawled", Kind.NUMBER),
        Column("indexable", "Indexable", Kind.NUMBER),
    )
    total = len(survey.web.sitemaps)
    return Listing("sitemaps", "Sitemaps that were read", columns, rows, total=total)
