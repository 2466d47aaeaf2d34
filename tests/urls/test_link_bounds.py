"""Links that are too long, and pages whose links are."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse

from crawlproject.urls.canonical import NotCrawlable
from crawlproject.urls.document import reading_of
from crawlproject.urls.link_bounds import (
    LONGEST_BASE,
    LONGEST_URL,
    MAX_RECORDED,
    LinkBounds,
    TooLong,
    check_href,
    longest_url,
)
from crawlproject.urls.links import FastLinkExtractor

HOME = "https://a.example/"


def page(*hrefs: str, base: str = HOME) -> HtmlResponse:
    body = f"<base href='{base}'>" + "".join(f"<a href='{href}'>x</a>" for href in hrefs)
    return HtmlResponse(HOME, body=body.encode())


def both(response: HtmlResponse, bounds: LinkBounds) -> tuple[list[str], int, int]:
    """The links by either way to ask for them, and how many were left out."""
    extractor = FastLinkExtractor(bounds=bounds)
    links = list(extractor.addresses(response))
    room = reading_of(response).room
    assert [link.url for link in extractor.extract_links(response)] == links
    again = reading_of(response).room
    assert room is not None
    assert again is not None
    assert (again.too_long, again.beyond) == (room.too_long, room.beyond)
    return links, room.too_long, room.beyond


def test_links_of_a_page_end_where_their_characters_do() -> None:
    hrefs = [f"/{number:02}" for number in range(50)]
    length = len(f"{HOME}00")
    links, too_long, beyond = both(page(*hrefs), LinkBounds(page=10 * length))
    # The one that goes beyond is the last.
    assert links == [f"{HOME}{number:02}" for number in range(11)]
    assert (too_long, beyond) == (0, 39)
    assert both(page(*hrefs), LinkBounds(page=0))[1:] == (0, 0)


def test_many_links_to_one_url_take_up_the_room_of_one() -> None:
    links, *left_out = both(page(*["/same"] * 500, "/other"), LinkBounds(page=100))
    assert links == [f"{HOME}same", f"{HOME}other"]
    assert left_out == [0, 0]


def test_the_first_that_are_too_long_are_recorded_and_others_are_counted() -> None:
    long = [f"{'x' * 60}{number}" for number in range(MAX_RECORDED + 5)]
    links, too_long, beyond = both(page("/first", *long, "/last"), LinkBounds(url=50))
    assert links == [f"{HOME}first", *(HOME + href for href in long[:MAX_RECORDED]), f"{HOME}last"]
    assert (too_long, beyond) == (5, 0)


def test_what_is_too_long_counts_among_the_characters_of_a_page() -> None:
    """Else each would be resolved for nothing."""
    base = f"{HOME}{'d' * (LONGEST_BASE - 100)}/"
    hrefs = [f"../{'d' * 8000}/{number}?" for number in range(500)]
    links, too_long, beyond = both(page(*hrefs, base=base), LinkBounds(url=2083, page=10**6))
    assert len(links) + too_long + beyond == 500
    assert beyond > 300


@pytest.mark.parametrize(
    ("href", "outcome"),
    [
        ("/" + "x" * LONGEST_URL, "too long"),
        ("/" + "é" * LONGEST_URL, "too long"),
        ("/?" + "é" * LONGEST_URL, "too long"),
        ("/x#" + "y" * LONGEST_URL, f"{HOME}x"),
        ("data:text/html," + "x" * LONGEST_URL, "none"),
        (" JavaScript:" + "x" * LONGEST_URL, "none"),
        ("mailto:" + "x" * LONGEST_URL, "none"),
        ("https://a.example/" + "x" * LONGEST_URL, "too long"),
        ("/" + " " * LONGEST_URL + "x", "too long"),
    ],
    ids=["path", "letters", "query", "fragment", "data", "script", "mail", "absolute", "space"],
)
def test_an_href_that_is_very_long(href: str, outcome: str) -> None:
    links, too_long, _ = both(page(href), LinkBounds())
    assert (links, too_long) == {
        "too long": ([], 1),
        "none": ([], 0),
        f"{HOME}x": ([f"{HOME}x"], 0),
    }[outcome]


def test_a_long_href_is_checked_without_being_resolved() -> None:
    with pytest.raises(TooLong):
        check_href("x" * (LONGEST_URL + 1))
    with pytest.raises(NotCrawlable):
        check_href("data:" + "x" * LONGEST_URL)
    check_href("x#" + "y" * LONGEST_URL)


@pytest.mark.parametrize(("limit", "longest"), [(0, LONGEST_URL), (2083, 2083), (10**9, 65_536)])
def test_no_limit_is_a_limit_too(limit: int, longest: int) -> None:
    assert longest_url(limit) == longest


def test_links_that_others_have_found_fit_as_well() -> None:
    bounds = LinkBounds(url=20, page=60)
    room = bounds.room()
    links = {f"{HOME}{number}": number % 2 == 0 for number in range(5)}
    assert bounds.fitting(links, room) == {f"{HOME}{n}": n % 2 == 0 for n in range(4)}
    assert (room.too_long, room.beyond, room.left_out) == (0, 1, 1)
