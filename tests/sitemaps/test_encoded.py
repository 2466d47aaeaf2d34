from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.sitemaps.encoded import in_utf8


def read(body: bytes, content_type: str = "", size: int = 100_000) -> str:
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return b"".join(in_utf8(pieces, content_type)).decode()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<é>".encode(), ""),
        (codecs.BOM_UTF8 + "<é>".encode(), ""),
        (codecs.BOM_UTF8 + "<é>".encode(), "text/xml; charset=iso-8859-1"),
        ("<é>".encode("utf-16"), ""),
        (codecs.BOM_UTF16_BE + "<é>".encode("utf-16-be"), ""),
        ("<é>".encode("latin-1"), "text/xml; charset=ISO-8859-1"),
        ("<é>".encode("shift_jis", "ignore"), "text/xml; charset=Shift_JIS"),
        ("<é>".encode(), "nonsense; charset=\ud800"),
    ],
)
def test_marks_and_headers_tell_the_charset(body: bytes, content_type: str) -> None:
    assert read(body, content_type) in {"<é>", "<>"}


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("ISO-8859-1", "latin-1"),
        ("windows-1251", "cp1251"),
        ("EUC-JP", "euc-jp"),
        ("GB2312", "gbk"),
        ("UTF-8", "utf-8"),
        # A string in UTF-16 that was sent in UTF-8, and no such charset.
        ("utf-16", "utf-8"),
        ("unicode", "utf-8"),
    ],
)
def test_a_declaration_tells_the_charset(declared: str, written: str) -> None:
    text = "é" if written == "latin-1" else "я" if written != "utf-8" else "éя本"
    document = f'<?xml version="1.0" encoding="{declared}"?><a>{text}</a>'
    assert read(document.encode(written)) == document


def test_a_quoted_page_does_not_overrule_the_declaration() -> None:
    feed = '<?xml version="1.0" encoding="UTF-8"?><![CDATA[<meta charset="windows-1252">]]>é'
    assert read(feed.encode()) == feed


def test_utf_16_needs_no_mark() -> None:
    document = '<?xml version="1.0" encoding="UTF-16"?><a>é</a>'
    assert read(document.encode("utf-16-le")) == document
    assert read(document.encode("utf-16-be")) == document


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", ""),
        (b"a\xffb", "a\ufffdb"),
        (b"a\xed\xa0\x80b", "a\ufffd\ufffd\ufffdb"),
        (b"\xff\xfe" + b"a\x00\x00\xd8b\x00", "a\ufffdb"),
        (b"\xff\xfea\x00b", "a\ufffd"),
        ("a\ufffeb\uffffc".encode(), "a\ufffdb\ufffdc"),
        (b"a\0b\x0bc\x7f\td\r\n", "abc\x7f\td\r\n"),
        ("<é".encode()[:-1], "<\ufffd"),
    ],
)
def test_what_is_no_text_is_marked_or_left_out(body: bytes, text: str) -> None:
    assert read(body, "text/xml; charset=utf-8") == text


@given(st.text(), st.sampled_from(["utf-8-sig", "utf-16"]), st.integers(3, 9))
def test_pieces_may_end_anywhere(text: str, encoding: str, size: int) -> None:
    body = text.encode(encoding)
    assert read(body, size=size) == read(body)


@given(st.binary(), st.sampled_from(["", "utf-8", "utf-16", "gb18030", "iso-2022-jp", "x"]))
def test_any_bytes_become_text(body: bytes, charset: str) -> None:
    read(body, f"text/plain; charset={charset}", size=7)
