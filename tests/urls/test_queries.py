from __future__ import annotations

import pytest
import webencodings
from scrapy.http import HtmlResponse

from crawlproject.urls.links import FastLinkExtractor
from crawlproject.urls.queries import with_query_in

SITE = "http://example.com/"


@pytest.mark.parametrize(
    ("charset", "href", "expected"),
    [
        ("windows-1251", "/я?q=я#я", "/я?q=%FF#я"),
        ("windows-1251", "#я?я", "#я?я"),
        ("windows-1251", "/a?q=日", "/a?q=%26%2326085%3B"),
        ("shift_jis", "?q=日本&r=%E6", "?q=%93%FA%96%7B&r=%E6"),
        ("gbk", "?q=日", "?q=%C8%D5"),
        ("utf-8", "?q=я", "?q=я"),
        ("utf-16le", "?q=я", "?q=я"),
        ("replacement", "?q=я", "?q=я"),
    ],
)
def test_a_query_is_written_as_browsers_do(charset: str, href: str, expected: str) -> None:
    encoding = webencodings.lookup(charset)
    assert encoding is not None
    assert with_query_in(encoding, href) == expected


def test_links_of_pages_in_different_charsets_are_not_mixed_up() -> None:
    extractor = FastLinkExtractor()

    def links(charset: str) -> list[str]:
        body = f"<meta charset={charset}><a href='/?q=я'>1</a><a href='/я'>2</a>".encode(charset)
        return [link.url for link in extractor.extract_links(HtmlResponse(SITE, body=body))]

    for _ in range(2):
        assert links("utf-8") == [f"{SITE}?q=%D1%8F", f"{SITE}%D1%8F"]
        assert links("windows-1251") == [f"{SITE}?q=%FF", f"{SITE}%D1%8F"]
        assert links("koi8-r") == [f"{SITE}?q=%D1", f"{SITE}%D1%8F"]
