"""Whole documents: their forms, the limits, what means harm, and what must hold for any bytes."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.exports.sitemap_xml import SitemapXmlExporter
from crawlproject.items import Page
from crawlproject.urls.canonical import canonicalize
from tests.chance import times
from tests.sitemaps.reading import HOME, NOTHING, located, paths, read, urlset

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = f'<?xml version="1.0" encoding="UTF-8"?>{urlset(located("/1", "/é"))}'
LINES = "https://a.example/1\nhttps://a.example/é\n"


def packed(body: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        body = gzip.compress(body, mtime=0)
    return body


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (DOCUMENT.encode(), ""),
        (DOCUMENT.encode(), "text/html"),
        (DOCUMENT.encode("utf-8-sig"), "application/xml"),
        (b"\xef\xbb\xbf\n" + DOCUMENT.encode("utf-8-sig"), ""),
        (DOCUMENT.encode("utf-16"), "text/xml; charset=utf-8"),
        (DOCUMENT.replace("UTF-8", "iso-8859-1").encode("latin-1"), ""),
        (DOCUMENT.encode("latin-1"), "text/xml; charset=iso-8859-1"),
        (packed(DOCUMENT.encode()), "text/xml"),
        (packed(DOCUMENT.encode(), 2), "application/octet-stream"),
        (packed(DOCUMENT.encode("utf-16")), "application/gzip; charset=binary"),
        (packed(DOCUMENT.encode()) + b"padding", ""),
        (packed(DOCUMENT.encode())[:-8], ""),
        (packed(DOCUMENT.encode())[:-8] + b"checksum", ""),
    ],
)
def test_one_sitemap_in_many_forms(body: bytes, content_type: str) -> None:
    sitemap = read(body, content_type=content_type)
    assert paths(sitemap) == ["1", "%C3%A9"]
    assert (sitemap.kind, sitemap.is_cut, sitemap.problem) == ("urlset", False, None)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (LINES.encode(), "text/plain"),
        (LINES.encode(), "application/xml"),
        (LINES.encode("utf-16"), ""),
        (LINES.encode("latin-1"), "text/plain; charset=latin1"),
        (packed(f"\ufeff\r\n# all pages\r\n{LINES}\r\nand no more".encode()), ""),
    ],
)
def test_text_in_many_forms(body: bytes, content_type: str) -> None:
    sitemap = read(body, content_type=content_type)
    assert sitemap.urls == {f"{HOME}1": NOTHING, f"{HOME}%C3%A9": NOTHING}
    assert (sitemap.kind, sitemap.is_cut, sitemap.problem) == ("text", False, None)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (packed(b""), "it is empty"),
        (b"Not found", "no sitemap: it has no URL"),
        (b"User-agent: *\nSitemap: https://a.example/sitemap.xml", "no sitemap: it has no URL"),
        (b'{"urls": ["https://a.example/"]}', "no sitemap: it has no URL"),
        (b"%PDF-1.7\n\xff\x00", "no sitemap: it has no URL"),
        (packed(DOCUMENT.encode())[:10], "it is gzip that ends too soon"),
        (packed(DOCUMENT.encode(), 3), "it is packed more than 2 times"),
        (b"<", "broken XML: Start tag expected, '<' not found"),
        (b"<!-- nothing -->", "it ends too soon"),
    ],
)
def test_what_is_no_sitemap_says_why(body: bytes, problem: str) -> None:
    assert read(body) == ("", {}, {}, False, problem)


@pytest.mark.parametrize("body", [DOCUMENT, LINES])
def test_one_url_more_than_may_be_is_told(body: str) -> None:
    assert not read(body, most_urls=2).is_cut
    sitemap = read(body, most_urls=1)
    assert paths(sitemap) == ["1"]
    assert (sitemap.is_cut, sitemap.problem) == (True, "it has more than 1 URLs")


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("body", [urlset(located("/1", "/2")) + "\n", LINES])
def test_more_bytes_than_may_be_are_told(body: str, times: int) -> None:
    data = packed(body.encode() + bytes(2_000), times)
    sitemap = read(data, most_bytes=1_000)
    # What comes behind the end of a document does not matter.
    is_cut = sitemap.kind == "text"
    assert (len(sitemap.urls), sitemap.is_cut) == (2, is_cut)
    assert sitemap.problem == ("it has more than 1,000 bytes" if is_cut else None)


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize(("before", "after"), [("<urlset>", "<a/>"), ("", "\nx ")])
def test_what_comes_before_the_limit_counts(before: str, after: str, times: int) -> None:
    found = located(f"{HOME}1") if before else f"{HOME}1"
    body = packed((before + found + after * 500).encode(), times)
    sitemap = read(body, most_bytes=1_000)
    assert (paths(sitemap), sitemap.is_cut) == (["1"], True)
    assert sitemap.problem == "it has more than 1,000 bytes"


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_what_comes_before_the_end_of_half_a_file_counts(share: float) -> None:
    numbers = [str(number) for number in range(5_000)]
    body = packed(urlset(located(*(f"/{number}" for number in numbers))).encode())
    sitemap = read(body[: int(len(body) * share)])
    assert len(sitemap.urls) > share * 0.8 * len(numbers)
    assert paths(sitemap) == numbers[: len(sitemap.urls)]
    assert (sitemap.is_cut, sitemap.problem) == (True, "it is gzip that ends too soon")


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(10))


@pytest.mark.parametrize(
    "declarations",
    [
        '<!ENTITY x SYSTEM "{secret}">',
        '<!ENTITY x SYSTEM "http://127.0.0.1:9/">',
        '<!ENTITY x PUBLIC "-//x//y" "{secret}">',
        '<!ENTITY % f SYSTEM "{secret}"><!ENTITY % e "<!ENTITY x SYSTEM \'{secret}\'>"> %e; %f;',
        '<!ENTITY l0 "ha">' + LAUGHS + '<!ENTITY x "&l10;">',
        '<!ENTITY y "' + "a" * 100_000 + '"><!ENTITY x "' + "&y;" * 10_000 + '">',
        '<!ATTLIST url xml:base CDATA "https://b.example/">',
        '<!ENTITY x "https://b.example/">',
        "<!ENTITY x ']>'>",
    ],
)
@pytest.mark.parametrize(
    "doctype", ["<!DOCTYPE urlset [{}]>", '<!DOCTYPE urlset SYSTEM "{{secret}}" [{}] >']
)
def test_no_declaration_is_ever_heeded(tmp_path: Path, doctype: str, declarations: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    prolog = doctype.format(declarations).replace("{secret}", secret.as_uri())
    image = "<image><loc>/&x;.jpg</loc></image>"
    inside = (
        f'<url><loc>/&x;</loc></url><url a="&x;"><loc>/1</loc>{image}<lastmod>&x;</lastmod></url>'
    )
    sitemap = read(prolog + urlset(inside))
    assert sitemap.urls in ({f"{HOME}1": NOTHING}, {})
    assert "SECRET" not in repr(sitemap)
    if "']>'" not in declarations:
        assert (paths(sitemap), sitemap.problem) == (["1"], None)


FIRST = f"<urlset>{located('/1')}"


@pytest.mark.parametrize(
    "body",
    [
        FIRST + "<a>" * 100_000,
        FIRST + "<a " + " ".join(f'b{number}=""' for number in range(150_000)),
        FIRST + "<a " + 'b="" ' * 200_000 + "/>",
        FIRST + "<a b='" + "c" * 11_000_000 + "'/>",
        FIRST + "<url><loc>" + "x" * 2_000_000,
        FIRST + "<url><loc>/" + "<![CDATA[x]]>" * 20_000 + "</loc></url>",
        FIRST + "<![CDATA[" + "x" * 11_000_000,
        FIRST + "<!--" + "x" * 2_000_000,
        FIRST + "<?x" * 200_000,
        FIRST + "<" * 50_000,
        FIRST + "<a" * 20_000,
        FIRST + "</a>" * 200_000,
        FIRST + "&" * 50_000,
        FIRST + "&#0;" * 50_000,
        FIRST + "\0" * 2_000_000,
        FIRST + "\ud800".encode("utf-8", "surrogatepass").decode("latin-1") * 1_000,
        FIRST + "".join(f"<a{number}/>" for number in range(20_000)),
        FIRST + "".join(f'<a xmlns:b{number}="c">' for number in range(20_000)),
        FIRST + "<x:a/>" * 20_000,
        FIRST + "<a xml:base='b/'>" * 20_000,
    ],
    ids=range(20),
)
def test_what_means_harm_is_cut_and_what_came_before_it_counts(body: str) -> None:
    sitemap = read(body)
    assert (sitemap.kind, paths(sitemap), sitemap.is_cut) == ("urlset", ["1"], True)
    assert len(str(sitemap.problem)) < 300
    assert "\n" not in str(sitemap.problem)


@pytest.mark.parametrize("inside", ["<url><a>{}</a></url>", "<!--{}-->", "<![CDATA[{}]]>", "{}"])
def test_memory_does_not_grow_with_the_document(inside: str) -> None:
    body = packed(urlset(inside.format("text " * 500_000) + located("/1")).encode())
    tracemalloc.start()
    try:
        sitemap = read(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (paths(sitemap), sitemap.is_cut) == (["1"], False)
    # The document has 2.5 MB.
    assert peak < 500_000


def test_what_the_project_writes_is_read_back() -> None:
    pages = [
        Page(
            canonicalize(url),
            status_code=200,
            content_type="text/html",
            last_modified=modified,
        )
        for url, modified in (
            (f"{HOME}", "Tue, 04 Mar 2025 05:06:07 GMT"),
            (f"{HOME}a?b='2'&c=<>", "2025-03-04"),
            (f"{HOME}é/\U0001f33f", None),
            ("http://xn--bcher-kva.example:8080/;x=1", "nonsense"),
        )
    ]
    file = io.BytesIO()
    exporter = SitemapXmlExporter(file)
    exporter.start_exporting()
    for page in pages:
        exporter.export_item(page)
    exporter.finish_exporting()
    lastmods = {pages[0].url: "2025-03-04T05:06:07Z", pages[1].url: "2025-03-04"}
    sitemap = read(file.getvalue())
    assert sitemap.urls == {
        page.url: NOTHING._replace(lastmod=lastmods.get(page.url))
        for page in sorted(pages, key=lambda page: page.url)
    }
    assert (sitemap.kind, sitemap.is_cut, sitemap.problem) == ("urlset", False, None)


def test_the_index_that_the_project_writes_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    with path.open("w+b") as file:
        exporter = SitemapXmlExporter(file, max_urls=2)
        exporter.start_exporting()
        for number in range(3):
            exporter.export_item(Page(f"{HOME}{number}", status_code=200, content_type="text/html"))
        exporter.finish_exporting()
    index = read(path.read_bytes())
    nested = {f"{HOME}sitemap-1.xml": None, f"{HOME}sitemap-2.xml": None}
    assert index == ("index", {}, nested, False, None)
    parts = [read((tmp_path / name).read_bytes()) for name in ("sitemap-1.xml", "sitemap-2.xml")]
    assert [paths(part) for part in parts] == [["0", "1"], ["2"]]


URLS = st.lists(
    st.builds(
        lambda path, query: canonicalize(f"/x{path}?{query}", HOME),
        st.text(st.characters(exclude_categories=["Cs"])),
        st.text(st.sampled_from("ab&=;<>'\"%é#\\")),
    ),
    unique=True,
)
WAYS = {
    "escaped": escape,
    "in CDATA": "<![CDATA[{}]]>".format,
    "by number": lambda url: "".join(f"&#{ord(character)};" for character in url),
    # A generator that has never heard of XML.
    "as it is": lambda url: url,
}


@given(URLS, st.sampled_from(list(WAYS)), st.sampled_from(["utf-8", "utf-16"]), st.integers(0, 2))
def test_what_is_written_is_read_back(urls: list[str], way: str, charset: str, times: int) -> None:
    body = urlset(located(*map(WAYS[way], urls))).encode(charset)
    sitemap = read(packed(body, times))
    # Only what looks like a name that stands for something is not taken for itself.
    if way != "as it is" or not any("&" in url and ";" in url for url in urls):
        assert sitemap == ("urlset", dict.fromkeys(urls, NOTHING), {}, False, None)
    lines = read(packed("\n".join(urls).encode(), times))
    assert list(lines.urls) == urls


WORDS = [
    *("<urlset>", "</urlset>", "<url>", "</url>", "<loc>", "</loc>", "<sitemap>", "</sitemap>"),
    *("<rss>", "<item>", "</item>", "<link>", "</link>", "<feed>", "<entry>", "</entry>"),
    *("<image>", "</image>", "<lastmod>", "</lastmod>", "2025-01-01", '<link href="/x"/>'),
    *("<![CDATA[", "]]>", "<!--", "-->", "<?xml ", "?>", "<!DOCTYPE x [", "]>", "<!ENTITY x 'y'>"),
    *("&x;", "&amp;", "&", "<", ">", "https://a.example/", "/1", "é", "\n", " ", "\0", "\ufffe"),
    *("<a b='c' xml:base='/d/'>", "</a>", "<x:y>", "</x:y>", "html"),
]
BODIES = (
    st.binary()
    | st.lists(st.sampled_from(WORDS)).map("".join).map(str.encode)
    | st.lists(st.sampled_from(WORDS)).map(lambda words: ("<urlset>" + "".join(words)).encode())
)


@times(3)
@given(BODIES, st.integers(0, 2), st.integers(0, 3), st.integers(0, 300))
def test_any_bytes_can_be_read_within_the_limits(
    body: bytes, layers: int, most_urls: int, most_bytes: int
) -> None:
    sitemap = read(packed(body, layers), most_urls=most_urls, most_bytes=most_bytes)
    assert len(sitemap.urls) + len(sitemap.nested) <= most_urls
    assert sitemap.is_cut == (bool(sitemap.kind) and sitemap.problem is not None)
    if not sitemap.kind:
        assert sitemap[1:4] == ({}, {}, False)
        assert sitemap.problem
    for url, hint in sitemap.urls.items():
        assert {canonicalize(found) for found in (url, *hint.images)} == {url, *hint.images}
    assert read(packed(body, layers), most_urls=most_urls, most_bytes=most_bytes) == sitemap


@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_a_damaged_document_can_be_read(place: int, damage: bytes) -> None:
    body = DOCUMENT.encode()
    read(body[:place] + damage + body[place + len(damage) :])
    file = packed(body)
    read(file[:place] + damage + file[place + len(damage) :])
