"""Pages made by hand, and what has changed between two lists of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crawlproject.report.diff.comparison import compare
from crawlproject.report.diff.facts import Reduced
from crawlproject.report.diff.fields import ADDED, DEAD, KINDS, REMOVED
from crawlproject.report.diff.sides import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.pipelines.parameters import SignatureParameters
    from crawlproject.report.diff.comparing import Changes
    from crawlproject.report.diff.comparison import Comparison
    from crawlproject.report.diff.facts import Facts

Record = dict[str, Any]
SITE = "https://site.example"


def page(path: str, **fields: Any) -> Record:
    """A fine one, whose content is told by its path unless it is given."""
    return {
        "url": f"{SITE}{path}" if path.startswith("/") else path,
        "status_code": 200,
        "depth": 1,
        "links": [],
        "content_hash": f"hash of {path}",
        "bytes": 5000,
        **fields,
    }


def broken(path: str, status: int = 404) -> Record:
    error = f"unexpected status {status}"
    return page(path, status_code=status, error=error, content_hash=None)


class Pages(Side):
    def __init__(
        self,
        name: str,
        records: Iterable[Record],
        ignored: Iterable[str] = (),
        parameters: SignatureParameters | None = None,
        signatures: dict[str, bytes] | None = None,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self._records = list(records)
        self._reduced = Reduced(frozenset(ignored))
        self._signatures = signatures or {}

    def read(self) -> Iterator[Facts]:
        return map(self._reduced, self._records)

    def signature(self, url: str) -> bytes | None:
        return self._signatures.get(url)


@contextmanager
def compared(
    before: Iterable[Record],
    after: Iterable[Record],
    ignored: Iterable[str] = (),
    only: Iterable[str] = KINDS,
) -> Iterator[Comparison]:
    left_out = frozenset(ignored)
    sides = (Pages("A", before, left_out), Pages("B", after, left_out))
    comparison = compare(*sides, left_out, only)
    try:
        yield comparison
    finally:
        comparison.close()


class Told:
    """Everything that was found, as plain values; URLs of the site as paths."""

    def __init__(self, comparison: Comparison) -> None:
        findings = comparison.findings
        self.changed: dict[str, Changes] = {
            _path(one.url): one.changes for one in findings.changed()
        }
        self.verdicts = {_path(one.url): one.verdict for one in findings.changed() if one.verdict}
        self.moved = [(_path(one.url), _path(one.to), one.redirects) for one in findings.moved()]
        self.added = [_path(one.url) for one in findings.alone(ADDED)]
        self.dead = [_path(one.url) for one in findings.alone(ADDED) if one.verdict == DEAD]
        self.removed = [_path(one.url) for one in findings.alone(REMOVED)]
        self.same = findings.same
        self.left_aside = findings.left_aside
        self.counts = {kind: findings.count(kind) for kind in KINDS}
        self.is_different = bool(findings)


def differences(
    before: Iterable[Record],
    after: Iterable[Record],
    ignored: Iterable[str] = (),
    only: Iterable[str] = KINDS,
) -> Told:
    with compared(before, after, ignored, only) as comparison:
        return Told(comparison)


def _path(url: str) -> str:
    return url.removeprefix(SITE)
