from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from crawlproject.politeness.excerpt import cut, excerpt

TOKEN = "AcmeBot"


def allows(robots: str | bytes, path: str, token: str = TOKEN) -> bool:
    body = robots if isinstance(robots, bytes) else robots.encode()
    return Protego.parse(excerpt(body, token)).can_fetch(f"http://a.com{path}", token)


@pytest.mark.parametrize(
    ("robots", "denied"),
    [
        ("User-agent: *\nDisallow: /no", True),
        ("User-agent: acmebot\nDisallow: /no", True),
        ("USER-AGENT : ACMEBOT # us\nDisallow: /no", True),
        ("User-agent: AcmeBot/1.0\nDisallow: /no", True),
        ("User-agent: AcmeBot*\nDisallow: /no", True),
        ("user agent acmebot\nDisallow: /no", True),
        ("User-agent: a\nUser-agent: acmebot\nUser-agent: b\nDisallow: /no", True),
        ("User-agent: a\n\nUser-agent: acmebot\nDisallow: /no", True),
        # Our own groups replace the one for all, and add up.
        ("User-agent: *\nDisallow: /no\nUser-agent: acmebot\nDisallow: /x", False),
        ("User-agent: acmebot\nDisallow: /x\n\nUser-agent: *\nDisallow: /no", False),
        ("User-agent: *\nUser-agent: acmebot\nDisallow: /no", True),
        ("User-agent: acmebot\nAllow: /\nUser-agent: acmebot\nDisallow: /no", True),
        # Others' names: part of ours is not ours.
        ("User-agent: acme\nDisallow: /no", False),
        ("User-agent: bot\nDisallow: /no", False),
        ("User-agent: acmebots\nDisallow: /no", False),
        ("User-agent: acme\nDisallow: /\n\nUser-agent: *\nDisallow: /no", True),
        ("User-agent:\nDisallow: /no", False),
        ("User-agent: ?\nDisallow: /no", False),
        ("Disallow: /no", False),
        ("Sitemap: /s\nUser-agent: acmebot\nSitemap: /t\nDisallow: /no", True),
        ("", False),
    ],
)
def test_the_groups_with_our_name_count_or_else_those_for_all(robots: str, denied: bool) -> None:
    assert allows(robots, "/no/way") is not denied


@pytest.mark.parametrize(
    ("robots", "path"),
    [
        (b"\xef\xbb\xbfUser-agent: *\nDisallow: /no", "/no"),
        (b"User-agent: * # caf\xe9\nDisallow: /no", "/no"),
        (b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9"),
        ("User-agent: *\nDisallow: /café".encode(), "/caf%C3%A9"),
        (b"User-agent: *\r\nDisallow: /no\r\n", "/no"),
        (b"User-agent: *\rDisallow: /no\r", "/no"),
    ],
)
def test_no_encoding_and_no_line_ending_opens_the_doors(robots: bytes, path: str) -> None:
    assert not allows(robots, path)
    assert allows(robots, "/caf")


@pytest.mark.parametrize("token", ["acmebot2", "4bot", "Mozilla/5.0 (compatible; x)"])
def test_a_token_that_is_no_word_is_found_all_the_same(token: str) -> None:
    assert not allows(f"User-agent: {token}\nDisallow: /no", "/no", token)


def test_the_rules_of_many_other_crawlers_are_not_kept() -> None:
    names = "".join(f"User-agent: bot{number}\n" for number in range(20_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(30_000))
    text = excerpt((names + rules + "User-agent: *\nDisallow: /no\n").encode(), TOKEN)
    assert text == "User-agent: *\n\nDisallow: /no\n"
    assert not Protego.parse(text).can_fetch("http://a.com/no", TOKEN)


@given(st.binary())
def test_nothing_that_a_server_sends_raises(body: bytes) -> None:
    excerpt(body, TOKEN).encode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"Allow: /a\nAllow: /b", b"Allow: /a\nAllow: /b"),
        (b"Allow: /a\nAllow: /public", b"Allow: /a"),
        (b"Allow: /a\n         Allow: /b\n", b"Allow: /a"),
        (b"Allow: /a         \nAllow: /b\n", b"Allow: /a         "),
        (b"Allow: /a\rAllow: /public", b"Allow: /a"),
        (b"x" * 99, b""),
    ],
)
def test_half_a_rule_is_no_rule(body: bytes, expected: bytes) -> None:
    assert cut(body, 19) == expected
