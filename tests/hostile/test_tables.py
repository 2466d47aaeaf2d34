"""What a site's text can do to who opens a table of it in a spreadsheet of any locale."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.exports.pages_csv import PagesCsvExporter
from crawlproject.items import Page
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = [case["text"] for case in json.loads((PROJECT / "tests/exports/cells.json").read_text())]
# By locale, LibreOffice's default, and what is found by a spreadsheet that guesses.
READERS = (",", ";", "\t", "|", "\u061b", ",;\t", ",;|\t")


def cells(text: str, separators: str) -> Iterator[str]:
    """A table as a spreadsheet reads it that splits rows at these separators.

    A quote counts where a cell begins, and ends at one that is not doubled; all behind it is text,
    up to the next separator.
    """
    place, end = 0, len(text)
    while place < end:
        value = ""
        if text[place] == '"':
            place += 1
            while place < end:
                if text.startswith('""', place):
                    value += '"'
                    place += 2
                elif text[place] == '"':
                    place += 1
                    break
                else:
                    value += text[place]
                    place += 1
        while place < end and text[place] not in separators + "\r\n":
            value += text[place]
            place += 1
        yield value
        place += 1


def is_formula(value: str) -> bool:
    shown = "".join(
        sign for sign in value if not sign.isspace() and unicodedata.category(sign)[0] not in "CM"
    )
    is_number = re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", value, re.IGNORECASE)
    return unicodedata.normalize("NFKC", shown)[:1] in tuple("=+-@") and not is_number


def exported(pages: list[Page], **options: Any) -> str:
    file = io.BytesIO()
    exporter = PagesCsvExporter(file, **options)
    exporter.start_exporting()
    for page in pages:
        exporter.export_item(page)
    exporter.finish_exporting()
    return file.getvalue().decode()


def test_the_reader_finds_what_is_not_defused() -> None:
    """A check of the checks."""
    for separators in READERS:
        for separator in separators:
            assert any(map(is_formula, cells(f'a{separator}=1+1,"b"\r\n', separators)))
            assert any(map(is_formula, cells(f'a{separator}"\u200b=1+1"\r\n', separators)))
    assert list(cells('a,"b;""c",d\r\n', ",")) == ["a", 'b;"c', "d", ""]
    assert list(cells('a,"b;""c",d\n', ";")) == ['a,"b', 'c",d']


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delimiter": ";"},
        {"delimiter": "\t"},
        {"delimiter": "|"},
        {"quoting": 1},
        {"quoting": 3, "escapechar": "\\"},
        {"delimiter": ";", "quoting": 3, "escapechar": "\\"},
    ],
)
@pytest.mark.parametrize("separators", READERS)
def test_no_text_of_a_site_becomes_a_formula(options: dict[str, Any], separators: str) -> None:
    """Alone, and with what comes before and after it in its row."""
    pages = [
        Page(
            f"https://a/{number}",
            200,
            title=text,
            content_type=text,
            error=text,
            redirected_from=["https://b/", text],
            extra={"team": text},
        )
        for number, text in enumerate(TEXTS)
    ]
    odd = ["x;", 'x;"', ';"', "x|", '"', '""', "\\", "x,", "5+1;", "-3", "=1;"]
    pages += [
        Page(f"https://c/{number}", 200, content_type=first, title=second)
        for number, (first, second) in enumerate(permutations(odd, 2))
    ]
    text = exported(pages, **options)
    assert [cell for cell in cells(text, separators) if is_formula(cell)] == []
    # One page, one line, for all that break lines.
    assert len(text.splitlines()) == len(pages) + 1


def test_ordinary_text_stays() -> None:
    for title in ("a; b", "a | b", "a, -b", "Tom & Jerry; Spike", "x=1;y=2", "C++ | C#"):
        assert f'"{title}"' in exported([Page("https://a/", title=title)], quoting=1)
