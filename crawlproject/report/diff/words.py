"""Differences in words. *Pure.*"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from crawlproject.monitoring.ending import plural
from crawlproject.records import to_text
from crawlproject.report.diff.fields import COSMETIC, KINDS, PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.diff.comparing import Change
    from crawlproject.report.diff.comparison import Comparison
    from crawlproject.report.diff.facts import Facts
    from crawlproject.report.diff.findings import Findings
    from crawlproject.report.diff.sides import Side

_NOTHING = {"status_code": "no answer", "error": "fine", "redirects_to": "a page"}
# Fields with several values: told by those that only one side has.
LISTS = frozenset({"links", "redirected_from", "headings"})


def headline(comparison: Comparison) -> str:
    """How many differences there are of which kind, in one sentence."""
    findings = comparison.findings
    told = ", ".join(_counted(findings)) if findings else _none_words(comparison)
    parts = [told, f"{findings.same:,} the same"]
    if findings.left_aside:
        parts.append(f"{findings.left_aside:,} of other kinds left aside")
    return f"{'; '.join(parts)}."


def _none_words(comparison: Comparison) -> str:
    """That nothing was found, and that it was not looked for everywhere."""
    kinds = "" if comparison.findings.only >= set(KINDS) else " of these kinds"
    fields = " in what is compared" if comparison.ignored else ""
    return f"No differences{kinds}{fields}"


def _counted(findings: Findings) -> Iterator[str]:
    for kind, parts in PARTS.items():
        counted = [f"{findings.count(part):,} {part}" for part in parts if findings.count(part)]
        if kind in findings.only:
            among = f" ({', '.join(counted)})" if counted else ""
            yield f"{findings.count(kind):,} {kind}{among}"
        else:
            yield from counted


def side_words(side: Side) -> str:
    """What is compared: which pages, and of when."""
    start = f", started {side.started_at}" if side.started_at else ""
    last = f", last fetched {side.last_fetched_at}" if side.last_fetched_at else ""
    return f"{plural(side.pages, 'page')}{start}{last}"


def notes(comparison: Comparison) -> Iterator[str]:
    """What a reader must know besides."""
    for side in (comparison.before, comparison.after):
        if side.open:
            are = "is" if side.open == 1 else "are"
            yield f"{side.name}: {plural(side.open, 'URL')} {are} not yet fetched."
    if comparison.ignored:
        yield f"Not compared: {', '.join(sorted(comparison.ignored))}."


def answer_words(page: Facts) -> str:
    """What a page answered: a status, or why there was none."""
    status, error = page["status_code"], page["error"]
    return str(error or "") if status is None else str(status)


def label(field: str) -> str:
    return field.replace("_", " ")


def change_words(field: str, change: Change) -> str:
    """A change on one line."""
    if field == "content":
        return content_words(change)
    gone, come = gone_and_come(field, change)
    if field in LISTS:
        parts = [f"+{len(come):,}" if come else "", f"−{len(gone):,}" if gone else ""]
        return " ".join(filter(None, parts)) or "in another order"
    return f"{' '.join(gone) or nothing(field)} → {' '.join(come) or nothing(field)}"


def nothing(field: str) -> str:
    """What a field without a value says."""
    return _NOTHING.get(field, "none")


def content_words(change: Change) -> str:
    if (similarity := change.get("similarity")) is not None:
        how_much = "" if similarity == 1 else f"{100 * similarity:.1f} % of "
        cosmetic = " (cosmetic)" if change[COSMETIC] else ""
        return f"{how_much}the text is the same{cosmetic}"
    old, new = change["before"], change["after"]
    if isinstance(old, int) and isinstance(new, int):
        return f"{old:,} → {new:,} bytes"
    if old is None or new is None:
        return "no body before" if old is None else "no body any more"
    return "the body is another"


def gone_and_come(field: str, change: Change) -> tuple[list[str], list[str]]:
    """What is said before only, and what after only, as texts; a list has one for each."""
    before, after = change["before"], change["after"]
    if field == "links":
        return change["removed"], change["added"]
    if field in LISTS:
        olds, news = _texts(before), _texts(after)
        return _without(olds, news), _without(news, olds)
    return _texts(before), _texts(after)


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [_text(one) for one in (value if isinstance(value, list) else [value])]


def _text(value: Any) -> str:
    # A pipeline may have made something else of headings.
    if isinstance(value, dict) and value.keys() >= {"level", "text"}:
        return f"h{value['level']} {value['text']}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, str | int | float) else to_text(value)


def _without(texts: list[str], others: list[str]) -> list[str]:
    """In their order, those that the others have less often."""
    more = Counter(texts) - Counter(others)
    left = []
    for text in texts:
        if more[text]:
            more[text] -= 1
            left.append(text)
    return left
