from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, TextResponse

from crawlproject.urls.charset import utf8
from crawlproject.urls.document import document, text_of
from crawlproject.urls.links import FastLinkExtractor

URL = "http://example.com/"
HTML = b"text/html"
# Each in its own language, and long enough to be told by its looks.
TEXTS = {
    "windows-1252": "Où est l'éléphant? À côté de la plage, où l'été était très agréable.",
    "windows-1251": "Это страница на русском языке. Здесь много слов о погоде и природе.",
    "koi8-r": "Это страница на русском языке. Здесь много слов о погоде и природе.",
    "windows-1250": "Příliš žluťoučký kůň úpěl ďábelské ódy. Dnes je velmi hezké počasí.",
    "windows-1253": "Αυτή είναι μια ελληνική σελίδα. Σήμερα ο καιρός είναι πολύ καλός.",
    "shift_jis": "これは日本語のページです。今日は天気がいいから、散歩しましょう。",
    "euc-jp": "これは日本語のページです。今日は天気がいいから、散歩しましょう。",
    "gb18030": "这是一个中文网页。今天天气很好，我们去公园散步吧。",
    "big5": "這是一個中文網頁。今天天氣很好，我們去公園散步吧。",
    "euc-kr": "이것은 한국어 페이지입니다. 오늘은 날씨가 좋아서 공원에서 산책을 합시다.",
}


def read(body: bytes, content_type: str = "text/html") -> str:
    return utf8(body, content_type.encode()).decode()


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("utf-8", "utf-8", "é€😀"),
        ("UTF8", "utf-8", "é€"),
        ("unicode-1-1-utf-8", "utf-8", "é€"),
        ("iso-8859-1", "cp1252", "é€“”"),
        ("ISO_8859-1", "cp1252", "é€"),
        ("latin1", "cp1252", "é€"),
        ("us-ascii", "cp1252", "é€"),
        ("x-cp1252", "cp1252", "é€"),
        ("iso-8859-9", "cp1254", "ğış€"),
        ("iso-8859-8-i", "iso8859-8", "שלום"),
        ("iso-8859-15", "iso8859-15", "é€"),
        ("tis-620", "cp874", "ไทย…"),
        ("koi8-u", "koi8-u", "Ґїє"),
        ("ibm866", "cp866", "Привет"),
        ("x-mac-cyrillic", "mac-cyrillic", "Привет"),
        ("gb2312", "gbk", "中文镕"),
        ("gbk", "gb18030", "中文㐂"),
        ("x-gbk", "gbk", "中文"),
        ("shift_jis", "cp932", "日本①～"),
        ("x-sjis", "cp932", "日本①"),
        ("windows-31j", "cp932", "日本"),
        ("euc-jp", "euc_jp", "日本"),
        ("iso-2022-jp", "iso2022_jp", "日本"),
        ("euc-kr", "cp949", "한국똠"),
        ("ks_c_5601-1987", "cp949", "한국"),
        ("big5", "big5hkscs", "中文"),
        ("utf-16", "utf-16-le", "é€"),
        ("utf-16le", "utf-16-le", "é€"),
        ("utf-16be", "utf-16-be", "é€"),
        ("x-user-defined", "latin-1", "a"),
    ],
)
def test_a_label_means_what_it_means_to_browsers(label: str, codec: str, text: str) -> None:
    assert read(text.encode(codec), f"text/html; charset={label}") == text


@pytest.mark.parametrize(
    "label", ["utf-7", "utf-32", "hex", "rot13", "idna", "cp037", "undefined", "nonsense", "", "é"]
)
def test_what_browsers_do_not_know_is_no_charset(label: str) -> None:
    header = f"text/html; charset={label}"
    assert read("<p>é€".encode(), header) == "<p>é€"
    assert read(b"+ADw-script+AD4-", header) == "+ADw-script+AD4-"
    meta = b"<meta charset=windows-1251>"
    assert read(meta + "Привет".encode("cp1251"), header) == "<meta charset=windows-1251>Привет"
    unknown = f"<meta charset={label}><meta charset=windows-1251>"
    assert read((unknown + "Привет").encode("cp1251", "ignore")).endswith("Привет")


@pytest.mark.parametrize("label", ["hz-gb-2312", "iso-2022-kr", "iso-2022-cn", "replacement"])
def test_charsets_that_hide_markup_are_not_read(label: str) -> None:
    assert read(b"<a href=/x>x</a>", f"text/html; charset={label}") == "\ufffd"


@pytest.mark.parametrize(
    ("header", "codec"),
    [
        ("text/html; charset=windows-1251", "cp1251"),
        ("text/html;charset=windows-1251", "cp1251"),
        ("text/html; Charset = Windows-1251", "cp1251"),
        ('text/html; charset="windows-1251"', "cp1251"),
        ("text/html; charset='windows-1251'", "cp1251"),
        ('text/html; charset=" windows-1251 "', "cp1251"),
        ("text/html; charset=windows-1251; charset=utf-8", "cp1251"),
        ("text/html; charset=windows-1251, text/plain", "cp1251"),
        ("text/html; version=1; charset=windows-1251", "cp1251"),
        ("charset=windows-1251", "cp1251"),
        ("text/html; xcharset=windows-1251; charset=koi8-r", "koi8-r"),
        ("text/html; " + "x" * 10_000, "utf-8"),
    ],
)
def test_the_header(header: str, codec: str) -> None:
    assert read("Привет".encode(codec), header) == "Привет"


@pytest.mark.parametrize(
    "markup",
    [
        "<meta charset=windows-1251>",
        "<META CHARSET='Windows-1251'/>",
        '<meta name=x charset=" windows-1251 ">',
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        "<meta content='text/html;charset = \"windows-1251\"' http-equiv=CONTENT-TYPE>",
        "<!-- <meta charset=utf-8> --><meta charset=windows-1251>",
        "<script>'<meta charset=utf-8>'</script><meta charset=windows-1251>",
        "<title><meta charset=utf-8></title><meta charset=windows-1251>",
        "<a title='<meta charset=utf-8>'><meta charset=windows-1251>",
        "<meta content='text/html; charset=utf-8'><meta charset=windows-1251>",
        "<meta http-equiv=refresh content='charset=utf-8'><meta charset=windows-1251>",
        "<meta name=description content='charset=utf-8'><meta charset=windows-1251>",
        "<metadata charset=utf-8><meta charset=windows-1251>",
        "<script src=x charset=utf-8></script><meta charset=windows-1251>",
        "<meta charset=windows-1251><meta charset=utf-8>",
        f"<style>{'x' * 5_000}</style><meta charset=windows-1251>",
        "<body><p><META charset=windows-1251>",
        '<?xml version="1.0" encoding="windows-1251"?>',
        '<?xml version="1.0" encoding="utf-8"?><meta charset=windows-1251>',
    ],
)
def test_what_a_page_declares(markup: str) -> None:
    assert read(f"{markup}Привет".encode("cp1251")) == f"{markup}Привет"


@pytest.mark.parametrize("label", ["utf-16", "utf-16le", "utf-16be", "unicode", "utf-8"])
def test_utf16_that_can_be_read_as_ascii_is_utf8(label: str) -> None:
    for markup in (f"<meta charset={label}>é", f'<?xml version="1.0" encoding="{label}"?>é'):
        assert read(markup.encode()) == markup


def test_x_user_defined_in_a_page_is_windows_1252() -> None:
    page = "<meta charset=x-user-defined>é€"
    assert read(page.encode("cp1252")) == page


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
@pytest.mark.parametrize("header", ["text/html", "text/html; charset=windows-1251"])
def test_a_byte_order_mark_beats_the_header_which_beats_the_page(
    mark: bytes, codec: str, header: str
) -> None:
    page = "<meta charset=koi8-r>é€"
    assert read(mark + page.encode(codec), header) == page
    assert read("<meta charset=koi8-r>Привет".encode("cp1251"), "x; charset=windows-1251") == (
        "<meta charset=koi8-r>Привет"
    )


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("start", ["<!DOCTYPE html>", "\n <html>", "<?xml version='1.0'?>"])
def test_utf16_without_a_mark_or_a_name_is_known_by_its_looks(codec: str, start: str) -> None:
    page = f"{start}<title>é€</title>"
    assert read(page.encode(codec)) == page


@pytest.mark.parametrize(("label", "text"), TEXTS.items())
def test_a_page_that_declares_nothing_is_known_by_its_looks(label: str, text: str) -> None:
    page = f"<html><head><title>x</title><body><p>{text} {text}</p>"
    assert read(page.encode(label)) == page
    # However much stands before it, and after it.
    page = f"<style>{'x' * 100_000}</style>{page * 300}"
    assert read(page.encode(label)) == page


@pytest.mark.parametrize("text", ["é", "日本語のページ", "plain", "", "é" * 100_000 + "<p>"])
def test_what_can_be_utf8_is_utf8(text: str) -> None:
    assert read(text.encode()) == text


def test_a_few_bad_bytes_do_not_make_it_another_charset() -> None:
    body = "<p>日本語のページです。</p>".encode() * 20
    broken = body + b"\xe6\x97" + body + b"\xff" + body
    assert utf8(broken, HTML) == broken


@pytest.mark.parametrize(
    "text",
    [
        "<title>Café</title>",
        "Über die größten Bäume im Süden; schöne Grüße aus München.",
        "A criança não está à espera; são três irmãos em São João.",
        "Vi åker på semester till Skåne, där får man äta gott bröd på ön.",
        "El niño comió una manzana; ¿dónde está la señora Muñoz?",
    ],
)
def test_what_could_be_windows_1252_is(text: str) -> None:
    assert read(text.encode("cp1252")) == text


PAGE = "<html><head>{meta}<title>{text}</title></head><body><a href='/{text}'>x</a>"


@pytest.mark.parametrize(("label", "text"), {**TEXTS, "utf-8": "é€", "utf-16": "é€"}.items())
def test_titles_and_links_are_right_however_the_charset_is_told(label: str, text: str) -> None:
    text = text.split("?")[0].split()[0]
    plain = PAGE.format(meta="", text=text).encode(label)
    declared = PAGE.format(meta=f"<meta charset={label}>", text=text).encode(label)
    pages = [(plain, f"text/html; charset={label}")]
    if label != "utf-16":
        pages.append((declared, "text/html"))
    for body, header in pages:
        response = HtmlResponse(URL, headers={"Content-Type": header}, body=body)
        title = document(response).css_first("title")
        assert title is not None
        assert title.text() == text
        expected = HtmlResponse(URL, body=PAGE.format(meta="", text=text), encoding="utf-8")
        assert FastLinkExtractor().addresses(response) == FastLinkExtractor().addresses(expected)
        assert text_of(response).count(text) == 2


def test_what_the_maker_of_a_response_says_stands() -> None:
    header = {"Content-Type": "text/html; charset=utf-8"}
    response = TextResponse(URL, headers=header, body="Привет".encode("cp1251"), encoding="cp1251")
    assert text_of(response) == "Привет"
    assert text_of(TextResponse(URL, body=b"x", encoding="hex")) == "x"


@pytest.mark.parametrize(
    "body",
    [
        b"<!--" * 16_000 + b"charset",
        b"<meta " + b"a='" * 20_000 + b"charset",
        b'<a b="c\' d=" ' * 5_000 + b"charset",
        b"<script>" * 8_000 + b"charset",
        b"<" * 65_000 + b"charset",
        b"<?xml " + b" encoding" * 7_000,
        b" \x00" * 1_000_000,
        b"\xff\x80" * 1_000_000,
    ],
)
def test_no_page_takes_longer_than_its_length(body: bytes) -> None:
    # It would not end while somebody waits.
    assert isinstance(utf8(body, HTML), bytes)


@given(
    st.binary()
    | st.lists(
        st.sampled_from(
            [b"<meta ", b"charset=", b"utf-16", b"gbk", b'"', b">", b"\0", b"\xff", b"<!--"]
        )
    ).map(b"".join),
    st.binary() | st.sampled_from([b"x; charset=" + label.encode() for label in TEXTS]),
)
def test_any_bytes_become_text_in_utf8(body: bytes, header: bytes) -> None:
    text = utf8(body, header)
    assert text in (body, body.removeprefix(codecs.BOM_UTF8)) or text.decode()


@pytest.mark.parametrize("name", TEXTS)
def test_a_large_page_is_read_piece_by_piece_and_to_the_same_end(name: str) -> None:
    text = TEXTS[name] * 30_000
    body = text.encode(name)
    assert len(body) > 1024 * 1024
    assert read(body, f"text/html; charset={name}") == text


def test_a_page_that_becomes_longer_in_utf8_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"\x80" * 3_000_000
    content_type = b"text/html; charset=windows-1252"
    assert len(utf8(body, content_type)) == 9_000_000
    monkeypatch.setattr("crawlproject.urls.charset.MAX_BYTES", 1_000)
    # Never shorter than it is as it was sent.
    assert utf8(body, content_type) == ("€".encode() * 1_000_000)
    assert utf8(b"x" * 3_000_000, content_type) == b"x" * 3_000_000
