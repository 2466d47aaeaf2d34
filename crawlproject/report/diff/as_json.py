"""The differences as one JSON document, an entry a line, for programs::

    {
    "before": {"name": "crawls/monday", "pages": 63, "started_at": "…", …, "open": 0},
    "after": {"name": "crawls/tuesday", "pages": 64, "started_at": "…", …, "open": 0},
    "ignored": [],
    "counts": {"added": 1, "removed": 0, "changed": 1, "moved": 0, …, "same": 62, "left_aside": 0},
    "fields": {"title": 1},
    "changed": [
    {"url": "…", "verdict": null, "referrer": "…", "fields": {"title": {"before": "A", …}}}
    ],
    "moved": [],
    "added": [
    {"url": "…", "verdict": null, "status_code": 200, "error": null, "title": "New", "depth": 1, …}
    ],
    "removed": []
    }

Lists are in the order of URLs. Kinds that are not asked for are left out. Everything is written as
it is read, so memory stays flat.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from crawlproject.records import json_encoder
from crawlproject.report.diff.fields import ADDED, CHANGED, FIELDS, KINDS, MOVED, PARTS, REMOVED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.records import Record
    from crawlproject.report.diff.comparison import Comparison
    from crawlproject.report.diff.findings import Findings
    from crawlproject.report.diff.sides import Side

_encode = json_encoder("utf-8")


def write_json(comparison: Comparison, file: IO[bytes]) -> None:
    findings = comparison.findings
    counts = {kind: findings.count(kind) for kind in KINDS if kind in findings.only}
    head = {
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "ignored": sorted(comparison.ignored),
        "counts": {**counts, "same": findings.same, "left_aside": findings.left_aside},
        "fields": {name: findings.fields[name] for name in FIELDS if findings.fields[name]},
    }
    file.write(b"{\n")
    file.write(b",\n".join(_pair(name, _encode(value)) for name, value in head.items()))
    for name, entries in _lists(findings):
        file.write(b",\n" + _pair(name, b"["))
        separator = b"\n"
        for entry in entries:
            file.write(separator + _encode(entry))
            separator = b",\n"
        file.write(b"]" if separator == b"\n" else b"\n]")
    file.write(b"\n}\n")


def _lists(findings: Findings) -> Iterator[tuple[str, Iterator[Record]]]:
    for kind in (CHANGED, MOVED, ADDED, REMOVED):
        if findings.only & {kind, *PARTS[kind]}:
            yield kind, _entries(findings, kind)


def _entries(findings: Findings, kind: str) -> Iterator[Record]:
    if kind == CHANGED:
        for changed in findings.changed():
            how = {"verdict": changed.verdict, "referrer": changed.referrer}
            yield {"url": changed.url, **how, "fields": changed.changes}
    elif kind == MOVED:
        for moved in findings.moved():
            how = {"verdict": moved.verdict, "redirects": moved.redirects}
            yield {"url": moved.url, "to": moved.to, **how, **moved.page}
    else:
        for one in findings.alone(kind):
            yield {"url": one.url, "verdict": one.verdict, **one.page}


def _side(side: Side) -> Record:
    return {
        "name": side.name,
        "pages": side.pages,
        "started_at": side.started_at,
        "last_fetched_at": side.last_fetched_at,
        "open": side.open,
    }


def _pair(name: str, value: bytes) -> bytes:
    return f'"{name}": '.encode() + value
