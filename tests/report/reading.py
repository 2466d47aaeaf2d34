"""A report as a program reads it: its parts, unpacked."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any, NamedTuple

_PART = re.compile(rb'<script type="application/gzip" data-part="(\w+)">([\w+/=]+)</script>')


class Report(NamedTuple):
    head: dict[str, Any]
    # Values of all pages by column.
    pages: dict[str, list[Any]]
    lists: dict[str, dict[str, Any]]

    def texts(self, name: str, column: str) -> list[Any]:
        """A column of a list; pages and URLs as texts."""
        listing = self.lists[name]
        kinds = {one["name"]: one.get("kind") for one in listing["columns"]}
        values: list[Any] = listing["values"][column]
        if kinds[column] in ("page", "url"):
            return [self.url(ref, listing) for ref in values]
        if kinds[column] == "urls":
            return [[self.url(ref, listing) for ref in refs] for refs in values]
        return values

    def url(self, ref: int | None, listing: dict[str, Any]) -> str | None:
        if ref is None:
            return None
        url: str = self.pages["url"][ref] if ref >= 0 else listing["texts"][-1 - ref]
        return url


def report_in(html: bytes) -> Report:
    head: dict[str, Any] = {}
    pages: dict[str, list[Any]] = {}
    lists: dict[str, dict[str, Any]] = {}
    for kind, content in _PART.findall(html):
        if kind == b"charts":
            continue
        value = json.loads(gzip.decompress(base64.b64decode(content)))
        if kind == b"report":
            head = value
        elif kind == b"list":
            lists[value["name"]] = value
        else:
            for name, values in value.items():
                pages.setdefault(name, []).extend(values)
    return Report(head, pages, lists)
