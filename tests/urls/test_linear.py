from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.urls.linear import Linear, Unsupported

# Everything that a pattern can be made of, as far as an automaton can match it.
ITEMS = st.sampled_from(
    [
        *("a", "b", "c", ".", "-", "[ab]", "[^a]", "[a-c1]", r"\w", r"\d", r"\W", r"\S", "A", "ſ"),
        *(r"\b", r"\B", "^", "$", r"\A", r"\Z", "(?i:A)", "(?i:s)", "(?a:\\w)", "(?-i:B)", "(?!)"),
        *("(?<=a)", "(?<!b)", "(?<=ab|cc)", "(?=.*c)", "(?!a*b$)", "(?=a(?!b))", "(?<=(?!b)a)"),
    ]
)
REPEATS = st.sampled_from(
    ["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "*?", "+?", "??", "{0,2}?"]
)
PATTERNS = st.recursive(
    ITEMS,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, REPEATS),
        st.builds("(?={})".format, inner),
        st.builds("(?!{})".format, inner),
    ),
    max_leaves=8,
)
TEXTS = st.text("aabbc1-AſsS é", min_size=1, max_size=8)


@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=8), st.sampled_from(["", "(?i)", "(?a)"]))
def test_it_says_what_re_says(pattern: str, texts: list[str], flags: str) -> None:
    compiled = re.compile(flags + pattern)
    linear = Linear(compiled)
    for text in texts:
        assert linear.matches(text) is (compiled.search(text) is not None), text


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("(a+)+$", "a" * 100_000 + "!", False),
        ("(a+)+$", "!" + "a" * 100_000, True),
        ("(a|a)*b", "a" * 100_000, False),
        ("(a|aa)+!$", "a" * 100_000 + "!", True),
        (".*.*.*x", "y" * 100_000, False),
        ("(?:a?){60}a{60}$", "a" * 100, True),
        ("^(?=(a+)+$)", "a" * 50_000 + "!", False),
        ("(?<=a)(b|c)*(?!d)$", "a" + "bc" * 50_000, True),
    ],
    ids=range(8),
)
def test_no_pattern_takes_more_than_a_look_at_each_character(
    pattern: str, text: str, matches: bool
) -> None:
    # ``re`` would take longer than anybody waits.
    assert Linear(re.compile(pattern)).matches(text) is matches


def test_what_it_remembers_is_bounded() -> None:
    # An automaton with 2**16 states, and a text that meets as many as it can.
    linear = Linear(re.compile("(a|b)*a(a|b){16}c"))
    text = "".join("ab"[number.bit_count() % 2] for number in range(60_000))
    assert not linear.matches(text)
    assert len(linear._automaton._states) <= 50_000
    assert linear.matches(text + "abbbbbbbbbbbbbbbbc")


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (r"(a)\1", "a back-reference"),
        ("(a)?(?(1)b|c)", "a condition on a group"),
        ("(?>a|b)c", "an atomic group"),
        ("a*+b", "a possessive repeat"),
        ("(a{1,900}b){1,900}", "too many repeats"),
    ],
)
def test_what_no_automaton_can_match_is_named(pattern: str, what: str) -> None:
    with pytest.raises(Unsupported, match=what):
        Linear(re.compile(pattern))
