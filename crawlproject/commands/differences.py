"""The differences between two crawls as a sheet: what ``scrapy diff`` shows to readers.

What matters most comes first: what broke, what was mended, what has moved. What has changed on a
page, and is neither, comes last.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from crawlproject.commands.sheet import Sheet
from crawlproject.report.diff.fields import ADDED, BROKE, FIELDS, MENDED, MOVED, REMOVED
from crawlproject.report.diff.words import (
    answer_words,
    change_words,
    headline,
    label,
    notes,
    side_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlproject.report.diff.comparing import Change
    from crawlproject.report.diff.comparison import Comparison
    from crawlproject.report.diff.findings import Alone, Changed, Findings, Moved

# Rows of each list.
_SHOWN = 20
# Characters of a value that has changed.
_LONGEST = 80


def draw(comparison: Comparison) -> None:
    findings = comparison.findings
    sheet = Sheet()
    sheet.say(headline(comparison), *notes(comparison))
    sides = (("before", comparison.before), ("after", comparison.after))
    sheet.table("", "lll", (), [(name, side.name, side_words(side)) for name, side in sides])
    for title, how in (("Broke", BROKE), ("Mended", MENDED)):
        _list(sheet, title, map(_verdict_row, findings.changed(how)), findings.count(how))
    # Those that are lost first.
    pairs = chain(findings.moved(redirects=False), findings.moved(redirects=True))
    _list(sheet, "Moved", map(_moved_row, pairs), findings.told(MOVED))
    sheet.table("Changed, by field", "lr", (), _fields(findings))
    for title, kind in (("Added", ADDED), ("Removed", REMOVED)):
        # Those that are broken first.
        rows = [*islice(findings.alone(kind, is_fine=False), _SHOWN)]
        rows += islice(findings.alone(kind, is_fine=True), _SHOWN - len(rows))
        _list(sheet, title, map(_alone_row, rows), findings.told(kind))
    for changed in islice(findings.changed(None), _SHOWN):
        sheet.pairs(changed.url, map(_field_row, changed.changes.items()))
    if (more := findings.otherwise_changed - _SHOWN) > 0:
        sheet.say(f"And {more:,} more changed: -o FILE.html shows them, --csv and --json have all.")
    sheet.write()


def _list(sheet: Sheet, title: str, rows: Iterable[Sequence[str]], number: int) -> None:
    shown = list(islice(rows, _SHOWN))
    justify = "l" * max(map(len, shown), default=0)
    sheet.table(title, justify, (), shown, number - len(shown))


def _fields(findings: Findings) -> list[tuple[str, str]]:
    counts = sorted(findings.fields.items(), key=lambda one: (-one[1], FIELDS.index(one[0])))
    return [(label(name), f"{number:,}") for name, number in counts]


def _verdict_row(one: Changed) -> tuple[str, str, str]:
    error = one.changes["error"]
    target = one.changes.get("redirects_to", {}).get("after")
    leads = f"→  {target}" if target else ""
    return error["after"] or f"was: {error['before']}", one.url, leads


def _moved_row(one: Moved) -> tuple[str, ...]:
    return one.url, "→", one.to, "" if one.redirects else "no redirect"


def _field_row(one: tuple[str, Change]) -> tuple[str, str]:
    field, change = one
    return label(field), _short(change_words(field, change))


def _alone_row(one: Alone) -> tuple[str, str]:
    return answer_words(one.page), one.url


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
