"""Rows of the HTML file. *Pure.*

All that a site says is text, with nothing hidden in it; only http and https become links.
"""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from crawlproject.printable import harmless
from crawlproject.report.diff.fields import BROKE
from crawlproject.report.diff.words import (
    LISTS,
    answer_words,
    change_words,
    gone_and_come,
    label,
    nothing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.diff.comparing import Change
    from crawlproject.report.diff.findings import Alone, Changed, Moved

# Values of a list, each way.
MAX_VALUES = 20
# Characters of a value.
_LONGEST = 400
_LINKS = ("http://", "https://")
_URLS = frozenset({"links", "redirected_from", "redirects_to", "canonical"})


def changed_row(one: Changed) -> str:
    changes = "".join(
        f"<div><dt>{label(field)}</dt><dd>{_change(field, change)}</dd></div>\n"
        for field, change in one.changes.items()
    )
    found = _referrer(one.referrer) if one.verdict == BROKE else ""
    return f'<li>{link(one.url)}{found}\n<dl class="changes">\n{changes}</dl></li>\n'


def moved_row(one: Moved) -> str:
    how = "redirects there" if one.redirects else "no redirect"
    tone = "come" if one.redirects else "gone"
    return (
        f'<li><span class="badge {tone}">{how}</span> {link(one.url)} → {link(one.to)}'
        f"{_title(one.page['title'])}</li>\n"
    )


def alone_row(one: Alone) -> str:
    tone = " gone" if one.page["error"] else ""
    answer = safe(answer_words(one.page)) or "?"
    found = _referrer(one.page["referrer"]) if tone else ""
    return (
        f'<li><span class="badge{tone}">{answer}</span> {link(one.url)}'
        f"{_title(one.page['title'])}{found}</li>\n"
    )


def safe(value: object) -> str:
    """A text of strangers, so that it is nothing but a text."""
    text = value if isinstance(value, str) else str(value)
    cut = f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
    return escape(harmless(cut))


def link(url: object) -> str:
    text = str(url)
    if not text.lower().startswith(_LINKS):
        return f"<bdi>{safe(text)}</bdi>"
    return f'<a href="{escape(harmless(text))}"><bdi>{safe(text)}</bdi></a>'


def _referrer(url: object) -> str:
    """Where a page that is broken is linked from: that is what is to be mended."""
    return f'<span class="title">linked from {link(url)}</span>' if url else ""


def _title(title: object) -> str:
    return f'<span class="title"><bdi>{safe(title)}</bdi></span>' if title else ""


def _change(field: str, change: Change) -> str:
    if field == "content":
        return safe(change_words(field, change))
    gone, come = gone_and_come(field, change)
    if field in LISTS:
        values = "".join((*_values(field, "del", gone), *_values(field, "ins", come)))
        words = safe(change_words(field, change))
        return (
            f"<details><summary>{words}</summary><ul>{values}</ul></details>" if values else words
        )
    return " → ".join(
        f"<{element}>{_value(field, ' '.join(texts))}</{element}>" if texts else nothing(field)
        for element, texts in (("del", gone), ("ins", come))
    )


def _values(field: str, element: str, values: list[str]) -> Iterator[str]:
    for value in islice(values, MAX_VALUES):
        yield f"<li><{element}>{_value(field, value)}</{element}></li>"
    if len(values) > MAX_VALUES:
        yield f'<li class="soft">and {len(values) - MAX_VALUES:,} more</li>'


def _value(field: str, value: str) -> str:
    return link(value) if field in _URLS else f"<bdi>{safe(value)}</bdi>"
