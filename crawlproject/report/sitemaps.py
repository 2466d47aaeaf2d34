"""What the site's own sitemaps name: pages that nothing links to, and pages that they leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.frontier.base import DEPTH
from crawlproject.frontier.entry import BY_SITEMAP
from crawlproject.frontier.rows import state_of
from crawlproject.monitoring.ending import plural
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
    listings = [_orphans(survey), _unlisted(survey), _sitemaps(survey)]
    return Section(name, title, listings, _notes(survey))


def _notes(survey: Survey) -> list[str]:
    """What may make orphans of pages that are none."""
    missing = (
        (survey.counts.skipped.get(DEPTH, 0), f"too deep (depth={survey.limits.depth})"),
        (survey.counts.open, "not yet fetched"),
    )
    some = [
        f"{plural(count, 'URL')} {'is' if count == 1 else 'are'} {what}"
        for count, what in missing
        if count
    ]
    if not some:
        return []
    return [f"{', '.join(some)}: what is called an orphan may be linked from there."]


def _orphans(survey: Survey) -> Listing:
    known = survey.known
    # As ``is_orphan`` has it, but for those that a page links to from where nobody followed it.
    is_alone = (known.levels == BY_SITEMAP + 1) & ~survey.web.is_linked
    places = np.flatnonzero(is_alone)
    # Of the others, something else is wrong, or nobody is to find them.
    lost = int((is_alone & known.indexable()).sum())
    why = "Visitors don't find them, and search engines take them for unimportant."
    words = ("page that nothing links to", "pages that nothing links to")
    return pages_list(
        "orphans",
        "Orphans",
        survey.ids(places[:ROWS]),
        lead="A sitemap names them, and no page that links lead to links to them.",
        empty="No orphans. To every page that a sitemap names, a page links that can be reached.",
        total=len(places),
        of_page=("answer", "indexable", "words"),
        issues=[Issue(Severity.WARNING, lost, *words, why, "orphans?indexable=yes")],
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
