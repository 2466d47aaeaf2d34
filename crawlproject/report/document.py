"""The report as one file: everything is in it, and nothing is asked for from elsewhere.

The same crawl makes the same bytes. It stays below 30 MB: what pages and lists take is bounded
(``_PAGES_BYTES``, ``_LISTS_BYTES``), and what does not fit is left out, which the report says.
"""

from __future__ import annotations

from html import escape
from typing import IO, TYPE_CHECKING, Any

from crawlproject.printable import harmless
from crawlproject.records import encodable
from crawlproject.report import (
    assets,
    canonicals,
    changes,
    duplicates,
    failures,
    hosts,
    linked,
    redirects,
    scripted,
    shape,
    sitemaps,
    skipped,
    titles,
    traps,
    weight,
)
from crawlproject.report.lists import Kind, cut
from crawlproject.report.overview import overview
from crawlproject.report.packing import element, packed, packed_text
from crawlproject.report.page_columns import COLUMNS
from crawlproject.report.pages import MOST_PAGES, PageParts
from crawlproject.report.refs import Refs
from crawlproject.report.survey import Survey

if TYPE_CHECKING:
    from crawlproject.frontier.reading import Reader
    from crawlproject.monitoring.ending import Limits
    from crawlproject.pipelines.marking import Marks
    from crawlproject.report.lists import Listing, Section

_PAGES_BYTES = 18_000_000
_LISTS_BYTES = 9_000_000
_TITLE_CHARS = 100


def write_report(
    file: IO[bytes],
    reader: Reader,
    marks: Marks | None,
    limits: Limits,
    *,
    most_pages: int = MOST_PAGES,
    pages_bytes: int = _PAGES_BYTES,
    lists_bytes: int = _LISTS_BYTES,
) -> None:
    """``marks`` is None where pages were not compared; ``limits`` are those of the crawl."""
    survey = Survey(reader, marks, limits)
    sections = sections_of(survey)
    before, after = _frame(reader.seeds())
    file.write(before)
    listings = [listing for section in sections for listing in section.listings]
    parts = PageParts(survey, listings, most_pages)
    _write_pages(file, parts, pages_bytes)
    room = lists_bytes
    for listing in listings:
        # Some for those that come behind, too.
        content = _packed_listing(listing, Refs(parts.numbers, survey.url), room // 4)
        room -= len(content)
        file.write(element("list", content))
    head = {
        **overview(survey, sections),
        "page_list": {
            "name": "pages",
            "title": "All pages",
            "empty": "No pages.",
            "total": survey.tally.pages,
            "columns": [_column(column) for column in COLUMNS],
            "words": parts.words(),
        },
        "sections": [_section(section) for section in sections],
    }
    file.write(element("report", packed(head)))
    file.write(element("charts", packed_text(assets.library())))
    file.write(after)


def sections_of(survey: Survey) -> list[Section]:
    """In the order of the page."""
    return [
        shape.section(survey.shape.tree()),
        failures.broken(survey),
        failures.blocked(survey),
        scripted.section(survey),
        redirects.section(survey),
        titles.section(survey),
        canonicals.section(survey),
        duplicates.section(survey),
        sitemaps.section(survey),
        linked.section(survey),
        weight.section(survey),
        survey.structured.section(),
        changes.section(survey),
        traps.section(survey),
        skipped.section(survey),
        hosts.section(survey),
    ]


def _frame(seeds: list[str]) -> tuple[bytes, bytes]:
    """What stands before the data, and behind it."""
    style, script = assets.style(), assets.script()
    policy = assets.policy(scripts=(script, assets.library()), styles=(style,))
    subject = cut(harmless(encodable(seeds[0])), _TITLE_CHARS) if seeds else "a crawl"
    before, after = assets.template().split("{{data}}")
    for name, value in (
        ("policy", policy),
        ("style", style.decode()),
        # Last: whatever a site is called, nothing of it is replaced.
        ("title", escape(f"Crawl report of {subject}")),
    ):
        before = before.replace(f"{{{{{name}}}}}", value)
    return before.encode(), after.replace("{{script}}", script.decode()).encode()


def _write_pages(file: IO[bytes], parts: PageParts, room: int) -> None:
    """As many as there is room for."""
    written = 0
    for part in parts:
        content = packed(part)
        if len(content) > room:
            parts.forget(written)
            break
        room -= len(content)
        written += len(part["url"])
        file.write(element("pages", content))


def _packed_listing(listing: Listing, refs: Refs, room: int) -> bytes:
    """As many rows as there is room for."""
    rows = len(listing.rows)
    while True:
        content = packed(_listing(listing, refs, rows))
        if len(content) <= room or not rows:
            return content
        rows //= 2
        refs = refs.anew()


def _listing(listing: Listing, refs: Refs, rows: int) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for place, column in enumerate(listing.columns):
        cells = [row[place] for row in listing.rows[:rows]]
        if column.kind in (Kind.PAGE, Kind.URL):
            cells = [refs(cell) for cell in cells]
        elif column.kind is Kind.URLS:
            cells = [[refs(ref) for ref in cell] for cell in cells]
        values[column.name] = cells
    return {
        "name": listing.name,
        "title": listing.title,
        "lead": listing.lead,
        "empty": listing.empty,
        "total": listing.total,
        "rows": rows,
        "of_page": listing.of_page,
        "unrolled": listing.unrolled,
        "is_check": bool(listing.issues),
        "columns": [_column(column) for column in listing.columns],
        "values": values,
        "texts": refs.texts,
    }


def _column(column: Any) -> dict[str, Any]:
    return {name: value for name, value in column._asdict().items() if value}


def _section(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "notes": section.notes,
        "lists": [listing.name for listing in section.listings],
    }
