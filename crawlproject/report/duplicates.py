"""Pages that are the same as others, or almost, by clusters."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from crawlproject.report.lists import Column, Issue, Kind, Listing, Row, Section, Severity

if TYPE_CHECKING:
    from crawlproject.pipelines.clusters import Mark
    from crawlproject.report.survey import Survey

    # Clusters: the first page, and the others.
    Ordered = list[tuple[int, list[Mark]]]

ROWS = 20_000
_CLUSTERS = 5_000
# Pages of a cluster that are named.
_MEMBERS = 100

SAME, ALMOST = "same body", "almost the same text"
_NOT_COMPARED = "Pages were not compared with each other in this crawl (DUPLICATES_ENABLED is off)."


def section(survey: Survey) -> Section:
    name, title = "duplicates-section", "Duplicates"
    if survey.copies is None or SignatureParameters.from_note(survey.reader.note(NOTE)) is None:
        return Section(name, title, notes=[_NOT_COMPARED])
    clusters: defaultdict[int, list[Mark]] = defaultdict(list)
    for mark in survey.copies:
        clusters[mark.of].append(mark)
    # The largest first, then by the number of their first page.
    ordered = sorted(clusters.items(), key=lambda item: (-len(item[1]), item[0]))
    pages = _pages(survey, ordered)
    return Section(name, title, [_clusters(ordered), pages] if ordered else [pages])


def _competing(survey: Survey, ordered: Ordered) -> set[int]:
    """The pages that search engines may show beside another of their cluster: of each cluster, all
    that they may show but one. The one is the first page, or what it names as the real one.
    """
    known, web = survey.known, survey.web
    is_indexable = known.indexable()

    def is_shown(page: int) -> bool:
        place = web.place_of(page)
        return place is not None and bool(is_indexable[place])

    competing: set[int] = set()
    for first, marks in ordered:
        shown = [mark for mark in marks if is_shown(mark.page)]
        if shown and not is_shown(first):
            place = web.place_of(first)
            real = 0 if place is None else int(known.canonicals[place])
            kept = min(shown, key=lambda mark: (mark.page != real, mark.similarity is not None))
            shown.remove(kept)
        competing.update(mark.page for mark in shown)
    return competing


def _clusters(ordered: Ordered) -> Listing:
    columns = (
        Column("page", "First page", Kind.PAGE, hint="the one nearest to a seed"),
        Column("pages", "Pages", Kind.NUMBER, hint="with the first one"),
        Column("same", "Same body", Kind.NUMBER),
        Column("almost", "Almost the same", Kind.NUMBER),
        Column("members", "The others", Kind.URLS, is_aside=True),
    )
    rows = []
    for first, marks in ordered[:_CLUSTERS]:
        same = sum(mark.similarity is None for mark in marks)
        members = [mark.page for mark in marks[:_MEMBERS]]
        rows.append((first, len(marks) + 1, same, len(marks) - same, members))
    return Listing(
        "clusters",
        "Clusters",
        columns,
        rows,
        lead="A page, and those that have its body or almost its text. Menus and footers don't "
        "count.",
        total=len(ordered),
        of_page=("depth", "inlinks"),
        unrolled="members",
    )


def _pages(survey: Survey, ordered: Ordered) -> Listing:
    columns = (
        Column("page", "Page", Kind.PAGE),
        Column("how", "How", is_filter=True),
        Column("similarity", "Similarity", Kind.SHARE),
        Column("first", "First page", Kind.URL),
        Column("pages", "In its cluster", Kind.NUMBER),
        Column(
            "competes",
            "Competes",
            Kind.YES,
            is_filter=True,
            hint="search engines may show it, and another of its cluster",
        ),
    )
    competing = _competing(survey, ordered)
    rows: list[Row] = []
    for first, marks in ordered:
        if len(rows) >= ROWS:
            break
        for mark in marks:
            how = SAME if mark.similarity is None else ALMOST
            similarity = 1.0 if mark.similarity is None else mark.similarity
            competes = int(mark.page in competing)
            rows.append((mark.page, how, similarity, first, len(marks) + 1, competes))
    listing = Listing(
        "duplicates",
        "Duplicate pages",
        columns,
        rows[:ROWS],
        lead="The same, page by page.",
        empty="No page has the body, or almost the text, of another.",
        total=sum(len(marks) for _, marks in ordered),
        of_page=("indexable", "canonical"),
    )
    listing.issues = _issues(ordered, competing)
    return listing


def _issues(ordered: Ordered, competing: set[int]) -> list[Issue]:
    """A duplicate that names its original is in order, whichever of them is nearer to a seed."""
    counts = {SAME: 0, ALMOST: 0}
    for _, marks in ordered:
        for mark in (mark for mark in marks if mark.page in competing):
            counts[SAME if mark.similarity is None else ALMOST] += 1
    return [
        Issue(
            Severity.WARNING,
            counts[SAME],
            "page with the body of another, and no canonical link",
            "pages with the body of others, and no canonical link",
            "Search engines choose one of them, perhaps not yours, and links to them don't add up.",
            f"duplicates?how={SAME}&competes=1",
        ),
        Issue(
            Severity.NOTICE,
            counts[ALMOST],
            "page with almost the text of another",
            "pages with almost the text of others",
            "Pages that say the same compete with each other; a canonical link says which counts.",
            f"duplicates?how={ALMOST}&competes=1",
        ),
    ]
