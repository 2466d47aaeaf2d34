"""Pages that would make a scan or the parser quadratic cost one page, not the crawl."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f
from selectolax.lexbor import LexborHTMLParser

from crawlproject.urls import nesting
from crawlproject.urls.huge import readable_part
from crawlproject.urls.markup import unambiguous
from crawlproject.urls.tame import tame
from tests.counting import counted
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

LINK = b"<a href=/behind>text</a>"
TIMES = 14_000

# Each page repeats one of these. The first froze a crawl for half a minute.
SCANNED = {
    "script": b"<script x ",
    "style": b"<style x ",
    "title": b"<title x ",
    "textarea": b"<textarea x ",
    "iframe": b"<iframe x ",
    "xmp": b"<xmp x ",
    "noembed": b"<noembed x ",
    "comment": b"<!-- x ",
    "declaration": b"<? x ",
    "double quote": b'<a b="',
    "single quote": b"<a b='<!--",
    "bold": b"<b x ",
    "cdata": b"<svg><![CDATA[ x ",
}


@deferred_f_from_coro_f
async def test_pages_that_make_scans_begin_again_cost_one_page_each(site: SiteFactory) -> None:
    pages = {
        f"/{number}": {
            "body_base64": b64encode(LINK + piece * TIMES).decode(),
            "content_type": "text/html",
        }
        for number, piece in enumerate(SCANNED.values())
    }
    server = site({"pages": {"/": {"links": list(pages)}, **pages, "/behind": {"links": []}}})
    crawled = await crawl_site(server.url(), {"CONCURRENT_REQUESTS_PER_DOMAIN": 8})
    found = {url.removeprefix(server.url("")): page for url, page in crawled.pages.items()}
    assert {path: page.error for path, page in found.items()} == dict.fromkeys(
        ("/", *pages, "/behind")
    )
    # All of them were parsed, not only recorded.
    assert all(found[path].links == [server.url("/behind")] for path in pages)


def nested(count: int) -> bytes:
    return b"<div>" * count


# Prefixes that hide nested elements from code that finds tags in another way than the parser.
HIDING = {
    "in a value": b"<p x='<title>'>",
    "in a value that looks like a comment": b"<p x='<!--'>",
    "behind a comment that ends at once": b"<!-->",
    "behind a comment that ends in another way": b"<!-- --!>",
    "behind a declaration with a quote": b"<! <a b='>",
    "in the title of a picture": b"<svg><title>",
    "in the title of a picture, at once": b"<svg><title/>",
    "in the style of a formula": b"<math><style>",
    "in what a template ignores": b"<template><col><title></template>",
    "behind a comment in a script": b"<script><!--<script></script><title></script>-->",
    "behind raw text of old": b"<noembed><!--</noembed>",
    "in a picture's character data": b"<svg><![CDATA[><a b=']]></svg>",
    "in formatting": b"<!-- <b x=' --><p>",
}


@pytest.mark.parametrize("name", HIDING)
def test_nested_elements_are_found_wherever_they_hide(name: str) -> None:
    page = HIDING[name] + nested(30_000) + b"'" + LINK
    tree = LexborHTMLParser(tame(page))
    assert len(tree.css("div")) == 0
    assert [link.attributes["href"] for link in tree.css("a[href]")] == ["/behind"]


# Other pages for which the parser is quadratic: elements that nest unexpectedly, end tags that
# close nothing, tags that add to existing elements, many different names.
WALKING = {
    "options": b"<select>" + b"<option>" * 30_000,
    "groups of options": b"<optgroup>" * 40_000,
    "ruby without ruby": b"<rt>" * 40_000,
    "end tags outside of objects": b"<div><object></div></object>" * 15_000,
    "end tags outside of choices": b"<div><select></div></select>" * 15_000,
    "end tags of what is around blocks": b"<span><div></span></div>" * 15_000,
    "end tags of forms": b"<form><div></form>" * 15_000,
    "end tags in values": b"<div x='</div>'>" * 40_000,
    "paragraphs deep down": nested(5_000) + b"<p></p>" * 40_000,
    "end tags deep down": b"<span>" * 9_000 + b"</x>" * 50_000,
    "attributes of the root": b"".join(b"<html a%d>" % number for number in range(30_000)),
    "attributes with brackets": b"<p " + b" ".join(b"a%d='>'" % n for n in range(30_000)) + b">",
    "names of elements": b"".join(b"<x%d></x%d>" % (n, n) for n in range(25_000)),
    "names of attributes": b"".join(b"<p x%d>" % number for number in range(81_000)),
}


@pytest.mark.parametrize("name", WALKING)
def test_parser_is_not_made_to_walk(name: str) -> None:
    tamed = tame(WALKING[name] + LINK)
    tree = LexborHTMLParser(tamed)
    assert len(tree.css("*")) < 20
    assert [link.attributes["href"] for link in tree.css("a[href]")] == ["/behind"]


def test_formatting_that_differs_behind_a_bracket_is_not_copied() -> None:
    formats = b"".join(b"<b x='>%d'>" % number for number in range(1_000))
    tree = LexborHTMLParser(tame(b"<p>" + formats + b"</p>" + b"<p>x" * 5_000 + LINK))
    assert len(tree.css("*")) < 100_000


def test_nodes_are_counted_wherever_they_hide() -> None:
    page = b"<svg><title>" + b"<p>" * 1_500_000
    part, is_cut = readable_part(page)
    # The parser may see either all of these elements or none.
    assert is_cut or part.count(b"<p>") < 10


def test_depth_is_followed_in_work_that_grows_as_the_page_does() -> None:
    def work(count: int) -> int:
        page = (b"<div><object></div>" + b"<b><i>" * 5 + b"</span></div></b>") * count
        markup = unambiguous(page)
        return counted(lambda: nesting.takes_too_long(markup, 10**12, has_many_attributes=True))

    assert work(400) < 8 * work(100)
