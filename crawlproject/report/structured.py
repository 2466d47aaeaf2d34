"""Which kinds of structured data the pages have. *Pure.*"""

from __future__ import annotations

from typing import Any

from crawlproject.report.lists import Column, Kind, Listing, Section, cut
from crawlproject.report.values import text_of

# A page may call its data anything.
MOST_TYPES = 1_000
_EXAMPLES = 100
_TYPE_CHARS = 120


class Types:
    """Pages by the types of their data, nested ones left out; fed page by page."""

    def __init__(self) -> None:
        self.pages = 0
        self.left_out = 0
        self._counts: dict[str, int] = {}
        self._items: dict[str, int] = {}
        self._examples: dict[str, list[int]] = {}

    def add(self, page: int, data: Any) -> None:
        names = names_of(data)
        self.pages += bool(names)
        for name in dict.fromkeys(names):
            if name not in self._counts and len(self._counts) >= MOST_TYPES:
                self.left_out += 1
                continue
            self._counts[name] = self._counts.get(name, 0) + 1
            self._items[name] = self._items.get(name, 0) + names.count(name)
            examples = self._examples.setdefault(name, [])
            if len(examples) < _EXAMPLES:
                examples.append(page)

    def codes(self) -> dict[str, int]:
        """The types that are counted, each with a number; to be asked for after all pages."""
        return {name: number for number, name in enumerate(self._counts)}

    def section(self) -> Section:
        rows = [
            (name, count, self._items[name], self._examples[name])
            for name, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        ]
        columns = (
            Column("type", "Type"),
            Column("pages", "Pages", Kind.NUMBER, link="pages?data={type}"),
            Column("items", "Items", Kind.NUMBER),
            Column("examples", "Pages with it", Kind.URLS, is_aside=True),
        )
        listing = Listing(
            "types",
            "Types",
            columns,
            rows,
            lead=f"What {self.pages:,} pages say for machines, in JSON-LD, microdata or RDFa.",
            empty="No page has structured data.",
            unrolled="examples",
        )
        notes = []
        if self.left_out:
            notes.append(f"Only the first {MOST_TYPES:,} types that were met are counted.")
        return Section("structured-data", "Structured data", [listing], notes)


def names_of(data: Any) -> list[str]:
    """The types of a page's items; one without a type is 'no type'."""
    names = []
    for item in data if isinstance(data, list) else ():
        types = item.get("type") if isinstance(item, dict) else None
        for name in types if isinstance(types, list) else [types]:
            text = text_of(name)
            names.append("no type" if text is None else cut(text, _TYPE_CHARS))
    return names
