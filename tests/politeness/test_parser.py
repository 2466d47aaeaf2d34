"""The default parser of robots.txt: the verdicts of RFC 9309, and those of Protego.

Where the two differ, ours is the RFC's (``test_where_protego_is_not_the_rfc``).
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego
from scrapy.utils.test import get_crawler

from crawlproject.politeness.matching import path_of
from crawlproject.politeness.parser import IndexedRobotParser

TOKEN = "acmebot"


def parser_of(robots: str | bytes) -> IndexedRobotParser:
    body = robots if isinstance(robots, bytes) else robots.encode()
    return IndexedRobotParser.from_crawler(get_crawler(), body)


def allows(robots: str | bytes, path: str) -> bool:
    return parser_of(robots).allowed(f"http://a.com{path}", TOKEN)


def rules(*lines: str) -> str:
    return "\n".join(["User-agent: *", *lines])


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        # RFC 9309, 2.2.2: the longest match wins, and of two equally long ones Allow.
        (
            ["Allow: /example/page/", "Disallow: /example/page/disallowed.gif"],
            "/example/page/",
            True,
        ),
        (
            ["Allow: /example/page/", "Disallow: /example/page/disallowed.gif"],
            "/example/page/disallowed.gif",
            False,
        ),
        (["Disallow: /a", "Allow: /a"], "/a", True),
        (["Allow: /a*", "Disallow: /ab"], "/ab", True),
        (["Disallow: /", "Allow: /$"], "/", True),
        (["Disallow: /", "Allow: /$"], "/x", False),
        # 2.2.3: wildcards.
        (["Disallow: /*.gif$"], "/a.gif", False),
        (["Disallow: /*.gif$"], "/a.gif?x", True),
        (["Disallow: /*.gif$"], "/.gif", False),
        (["Disallow: /a*a$"], "/a", True),
        (["Disallow: /a*b*b$"], "/ab", True),
        (["Disallow: /a*b*b$"], "/abb", False),
        (["Disallow: /ab*b$"], "/ab", True),
        (["Disallow: *"], "/", False),
        (["Disallow: *x"], "/ax", False),
        (["Disallow: *x"], "/a", True),
        (["Disallow: /a**b"], "/aab", False),
        (["Disallow: /*$"], "/anything", False),
        (["Disallow: /path/file-with-a-%2A.html"], "/path/file-with-a-*.html", False),
        (["Disallow: /path/file-with-a-%2A.html"], "/path/file-with-a-b.html", True),
        (["Disallow: /path/foo-%24"], "/path/foo-$", False),
        # Percent-encoding.
        (["Disallow: /foo/bar/ツ"], "/foo/bar/%E3%83%84", False),
        (["Disallow: /foo/bar/%e3%83%84"], "/foo/bar/ツ", False),
        (["Disallow: /foo/bar/%62%61%7A"], "/foo/bar/baz", False),
        (["Disallow: /foo/bar/baz"], "/foo/bar/%62%61%7a", False),
        (["Disallow: /a%2Fb"], "/a/b", True),
        (["Disallow: /a%2fb"], "/a%2Fb", False),
        (["Disallow: /a?x=%3d"], "/a?x==", False),
        (["Disallow: /100%"], "/100%x", False),
        # The file itself is always allowed.
        (["Disallow: /"], "/robots.txt", True),
        (["Disallow: /"], "/robots.txt?x", True),
        (["Disallow: /"], "/robots.txts", False),
        # Rules that say nothing.
        (["Disallow:"], "/", True),
        (["Disallow: x"], "/x", True),
        (["Disallow: # /x"], "/x", True),
        (["Disallow: /x # why"], "/x", False),
        (["Disallow"], "/", True),
        # How people write it.
        (["disallow /x"], "/x", False),
        (["Dissallow: /x"], "/x", False),
        (["  DISALLOW  :  /x  "], "/x", False),
        (["Disallow:/x"], "/x", False),
        (["Disallow: http://a.com/x"], "/x", True),
        (["Disallow: /", "Allow: /d/index.html"], "/d/", True),
        (["Disallow: /", "Allow: /d/index.html"], "/d/x", False),
    ],
)
def test_the_rule_that_the_rfc_says_decides(lines: list[str], path: str, allowed: bool) -> None:
    assert allows(rules(*lines), path) is allowed


@pytest.mark.parametrize(
    ("robots", "path", "allowed"),
    [
        # A line that nobody knows says nothing about the group (2.2.4).
        ("User-agent: *\nFoo: bar\nUser-agent: x\nDisallow: /a", "/a", False),
        # Other octets are another path, be they UTF-8 or not.
        (rules("Disallow: /", "Allow: /caf%E9"), "/caf%E8", False),
        # A line ends with CR, LF or both, and with nothing else.
        (rules("Disallow: /\u2028x"), "/x", True),
        (rules("Disallow: /a\x0bAllow: /a/b"), "/a", True),
    ],
)
def test_where_protego_is_not_the_rfc(robots: str, path: str, allowed: bool) -> None:
    assert allows(robots, path) is allowed
    assert Protego.parse(robots).can_fetch(f"http://a.com{path}", TOKEN) is not allowed


# Few characters, so that rules meet paths; and all that has a meaning.
_TEXT = st.text(st.sampled_from("aab/*$.?=&;%é "), max_size=8)
_ESCAPE = st.sampled_from(["%61", "%2A", "%2a", "%24", "%2F", "%C3%A9", "%25", "%3F", "%3D", "%zz"])
_PART = st.lists(_TEXT | _ESCAPE, max_size=3).map("".join)
_VALUE = st.builds("{}{}".format, st.sampled_from(["/", "/a", "*", "/*", "/index.html"]), _PART)
_LINE = st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), _VALUE)
_PATH = st.builds("/{}".format, _PART)


@given(st.lists(_LINE, max_size=8), st.lists(_PATH, min_size=1, max_size=6))
@example(["Disallow: /a*"], ["/a"])
@example(["Allow: /index.html", "Disallow: /"], ["/"])
def test_the_verdicts_are_those_of_protego(lines: list[str], paths: list[str]) -> None:
    robots = rules(*lines)
    ours, theirs = parser_of(robots), Protego.parse(robots)
    for path in paths:
        url = f"http://a.com{path}"
        assert ours.allowed(url, TOKEN) is theirs.can_fetch(url, TOKEN), path


_WORD = st.sampled_from(["a", "b", "ab", "aa", "ba", "/"])
_MANY = st.lists(st.lists(_WORD, max_size=4), min_size=30, max_size=80)


@given(_MANY, st.booleans(), st.text(st.sampled_from("ab/"), max_size=30))
def test_the_verdicts_are_those_of_protego_with_many_wildcards(
    many: list[list[str]], is_anchored: bool, path: str
) -> None:
    """So many that the path is taken apart, in place of a search for each literal."""
    lines = [
        f"{'Allow' if number % 3 else 'Disallow'}: /{'*'.join(words)}{'$' * is_anchored}"
        for number, words in enumerate(many)
    ]
    robots, url = rules(*lines), f"http://a.com/{path}"
    assert allows(robots, f"/{path}") is Protego.parse(robots).can_fetch(url, TOKEN)


_FIELD = st.sampled_from(["Allow", "Disallow", "Sitemap", "Crawl-delay", "Request-rate", "allow "])
_AGENT = st.sampled_from(["*", "acmebot", "AcmeBot", "other", "x"]).map("User-agent: {}".format)
_RULE = st.builds("{}: {}".format, _FIELD, st.sampled_from(["/", "/a", "/ab", "/a*b", "", "3"]))
_GROUPS = st.lists(_AGENT | _RULE | st.sampled_from(["", "# x", "no line"]), max_size=14)


@given(_GROUPS, st.sampled_from(["\n", "\r\n", "\r", "\n\n"]), st.sampled_from(["/", "/ab", "/b"]))
def test_groups_are_those_of_protego(lines: list[str], line_end: str, path: str) -> None:
    robots = line_end.join(lines)
    theirs = Protego.parse(robots).can_fetch(f"http://a.com{path}", TOKEN)
    assert allows(robots, path) is theirs


@given(st.binary(max_size=300), st.text(max_size=40))
def test_nothing_that_a_server_sends_raises(body: bytes, path: str) -> None:
    parser = parser_of(b"User-agent: *\nDisallow: /" + body)
    parser.allowed(f"http://a.com/{path}", TOKEN)
    parser.crawl_delay(TOKEN)


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ([], None),
        (["Crawl-delay: 2"], 2),
        (["crawl-delay : 0.5 # s"], 0.5),
        (["Crawl-delay: 3", "Crawl-delay: 0"], 3),
        (["Crawl-delay: -1"], None),
        (["Crawl-delay: inf"], None),
        (["Crawl-delay: nan"], None),
        (["Crawl-delay: x"], None),
        ([f"Crawl-delay: {'9' * 100_000}"], 1e32),
    ],
)
def test_the_longest_crawl_delay_counts(lines: list[str], delay: float | None) -> None:
    assert parser_of(rules(*lines)).crawl_delay(TOKEN) == pytest.approx(delay)


def test_each_crawler_has_its_own_rules() -> None:
    parser = parser_of("User-agent: a\nDisallow: /a\nUser-agent: b\nDisallow: /b\nCrawl-delay: 4")
    assert [parser.allowed(b"http://x.com/a", name) for name in ("a", b"b", "c")] == [0, 1, 1]
    assert [parser.crawl_delay(name) for name in ("a", b"b", "c")] == [None, 4, None]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.com", "/"),
        ("http://a.com/a/b.html", "/a/b.html"),
        ("http://a.com?q", "/%3Fq"),
        ("http://a.com/a?b=c&d#e", "/a%3Fb=c%26d"),
        ("http://a.com//x", "//x"),
        ("http://[::1]:8/%7e", "/~"),
        ("http://a.com/\udce9\ud800", "/%ED%B3%A9%ED%A0%80"),
    ],
)
def test_a_url_is_compared_by_path_and_query(url: str, path: str) -> None:
    assert path_of(url) == path
