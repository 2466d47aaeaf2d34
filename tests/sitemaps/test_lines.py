from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.sitemaps.gathering import Gathering
from crawlproject.sitemaps.hints import Cut
from crawlproject.sitemaps.lines import read_lines
from crawlproject.urls.canonical import canonicalize
from tests.sitemaps.reading import HOME


def read(body: bytes, size: int = 100_000) -> list[str]:
    gathering = Gathering(canonicalize, 10)
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    read_lines(pieces, HOME, gathering)
    return list(gathering.urls)


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("https://a.example/", [HOME]),
        ("https://a.example/\nhttps://a.example/b\n", [HOME, f"{HOME}b"]),
        ("https://a.example/\r\nhttps://a.example/b\r\n", [HOME, f"{HOME}b"]),
        ("https://a.example/\rhttps://a.example/b", [HOME, f"{HOME}b"]),
        ("\n\n  HTTP://a.example/ \t\n", ["http://a.example/"]),
        ("https://a.example/\nhttps://a.example/#b\n", [HOME]),
        ("https://a.example/é", [f"{HOME}%C3%A9"]),
        ("https://a.example/caf\ufffd", []),
        ("# https://a.example/\n// https://a.example/", []),
        ("See https://a.example/\nhttps://a.example/ is it", []),
        ("/b\nb.html\na.example\nftp://a.example/\nmailto:b@a.example", []),
        ("https://\nhttps://a b/\nhttps://a.example:x/", []),
        (f"https://a.example/{'x' * 100_000}\nhttps://a.example/", [HOME]),
        (f"{' ' * 100_000}\nhttps://a.example/", [HOME]),
        ("", []),
    ],
)
@pytest.mark.parametrize("size", [7, 100, 100_000])
def test_lines_that_are_a_url_are_read(text: str, urls: list[str], size: int) -> None:
    assert read(text.encode(), size) == urls


def test_the_same_line_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.sitemaps.lines.MOST_PARTS", 1_000)
    assert read(b"https://a.example/\n" * 1_000) == [HOME]
    with pytest.raises(Cut, match="more than 1,000 lines"):
        read(b"https://a.example/\n" * 1_001)


@given(
    st.lists(st.sampled_from(["https://a.example/", "b", " ", "\n", "\r", "#"])), st.integers(1, 9)
)
def test_pieces_may_end_anywhere(words: list[str], size: int) -> None:
    body = "".join(words).encode()
    assert read(body, size) == read(body)
