"""The differences as one HTML file, which opens from disk, in light and dark, and can be printed.

Nothing is loaded and nothing runs: there is no script, and the policy in its head allows one style
sheet, by its hash. Lists are bounded: who needs millions of rows takes JSON or CSV.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from itertools import chain, islice
from typing import IO, TYPE_CHECKING

from crawlproject.report.diff.fields import (
    ADDED,
    BROKE,
    CHANGED,
    DEAD,
    FIELDS,
    LOST,
    MENDED,
    MOVED,
    REMOVED,
)
from crawlproject.report.diff.html_rows import alone_row, changed_row, moved_row, safe
from crawlproject.report.diff.words import headline, label, notes, side_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.diff.comparison import Comparison
    from crawlproject.report.diff.findings import Findings

# Of each list.
MAX_ROWS = 5000
# Longer lists are folded.
_UNFOLDED = 200

_KINDS = {
    BROKE: "They were fine, and are not",
    MENDED: "They were not fine, and are",
    MOVED: "The same content, another URL",
    CHANGED: "",
    ADDED: "",
    REMOVED: "",
}
# The figures, and the lists that they lead to.
_PLACES = {BROKE: BROKE, DEAD: ADDED, LOST: MOVED, **{kind: kind for kind in _KINDS}}
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>What has changed</h1>
"""
_POLICY = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"


def write_html(comparison: Comparison, file: IO[bytes]) -> None:
    for part in _document(comparison):
        file.write(part.encode("utf-8", "replace"))


def _document(comparison: Comparison) -> Iterator[str]:
    findings = comparison.findings
    style = files("crawlproject.report.diff").joinpath("diff.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    before, after = comparison.before, comparison.after
    title = f"What has changed: {before.name} → {after.name}"
    yield _HEAD.format(policy=_POLICY.format(digest), title=safe(title), style=style)
    yield '<dl class="sides">\n'
    for name, side in (("Before", before), ("After", after)):
        words = f'<span class="soft">{safe(side_words(side))}</span>'
        yield f"<dt>{name}</dt><dd>{safe(side.name)} {words}</dd>\n"
    yield "</dl>\n"
    yield from (f'<p class="note">{safe(note)}</p>\n' for note in notes(comparison))
    yield from _figures(findings)
    yield from _fields(findings)
    for kind in _KINDS:
        yield from _section(findings, kind)
    yield f"<footer>{safe(headline(comparison))}</footer>\n</body>\n</html>\n"


def _figures(findings: Findings) -> Iterator[str]:
    """The numbers, which lead to the lists."""
    yield '<nav class="figures" aria-label="Kinds of differences">\n'
    for kind, list_ in _PLACES.items():
        number = findings.count(kind)
        figure = f"<strong>{number:,}</strong> {kind}"
        place = "fields" if kind == CHANGED and not findings.otherwise_changed else list_
        if number:
            yield f'<a class="{kind}" href="#{place}">{figure}</a>\n'
        elif kind in findings.only:
            yield f"<span>{figure}</span>\n"
    yield f"<span><strong>{findings.same:,}</strong> the same</span>\n</nav>\n"


def _fields(findings: Findings) -> Iterator[str]:
    counts = sorted(findings.fields.items(), key=lambda one: (-one[1], FIELDS.index(one[0])))
    if not counts:
        return
    yield '<section class="panel" id="fields">\n<h2>Changes, by field</h2>\n<ul class="fields">\n'
    most = counts[0][1]
    for name, number in counts:
        bar = f'<meter min="0" max="{most}" value="{number}" aria-hidden="true"></meter>'
        yield f"<li><span>{label(name)}</span><span>{number:,}</span>{bar}</li>\n"
    yield "</ul>\n</section>\n"


def _section(findings: Findings, kind: str) -> Iterator[str]:
    number = _number(findings, kind)
    if not number:
        return
    others = "besides those that broke or were mended" if number < findings.count(kind) else ""
    said = " · ".join(filter(None, (f"{number:,}", _KINDS[kind], others)))
    is_open = " open" if number <= _UNFOLDED else ""
    yield f'<details class="panel" id="{kind}"{is_open}>\n<summary><h2>{kind.capitalize()}</h2> '
    yield f'<span class="soft">{said}</span></summary>\n<ol class="rows">\n'
    yield from islice(_rows(findings, kind), MAX_ROWS)
    yield "</ol>\n"
    if number > MAX_ROWS:
        yield f'<p class="soft">and {number - MAX_ROWS:,} more: -o FILE.csv has all</p>\n'
    yield "</details>\n"


def _number(findings: Findings, kind: str) -> int:
    if kind == CHANGED:
        return findings.otherwise_changed
    return findings.count(kind) if kind in (BROKE, MENDED) else findings.told(kind)


def _rows(findings: Findings, kind: str) -> Iterator[str]:
    if kind in (BROKE, MENDED, CHANGED):
        return map(changed_row, findings.changed(None if kind == CHANGED else kind))
    if kind == MOVED:
        # Those that are lost first.
        pairs = (findings.moved(redirects=redirects) for redirects in (False, True))
        return map(moved_row, chain.from_iterable(pairs))
    # Those that are broken first.
    both = (findings.alone(kind, is_fine=is_fine) for is_fine in (False, True))
    return map(alone_row, chain.from_iterable(both))
