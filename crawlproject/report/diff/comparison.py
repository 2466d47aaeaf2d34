"""Two sides are compared: read, laid side by side, and what differs is found."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.report.diff.comparing import Comparing
from crawlproject.report.diff.fields import KINDS
from crawlproject.report.diff.findings import AFTER, BEFORE, Findings
from crawlproject.report.diff.merge import merged
from crawlproject.report.diff.sides import OutOfOrder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlproject.report.diff.facts import Facts
    from crawlproject.report.diff.sides import Side


class Comparison(NamedTuple):
    """Two sides, and what has changed between them: to be closed by who gets it."""

    before: Side
    after: Side
    ignored: frozenset[str]
    findings: Findings

    def close(self) -> None:
        self.findings.close()


def compare(
    before: Side,
    after: Side,
    ignored: frozenset[str] = frozenset(),
    only: Iterable[str] = KINDS,
) -> Comparison:
    """Raises BadInput."""
    while True:
        with ExitStack() as stack:
            findings = stack.enter_context(closing(Findings(only)))
            try:
                _find(findings, before, after, Comparing(ignored))
            except OutOfOrder as found:
                found.side.is_sorted = False
                continue
            stack.pop_all()
            return Comparison(before, after, ignored, findings)


def _find(findings: Findings, before: Side, after: Side, comparing: Comparing) -> None:
    # Closed at once, whatever happens: they hold files.
    with closing(before.by_url()) as olds, closing(after.by_url()) as news:
        for old, new in merged(olds, news):
            if old is not None and new is not None:
                alike = partial(_similarity, before, after, old["url"])
                findings.add_both(old, new, comparing(old, new, alike))
            elif old is not None:
                findings.add_alone(BEFORE, old)
            elif new is not None:
                findings.add_alone(AFTER, new)
            _note_redirects(findings, old, new)
    findings.settle(comparing)


def _note_redirects(findings: Findings, old: Facts | None, new: Facts | None) -> None:
    olds = set() if old is None else set(old["redirected_from"])
    news = set() if new is None else set(new["redirected_from"])
    if old is not None and olds != news:
        findings.add_redirects(BEFORE, sorted(olds - news), old["url"])
    if new is not None and olds != news:
        findings.add_redirects(AFTER, sorted(news - olds), new["url"])


def _similarity(before: Side, after: Side, url: str) -> float | None:
    """None: it is not known, or the signatures have different parameters."""
    parameters = before.parameters
    if parameters is None or parameters != after.parameters:
        return None
    old, new = before.signature(url), after.signature(url)
    if old is None or new is None:
        return None
    return parameters.signatures().similarity(old, new)
