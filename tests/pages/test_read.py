from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from crawlproject.frontier.base import Lease
from crawlproject.pages.content import MAX_TEXT_LENGTH
from crawlproject.pages.read import PageReader, page_of
from crawlproject.urls.canonical import canonicalize

URL = "https://example.com/a"
LEASE = Lease(
    URL, URL, "example.com", 2, "https://example.com/", redirected_from=("https://example.com/old",)
)


def html(body: str, headers: dict[str, str] | None = None, status: int = 200) -> HtmlResponse:
    return HtmlResponse(
        URL,
        status=status,
        headers={"Content-Type": "text/html; charset=utf-8", **(headers or {})},
        body=body.encode(),
        request=Request(URL, meta={"fetch_ms": 12}),
    )


def read(response: Response) -> dict[str, object]:
    page = PageReader(canonicalize).read(response, LEASE, ["https://example.com/b"])
    return {name: getattr(page, name) for name in page.__slots__}


def test_a_page_carries_what_its_lease_knows() -> None:
    page = page_of(LEASE)
    assert (page.url, page.depth, page.referrer) == (URL, 2, "https://example.com/")
    assert page.redirected_from == ["https://example.com/old"]


def test_a_fine_page() -> None:
    page = read(html("<title>A</title>"))
    assert (page["status_code"], page["error"], page["title"]) == (200, None, "A")
    assert (page["content_type"], page["bytes"], page["fetch_ms"]) == ("text/html", 16, 12)
    assert page["links"] == ["https://example.com/b"]


def test_an_error_page_is_not_read() -> None:
    page = read(html("<title>Sorry</title>", status=404))
    assert (page["error"], page["title"], page["links"]) == ("unexpected status 404", None, [])


def test_what_is_no_html_is_recorded_not_read() -> None:
    page = read(
        Response(URL, headers={"Content-Type": "image/PNG"}, body=b"x", request=Request(URL))
    )
    assert (page["content_type"], page["bytes"], page["links"]) == ("image/png", 1, [])
    assert page["error"] is None


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title>\n  Two\n lines </title>", "Two lines"),
        ("<title>&lt;b&gt; &amp; &copy;</title>", "<b> & ©"),
        ("<title></title>", None),
        ("<p>", None),
        ("<title>\x1b[31mred\x07\x9b</title>", "[31mred"),
        ("<svg><title>not this</title></svg><title>this</title>", "this"),
        ("<title>" + "x" * 5000 + "</title>", "x" * MAX_TEXT_LENGTH),
    ],
)
def test_the_title_is_one_line_of_text(markup: str, title: str | None) -> None:
    assert read(html(markup))["title"] == title


@pytest.mark.parametrize(
    ("markup", "headers", "noindex"),
    [
        ("<meta name=robots content='noindex, follow'>", {}, True),
        ("<meta name=ROBOTS content=NONE>", {}, True),
        ("<meta name=robots content=index>", {}, False),
        ("", {"X-Robots-Tag": "noindex"}, True),
    ],
)
def test_noindex_is_read_from_the_page_and_its_headers(
    markup: str, headers: dict[str, str], noindex: bool
) -> None:
    assert read(html(markup, headers))["noindex"] is noindex


@pytest.mark.parametrize(
    ("markup", "canonical"),
    [
        ("<link rel=canonical href='/b?utm_source=x'>", "https://example.com/b"),
        ("<link rel='CANONICAL' href='/a#top'>", None),
        ("<link rel=canonical href='javascript:1'>", None),
        ("<link rel=canonical>", None),
        ("<base href='/x/'><link rel='canonical nofollow' href='c'>", "https://example.com/x/c"),
    ],
)
def test_canonical_is_said_where_it_is_another_page(markup: str, canonical: str | None) -> None:
    assert read(html(markup))["canonical"] == canonical


def test_structured_data_is_read_where_a_syntax_is_chosen() -> None:
    response = html('<script type="application/ld+json">{"@type": "A"}</script><p itemscope>')
    assert read(response)["structured_data"] == []
    page = PageReader(canonicalize, structured=["json-ld"]).read(response, LEASE, [])
    assert page.structured_data == [{"type": "A", "properties": {}}]
