from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.lenient_json import MAX_LEVELS, documents

VALUE = {"a": "b"}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b"}',
        '\n\ufeff {"a": "b"}\n',
        '{"a": "b",}',
        '{"a": "b" , \n }',
        '{"a": "b"};',
        '<!-- {"a": "b"} -->',
        '<![CDATA[ {"a": "b"} ]]>',
        '//<![CDATA[\n{"a": "b"}\n//]]>',
        '/* <![CDATA[ */ {"a": "b"} /* ]]> */',
        '{"a": /* said so */ "b", // the last\n }',
        '\xa0{"a":\u200b"b"}\xa0',
        "{&quot;a&quot;: &quot;b&quot;}",
    ],
)
def test_what_can_be_mended_without_a_guess_is_read(text: str) -> None:
    assert documents(text) == ([VALUE], True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"two\nlines\tand\x00"', "two\nlines\tand\x00"),
        (r'["it\'s", 1,]', ["it's", 1]),
        (r'["\x \u12 \\ \" \n \u00e9",]', ['x u12 \\ " \n é']),
        ('["// no comment", "/* nor this */", ",]",]', ["// no comment", "/* nor this */", ",]"]),
        ('["&quot;&amp;",]', ["&quot;&amp;"]),
        ("[NaN, Infinity, -Infinity]", [None, None, None]),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_strings_and_values_are_what_they_say(text: str, value: object) -> None:
    assert documents(text) == ([value], True)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"a": "b"} {"a": "b"}', [VALUE, VALUE]),
        ('{"a": "b"},\n{"a": "b"}', [VALUE, VALUE]),
    ],
)
def test_several_documents_in_one_are_read(text: str, read: object) -> None:
    assert documents(text) == (read, True)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"a": "b"}}', [VALUE]),
        ('{"a": "b"} var x = 1', [VALUE]),
        ('{"a": "say "cheese""}', []),
        ("{a: 1}", []),
        ('{"a": ', []),
        ("/* nothing */", []),
        ("not json", []),
        ('{"n": ' + "9" * 5000 + "}", []),
        ("1 " * 5000, [1] * 1000),
    ],
)
def test_what_can_not_be_read_is_told_and_what_stands_before_it_is_kept(
    text: str, read: object
) -> None:
    assert documents(text) == (read, False)


@pytest.mark.parametrize("levels", [MAX_LEVELS + 1, 900, 100_000])
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_what_is_too_deep_is_broken_however_deep_it_is(levels: int, start: str, end: str) -> None:
    inside = "1" if end == "}" else ""
    assert documents(start * levels + inside + end * levels) == ([], False)
    assert documents(start * levels + inside + end * levels + ";") == ([], False)


def test_what_is_deep_is_read() -> None:
    assert documents("[" * MAX_LEVELS + "]" * MAX_LEVELS)[1]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "' + r"\"" * 300_000,
        '{"a": "' + r"\"" * 300_000 + "\\",
        "/*" * 300_000,
        "//" * 300_000,
        "," + " " * 300_000 + ",",
        "<!--" * 200_000,
        "[1" + ", " * 300_000 + "]",
    ],
)
def test_no_text_takes_longer_than_its_length(text: str) -> None:
    # It would not end while somebody waits.
    assert not documents(text)[1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_json_is_read_as_it_is(value: object) -> None:
    assert documents(json.dumps(value)) == ([value], True)
    assert documents(f"<!-- {json.dumps(value)} -->") == ([value], True)


@given(
    st.text()
    | st.lists(st.sampled_from(['"', "\\", "{", "}", "[", "]", ",", ":", "/*", "*/", "1"])).map(
        "".join
    )
)
def test_any_text_can_be_looked_at(text: str) -> None:
    found, is_whole = documents(text)
    assert isinstance(found, list)
    assert isinstance(is_whole, bool)
