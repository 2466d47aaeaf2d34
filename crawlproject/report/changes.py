"""What has changed since the last crawl of the same crawl directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.monitoring.ending import plural
from crawlproject.records import from_text
from crawlproject.report.lists import (
    URL_CHARS,
    Column,
    Issue,
    Kind,
    Listing,
    Row,
    Section,
    Severity,
    cut,
)

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

ROWS = 20_000
_FIRST = "This is the first crawl in this crawl directory: the next one will say what has changed."
_VALUE_CHARS = 120

# In this order.
_KINDS = {
    "gone": "gone",
    "failed": "failed",
    "new": "new",
    "back": "back again",
    "changed": "changed",
    "unlinked": "no longer linked",
    "cosmetic": "changed a little",
}
_COLUMNS = (
    Column("page", "Page", Kind.PAGE),
    Column("kind", "Change", is_filter=True),
    Column("fields", "What"),
    Column("at", "Seen", Kind.TIME),
    Column("detail", "Before and after", Kind.LINES, is_aside=True),
)


def section(survey: Survey) -> Section:
    name, title = "changes-section", "Changes"
    # As the summary has it; None: there is no earlier one.
    last = survey.round
    if last is None:
        return Section(name, title, notes=[_FIRST])
    counts = last.changes
    rows: list[Row] = []
    for kind in sorted(counts, key=lambda kind: (_place(kind), kind)):
        found = survey.database.execute(
            "SELECT id, at, detail FROM changes WHERE at >= ? AND kind = ? ORDER BY id LIMIT ?",
            (last.began_at, kind, ROWS - len(rows)),
        )
        for number, at, detail in found:
            fields = _fields(detail)
            lines = [line for field, values in fields.items() for line in _lines(field, values)]
            rows.append((number, _KINDS.get(kind, kind), ", ".join(map(_words, fields)), at, lines))
    listing = Listing(
        "changes",
        "Since the last crawl",
        _COLUMNS,
        rows,
        lead="What this crawl has found otherwise than the one before.",
        empty="Nothing has changed since the last crawl.",
        total=sum(counts.values()),
        of_page=("answer",),
    )
    listing.issues = [
        Issue(
            Severity.WARNING,
            counts.get("gone", 0),
            "page that is gone since the last crawl",
            "pages that are gone since the last crawl",
            "They answered at the last crawl. Other sites and search engines may still send "
            "visitors.",
            f"changes?kind={_KINDS['gone']}",
        ),
        Issue(
            Severity.WARNING,
            counts.get("failed", 0),
            "page that could not be had since the last crawl",
            "pages that could not be had since the last crawl",
            "They answered at the last crawl, and no longer do. That may pass; look again soon.",
            f"changes?kind={_KINDS['failed']}",
        ),
    ]
    return Section(name, title, [listing])


def _place(kind: str) -> int:
    return list(_KINDS).index(kind) if kind in _KINDS else len(_KINDS)


def _fields(detail: str) -> dict[str, Any]:
    try:
        fields = from_text(detail)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _lines(field: str, values: Any) -> list[str]:
    """As ``frontier/comparing.py`` and ``visits.py`` have found it."""
    if not (isinstance(values, list) and len(values) == 2):
        return [f"{_words(field)}: {_value(values)}"]
    before, after = values
    if field == "links":
        return [*_links("gone", before), *_links("new", after)]
    if field == "content":
        alike = after if isinstance(after, float) else 0.0
        return [f"{_words(field)}: {100 * alike:.1f} % the same"]
    return [f"{_words(field)}: {_value(before)} → {_value(after)}"]


def _links(how: str, some: Any) -> list[str]:
    """Links that have come or gone: how many, and the first of them."""
    if not isinstance(some, dict) or not isinstance(some.get("count"), int) or not some["count"]:
        return []
    urls = some.get("urls")
    named = [cut(str(url), URL_CHARS) for url in urls] if isinstance(urls, list) else []
    more = ["…"] if some["count"] > len(named) else []
    return [f"{plural(some['count'], f'{how} link')}: {', '.join(named + more)}"]


def _words(field: str) -> str:
    return "main text" if field == "content" else cut(field.replace("_", " "), _VALUE_CHARS)


def _value(value: Any) -> str:
    if isinstance(value, list):
        # Headings have a text.
        texts = [one.get("text", one) if isinstance(one, dict) else one for one in value]
        value = " · ".join(map(str, texts)) or None
    return "nothing" if value is None else cut(str(value), _VALUE_CHARS)
