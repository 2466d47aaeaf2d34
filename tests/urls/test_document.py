import gc
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, Response, TextResponse

from crawlproject.urls import document as module
from crawlproject.urls.document import base_url, document

URL = "http://example.com/a/b"
CODECS = sorted({*aliases.values(), "undefined", "idna", "punycode", "unicode_escape", "nonsense"})


def html(body: bytes, charset: str | None = None) -> HtmlResponse:
    content_type = "text/html" if charset is None else f"text/html; charset={charset}"
    return HtmlResponse(URL, body=body, headers={"Content-Type": content_type})


def title(response: Response) -> str:
    node = document(response).css_first("title")
    return node.text() if node else ""


def test_response_is_parsed_once_and_forgotten_with_it() -> None:
    response = html(b"<title>x</title>")
    assert document(response) is document(response)
    assert response in module._readings
    before = len(module._readings)
    del response
    gc.collect()
    assert len(module._readings) == before - 1


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<title>é€</title>".encode(), "utf-8"),
        ("<title>é€</title>".encode(), None),
        (b"\xef\xbb\xbf" + "<title>é€</title>".encode(), None),
        ("<title>é€</title>".encode("cp1252"), "iso-8859-1"),
        ("<meta charset=windows-1252><title>é€</title>".encode("cp1252"), None),
        ("<title>é€</title>".encode("utf-16"), "utf-16"),
    ],
)
def test_text_is_decoded_as_declared(body: bytes, charset: str | None) -> None:
    assert title(html(body, charset)) == "é€"


def test_byte_order_mark_does_not_end_the_head() -> None:
    tree = document(html(b"\xef\xbb\xbf<html><head><base href=/x></head><body>"))
    assert tree.head is not None
    assert tree.head.css_first("base") is not None


@pytest.mark.parametrize("charset", CODECS)
def test_no_declared_charset_raises(charset: str) -> None:
    assert document(html(b"<p>\xff\xfe\x00\x80</p>", charset)).css("nothing") == []


def test_other_responses_are_read_as_utf8() -> None:
    body = "<title>é</title>".encode()
    assert title(Response(URL, body=body)) == "é"
    assert title(TextResponse(URL, body=body, encoding="utf-8")) == "é"


@given(
    st.binary()
    | st.lists(st.sampled_from([b"<a href=", b'"', b">", b"\0", b"\xff", b"</"])).map(b"".join)
)
def test_any_bytes_can_be_parsed_and_read(body: bytes) -> None:
    for charset in ("utf-8", None, "utf-16", "shift_jis"):
        tree = document(html(body, charset))
        for node in tree.css("*"):
            assert isinstance(node.text(), str)
            assert isinstance(node.attributes, dict)


@pytest.mark.parametrize(
    ("head", "base"),
    [
        (b"", URL),
        (b"<base href=/c/>", "http://example.com/c/"),
        (b"<base target=x><BASE HREF=' ../c '><base href=/d/>", "http://example.com/c"),
        (b"<base href=//other.org>", "http://other.org/"),
        (b"<base href>", URL),
        (b"<base href=javascript:x><base href=/d/>", URL),
        (b"<base href='data:text/html,x'>", URL),
        (b"<base href='http://[broken/'>", URL),
        (b"<!-- <base href=/c/> -->", URL),
    ],
)
def test_base_is_the_first_base_element_that_has_an_address(head: bytes, base: str) -> None:
    response = html(b"<head>" + head + b"</head>")
    assert base_url(response) == base
    assert base_url(response) == base
