from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.urls.links import FastLinkExtractor
from crawlproject.urls.patterns import TooSlow, Unsupported, linear, search_of

LONG = "http://a.example/" + "a" * 2_000 + "!"
URLS = ["http://a.example/", "http://a.example/tag/a/?page=12", LONG, LONG + "/tag/b", LONG * 20]


@pytest.mark.parametrize(
    "pattern",
    [
        *("/tag/", r"\?page=\d+", r"\.(?:jpg|png)$", "^http://[^/]*/tag/", r"(?i)TAG", ""),
        *("/tag/.*/.*", r"^(?!.*/tag/)", r"(?<=/)\w+", r"[a-z]+/[a-z]+/[a-z]+", "a{3,}b?"),
        r".*(/[^/]+)/[^/]+\1/[^/]+\1/",
        r"^(?!.*lang=en).*/tag/.*/.*$",
        re.compile("TAG", re.IGNORECASE),
    ],
    ids=str,
)
@pytest.mark.parametrize("longest", [0, 2_083])
def test_a_pattern_finds_what_re_finds(pattern: str | re.Pattern[str], longest: int) -> None:
    search = search_of(pattern, longest)
    for url in URLS[: 4 if longest else 3]:
        assert bool(search(url)) is (re.search(pattern, url) is not None), url


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+$", "(a*)*b", "(a|a)+$", "(a|aa)+$", "(.*a){20}$", "((a+)+)+$", "(?:a?){40}a{40}$"),
        *("(a|a)?" * 40 + "b$", ".*.*.*.*.*.*b", r"(\w+\s?)+$", "(?i)(A+)+$"),
    ],
)
def test_no_url_of_a_site_hangs_a_pattern(pattern: str) -> None:
    search = search_of(pattern, 2_083)
    assert not search(LONG.replace("e/", "e/ ") if "w+" in pattern else LONG)
    extractor = FastLinkExtractor(deny=pattern)
    assert extractor.matches(LONG)


# What patterns are made of that RE2 has to match in place of ``re``.
ITEMS = st.sampled_from(
    [
        *("a", "b", "c", ".", "-", "[ab]", "[^a]", "[a-c1]", r"\w", r"\d", r"\W", r"\S", "A"),
        *(r"\b", r"\B", "^", "$", r"\A", "(?i:A)", "(?P<name>a)", r"\.", r"\x61"),
    ]
)
REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "*?", "+?", "??"])
PATTERNS = st.recursive(
    ITEMS,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, REPEATS),
    ),
    max_leaves=8,
).filter(lambda pattern: pattern.count("?P<") < 2)
TEXTS = st.text("aabbc1-A/.", min_size=1, max_size=8)


@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=8), st.sampled_from([0, re.IGNORECASE]))
def test_re2_says_what_re_says(pattern: str, texts: list[str], flags: int) -> None:
    compiled = re.compile(pattern, flags)
    try:
        search = linear(compiled)
    except Unsupported:
        assert "{," in pattern
        return
    for text in texts:
        assert bool(search(text)) is (compiled.search(text) is not None), text


@pytest.mark.parametrize("pattern", ["/tag/", r"\.(?:jpg|png)$", "^https?://a.example/[^?]*$"])
def test_a_simple_pattern_is_matched_by_re_itself(pattern: str) -> None:
    # Each new link is matched: there is not even a call between.
    assert search_of(pattern, 2_083) == re.compile(pattern).search


@pytest.mark.parametrize("pattern", [r"((a+)+)\1$", "(?>(a+)+)$", r"(a|b)(\1+)+$", "^(?=(a+)+$)"])
def test_a_pattern_that_can_not_be_bounded_is_refused(pattern: str) -> None:
    with pytest.raises(
        TooSlow, match="may take exponential time: it repeats what repeats, and can't"
    ):
        search_of(pattern)
    with pytest.raises(ValueError, match="may take exponential time"):
        FastLinkExtractor(deny=[pattern])
