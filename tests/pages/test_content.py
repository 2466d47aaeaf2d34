from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import HtmlResponse

from crawlproject.frontier.base import Lease
from crawlproject.pages.content import MAX_ENTRIES, MAX_TEXT_LENGTH, Reach
from crawlproject.pages.read import PageReader
from crawlproject.records import record_of
from crawlproject.urls.canonical import canonicalize

if TYPE_CHECKING:
    from crawlproject.items import Page

URL = "https://example.com/a/b"


def read(markup: str, headers: dict[str, str] | None = None, **options: Any) -> Page:
    response = HtmlResponse(
        URL,
        headers={"Content-Type": "text/html; charset=utf-8", **(headers or {})},
        body=markup.encode(),
        request=Request(URL),
    )
    lease = Lease(URL, URL, "example.com", 0, None)
    return PageReader(canonicalize, **options).read(response, lease, [])


@pytest.mark.parametrize(
    ("markup", "description"),
    [
        ("<meta name=description content='  What it\n is '>", "What it is"),
        ("<meta name=Description content=First><meta name=description content=Second>", "First"),
        ("<meta name=description content=''>", None),
        ("<meta name=description>", None),
        ("<meta property=og:description content='Of the graph'>", None),
        (f"<meta name=description content='{'x' * 5000}'>", "x" * MAX_TEXT_LENGTH),
    ],
)
def test_the_description_is_one_line(markup: str, description: str | None) -> None:
    assert read(markup).description == description


@pytest.mark.parametrize(
    ("markup", "headers", "language"),
    [
        ("<html lang=pt-BR>", {}, "pt-br"),
        ("<html lang='en_GB '>", {}, "en-gb"),
        ("<html lang='not a language'>", {"Content-Language": "fr"}, "fr"),
        ("<html>", {"Content-Language": "de-AT, en"}, "de-at"),
        ("<html lang=''>", {}, None),
    ],
)
def test_the_language_is_the_pages_word_then_the_servers(
    markup: str, headers: dict[str, str], language: str | None
) -> None:
    assert read(markup, headers).language == language


def test_headings_are_recorded_down_to_a_level() -> None:
    markup = "<h2>Sub <i>one</i></h2><h1>Top</h1><h3>Deep</h3><h1> </h1>"
    assert read(markup).headings == [{"level": 1, "text": "Top"}, {"level": 2, "text": "Sub one"}]
    assert len(read(markup, reach=Reach(heading_levels=6)).headings) == 3
    assert read(markup, reach=Reach(heading_levels=0)).headings == []


def test_pictures_are_recorded_as_urls_each_once() -> None:
    page = read(
        "<base href=/c/><img src=1.png><img src='/c/1.png#x'><img src='data:image/gif;base64,R0'"
        " data-src=later.png><img srcset='small.png 1x, large.png 2x'><img><img src='http://['>"
    )
    assert page.images == [f"https://example.com/c/{name}.png" for name in ("1", "later", "small")]
    assert page.links == []


def test_media_are_recorded_as_urls() -> None:
    page = read(
        "<video src=v.mp4></video><audio><source src=a.ogg></audio><embed src=/e.swf>"
        "<object data=o.pdf></object>"
    )
    assert sorted(page.media) == [
        "https://example.com/a/a.ogg",
        "https://example.com/a/o.pdf",
        "https://example.com/a/v.mp4",
        "https://example.com/e.swf",
    ]
    assert read("<video src=v.mp4></video>", reach=Reach(media=False)).media == []


def test_open_graph_is_recorded_the_first_of_each() -> None:
    page = read(
        "<meta property='og:title' content='A'><meta property='og:title' content='B'>"
        "<meta name='OG:Type' content='article'><meta property='og:image' content=''>"
    )
    assert page.open_graph == {"title": "A", "type": "article"}


def test_versions_in_other_languages_are_recorded() -> None:
    page = read(
        "<link rel=alternate hreflang=DE href=/de><link rel=alternate hreflang=x-default href=/>"
        "<link rel=alternate hreflang=fr href='javascript:1'><link rel=alternate href=/feed>"
    )
    assert page.alternates == {"de": "https://example.com/de", "x-default": "https://example.com/"}


@pytest.mark.parametrize(
    ("markup", "headers", "modified"),
    [
        ("", {"Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"}, "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("<meta property='article:modified_time' content='2025-06-01'>", {}, "2025-06-01"),
        (
            "<meta property='article:modified_time' content='2025-06-01'>",
            {"Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"},
            "Sun, 06 Nov 1994 08:49:37 GMT",
        ),
    ],
)
def test_when_it_was_modified_is_the_servers_word_then_the_pages(
    markup: str, headers: dict[str, str], modified: str
) -> None:
    assert read(markup, headers).last_modified == modified


def test_directives_are_recorded() -> None:
    page = read("<meta name=robots content='noindex, nofollow'>")
    assert (page.noindex, page.nofollow) == (True, True)


def test_the_main_text_is_counted_for_pipelines_and_on_demand_in_the_outputs() -> None:
    markup = "<nav>Home About</nav><main><p>Four words\n of text.</p></main>"
    page = read(markup)
    assert page.word_count == 4
    assert page.text == "Four words\n of text."
    assert "text" not in record_of(page)
    assert record_of(read(markup, keeps_text=True))["text"] == "Four words of text."


def test_a_page_of_many_pictures_is_recorded_up_to_a_bound() -> None:
    markup = "".join(f"<img src=/{number}.png><h1>{number}</h1>" for number in range(3000))
    page = read(markup)
    assert (len(page.images), len(page.headings)) == (MAX_ENTRIES, MAX_ENTRIES)


_PIECES = (
    *("<html lang=", "<main>", "</main>", "<nav>", "<article>", "<h1>", "<p>", "<a href=x>"),
    *("</a>", "<div class=nav>", "<img src=", "<meta name=description content=", "<title>"),
    *("<link rel=canonical href=", "\x00", "'>", '">', "<template>", "</body>"),
    *("<table>", "<form>", "<svg>"),
)


@given(
    st.lists(
        st.one_of(
            st.text(),
            st.sampled_from(_PIECES),
        ),
        max_size=30,
    )
)
def test_whatever_a_site_sends_is_read_and_can_be_written(parts: list[str]) -> None:
    page = read("".join(parts).encode("utf-8", "replace").decode())
    json.dumps(record_of(page)).encode()


def test_headings_inside_of_headings_are_read_as_often_as_the_page_is_long() -> None:
    markup = "<h1><div>" * MAX_ENTRIES + "word " * 2000
    headings = read(markup).headings
    # Each would have all of the text: a thousand times.
    assert 1 <= len(headings) <= 10
    assert len(read("<h1>Word</h1>" * MAX_ENTRIES).headings) == MAX_ENTRIES
