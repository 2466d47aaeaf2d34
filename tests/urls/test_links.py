import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse
from scrapy.link import Link
from scrapy.linkextractors import LinkExtractor

from crawlproject.urls.canonical import Canonicalizer, canonicalize
from crawlproject.urls.links import FastLinkExtractor
from crawlproject.urls.remembered import _REMEMBERED

SITE = "http://example.com"
URL = f"{SITE}/dir/page"


def page(body: str | bytes, **headers: str) -> HtmlResponse:
    return HtmlResponse(URL, body=body, encoding="utf-8", headers=headers)


def links(body: str | bytes, **arguments: object) -> list[Link]:
    return FastLinkExtractor(**arguments).extract_links(page(body))  # type: ignore[arg-type]


def urls(body: str | bytes, **arguments: object) -> list[str]:
    return [link.url for link in links(body, **arguments)]


NORMAL_PAGE = """<!doctype html><html><head><title>t</title><link rel=stylesheet href=/s.css></head>
<body><nav><a href="/">Home</a> <a href="/a/?c=1&amp;b=2">A</a> <A HREF='../up'>Up</A></nav>
<p>Text <a href="b.html#part">b</a>, <a href="b.html">b again</a>, <a name="x">anchor</a>,
<a href=" c.html
">c</a> <a href="//other.org/x">other</a> <a href="https://example.com/secure">s</a>
<a href="caf%C3%A9">café</a> <a href="é">é</a> <a href="?q=1">q</a> <a href="">self</a>
<map><area href="/area" alt=x></map><a href="mailto:a@b.c">m</a> <a href="javascript:void(0)">j</a>
<a href="tel:+1">t</a> <a href="data:,x">d</a> <a href=unquoted>u</a> <img src=/i.png>
<svg><a href="/in-svg">s</a></svg><noscript><a href="/in-noscript">n</a></noscript>
<!-- <a href=/commented>no</a> --><script>"<a href=/scripted>no</a>"</script></body></html>"""


def test_normal_page_has_the_links_that_scrapy_finds() -> None:
    response = page(NORMAL_PAGE)
    found = LinkExtractor(unique=False).extract_links(response)
    expected = dict.fromkeys(
        canonicalize(link.url) for link in found if link.url.startswith("http")
    )
    assert [link.url for link in FastLinkExtractor().extract_links(response)] == list(expected)
    assert len(expected) == 15


def test_link_has_its_text_and_its_rel() -> None:
    body = """<a href=/1> one </a><a href=/2><b>t</b>w<i>o</i></a><a href=/3 rel="x NOFOLLOW">3</a>
    <a href=/4 rel=nofollower></a><a href=/5 rel=ugc>a &amp; b</a><a href=/6 rel>6</a>
    <a href=/7 rel=nofollow,noopener>7</a>"""
    ours = [(link.url, link.text, link.nofollow) for link in links(body)]
    assert ours == [
        (f"{SITE}/1", "one", False),
        (f"{SITE}/2", "two", False),
        (f"{SITE}/3", "3", True),
        (f"{SITE}/4", "", False),
        (f"{SITE}/5", "a & b", False),
        (f"{SITE}/6", "6", False),
        (f"{SITE}/7", "7", True),
    ]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("x", f"{SITE}/dir/x"),
        ("/x?b=1&amp;a=2", f"{SITE}/x?a=2&b=1"),
        ("/x?a=1&b=2&copy=3", f"{SITE}/x?a=1&b=2&copy=3"),
        ("//Other.org", "http://other.org/"),
        (" \n/x\ty\r\n ", f"{SITE}/xy"),
        ("\\x", f"{SITE}/x"),
        ("&#47;x", f"{SITE}/x"),
        ("/x#f", f"{SITE}/x"),
        ("#f", URL),
        ("", URL),
        ("/x;jsessionid=1?utm_id=2", f"{SITE}/x"),
        ("http:x", f"{SITE}/dir/x"),
    ],
)
def test_address_is_canonical_and_absolute(href: str, url: str) -> None:
    assert urls(f'<a href="{href}">') == [url]


@pytest.mark.parametrize(
    "href",
    ["mailto:a@b", "JavaScript:x()", " tel:1", "data:,x", "ftp://a/", "file:///a", "about:blank",
     "http://", "http://[x/", "http://a..b/", "//", "http://a:99999/", "whatsapp://send", "http://%"],
)  # fmt: skip
def test_what_is_not_crawlable_is_no_link(href: str) -> None:
    assert urls(f'<a href="{href}">x</a><a href=/y>') == [f"{SITE}/y"]


def test_base_element_moves_relative_links_only() -> None:
    body = "<base href=//cdn.org/d/><a href=x><a href=/y><a href=http://example.com/z>"
    assert urls(body) == ["http://cdn.org/d/x", "http://cdn.org/y", f"{SITE}/z"]


def test_remembered_links_belong_to_their_origin() -> None:
    extractor = FastLinkExtractor()
    for origin in ("http://a.org", "https://a.org", "http://a.org:81", "http://b.org"):
        for path in ("/1", "/2/3"):
            response = HtmlResponse(origin + path, body=b"<a href=/x><a href=//c.org><a href=y>")
            scheme = origin.partition(":")[0]
            relative = "/2/y" if path == "/2/3" else "/y"
            found = [link.url for link in extractor.extract_links(response)]
            assert found == [f"{origin}/x", f"{scheme}://c.org/", f"{origin}{relative}"]


PARTS = ["", "a", "b/", "/", "..", ".", "?x", "#y", "//c.org", ":", " ", "\\", "%2e", "http:", "\n"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    *("", "/", "/a", "/a/", "/a/b", "/a/b/", "/b/c?d=/e/f", "/b/c#/g", "?h=/i/"),
                    *("/a/b/..", "/a/b/%2e%2E", "/a/b/.", "/a/%2e", "/a\\b", "/a/b\\c", "/a/b/..c"),
                ]
            ),
            st.lists(st.lists(st.sampled_from(PARTS), max_size=3).map("".join), max_size=4),
        ),
        max_size=6,
    )
)
def test_what_is_remembered_changes_no_link(pages: list[tuple[str, list[str]]]) -> None:
    extractor = FastLinkExtractor()
    for path, hrefs in pages:
        body = "".join(f'<a href="{href}">x</a>' for href in hrefs).encode()
        for origin in ("http://a.org", "http://b.org"):
            response = HtmlResponse(origin + path, body=body)
            found = [link.url for link in extractor.extract_links(response)]
            anew = FastLinkExtractor().extract_links(response)
            assert found == [link.url for link in anew]
            assert extractor.addresses(response) == {link.url: link.nofollow for link in anew}


def test_memory_of_links_is_bounded() -> None:
    extractor = FastLinkExtractor()
    body = "".join(f"<a href=/{number}></a>" for number in range(_REMEMBERED + 100))
    assert len(extractor.extract_links(page(body))) == _REMEMBERED + 100

    def remembered() -> list[str]:
        return [href for hrefs in extractor._remembered._places.values() for href in hrefs]

    assert 0 < len(remembered()) <= _REMEMBERED
    for number in range(_REMEMBERED // 8 + 10):
        body = f"<a href=/{'x' * 5_000}><a href=y>"
        extractor.extract_links(HtmlResponse(f"http://{number}.org/", body=body.encode()))
    assert 0 < len(extractor._remembered._places) <= _REMEMBERED // 4
    assert set(remembered()) == {"y"}


def test_a_base_that_is_too_long_to_be_one_is_none() -> None:
    base = f"http://other.org/{'x/' * 5_000}"
    assert urls(f"<base href={base}><a href=y>") == [f"{SITE}/dir/y"]
    base = f"http://other.org/{'x/' * 1_000}"
    extractor = FastLinkExtractor()
    found = extractor.extract_links(page(f"<base href={base}><a href=y>"))
    assert [link.url for link in found] == [f"{base}y"]
    # … and what is long is not remembered.
    assert not any(extractor._remembered._places.values())


def test_addresses_are_the_links_each_once() -> None:
    body = "<a href=/x rel=nofollow></a><a href=/y></a><a href=/x></a><a href=/z rel=nofollow></a>"
    body += "<a href=/z rel=nofollow></a><a href=/y rel=nofollow></a><a href=mailto:x></a>"
    found = FastLinkExtractor().addresses(page(body))
    assert list(found.items()) == [(f"{SITE}/x", False), (f"{SITE}/y", False), (f"{SITE}/z", True)]
    assert FastLinkExtractor().addresses(TextResponse(URL, body=body, encoding="utf-8")) == {}


def test_fragment_is_kept_beside_the_address() -> None:
    assert links("<a href='/x#part 1 '>t</a>") == [Link(f"{SITE}/x", "t", "part 1")]


def test_page_order_is_kept_and_each_address_comes_once() -> None:
    body = (
        "<area href=/2><a href=/1><a href=/2#x><meta http-equiv=refresh content='0;/3'><a href=/1>"
    )
    assert urls(body) == [f"{SITE}/2", f"{SITE}/1", f"{SITE}/3"]
    assert len(urls(body, unique=False)) == 5


@pytest.mark.parametrize("first", [True, False])
def test_one_way_that_may_be_followed_is_enough(first: bool) -> None:
    both = ["<a href=/x rel=nofollow></a>", "<a href=/x></a>"]
    (link,) = links("".join(both if first else reversed(both)))
    assert not link.nofollow


def test_page_that_says_nofollow_marks_every_link() -> None:
    response = page("<a href=/x>", **{"X-Robots-Tag": "nofollow"})
    assert [link.nofollow for link in FastLinkExtractor().extract_links(response)] == [True]
    body = "<meta name=robots content=none><a href=/x><a href=/y>"
    assert [link.nofollow for link in links(body)] == [True, True]
    body = "<meta name=ourbot content=nofollow><a href=/x>"
    assert [link.nofollow for link in links(body)] == [False]
    assert [link.nofollow for link in links(body, token="ourbot")] == [True]


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("0; url=/x", "/x"),
        ("5;URL='/x'", "/x"),
        ('0, url = "/x" trailing', "/x"),
        ("0 /x", "/x"),
        ("0;/x", "/x"),
        (" 1.5 ; uRl=/x ", "/x"),
        (".5;url=/x", "/x"),
        ("0;url='/x", "/x"),
        ("0;url=x", "/dir/x"),
        ("0", None),
        ("5;", None),
        ("5; url=", None),
        ("url=/x", None),
        ("0url=/x", None),
        ("0;url=javascript:x", None),
        ("", None),
        ("0" * 100_000, None),
        (" " * 100_000, None),
    ],
)
def test_meta_refresh_is_a_link(content: str, path: str | None) -> None:
    body = f"<meta http-equiv=' Refresh ' content='{escape(content)}'>"
    assert urls(body) == ([] if path is None else [SITE + path])


def test_other_meta_elements_are_no_links() -> None:
    assert urls("<meta http-equiv=x content='0;/x'><meta name=refresh content='0;/x'>") == []


def test_link_elements_count_where_their_rel_is_asked_for() -> None:
    body = """<link rel=next href=/2><link rel="x Alternate" href=/3><link rel=stylesheet href=/4>
    <link rel=canonical href=/5><link rel=next><a href=/6>"""
    assert urls(body) == [f"{SITE}/6"]
    asked = urls(body, link_rels=["next", "ALTERNATE"])
    assert asked == [f"{SITE}/2", f"{SITE}/3", f"{SITE}/6"]


def test_tags_and_attributes_can_be_chosen() -> None:
    body = "<a href=/1><img src=/2 data-src=/3><iframe src=/4></iframe><link rel=x href=/5>"
    assert urls(body, tags="img", attrs=["src", "data-src"]) == [f"{SITE}/2", f"{SITE}/3"]
    assert urls(body, tags="*", attrs=("href", "src")) == [f"{SITE}/{n}" for n in (1, 2, 4, 5)]
    assert urls(body, tags=["link"]) == [f"{SITE}/5"]


def test_part_of_the_page_can_be_chosen() -> None:
    body = """<a href=/0></a><div class=m><a href=/1></a><div class=m><a href=/2></a></div></div>
    <p><a href=/3></a></p><a id=me href=/4></a>"""
    assert urls(body, restrict_css=".m") == [f"{SITE}/1", f"{SITE}/2"]
    assert urls(body, restrict_css=[".m", "p", "#me"]) == [f"{SITE}/{n}" for n in (1, 2, 3, 4)]
    assert urls(body, restrict_css=".m", unique=False) == [f"{SITE}/1", f"{SITE}/2"]
    assert urls(body, restrict_css="footer") == []


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"allow": "/x/"}, {"http://a.org/x/1", "http://sub.b.org/x/2"}),
        ({"allow": [re.compile("1$"), "q"]}, {"http://a.org/x/1", "http://a.org/?q"}),
        ({"deny": r"\d$"}, {"http://a.org/?q", "http://notb.org/"}),
        ({"allow": "/x/", "deny": "b"}, {"http://a.org/x/1"}),
        ({"allow_domains": "b.org"}, {"http://sub.b.org/x/2"}),
        ({"allow_domains": ["A.org", ".b.org"]},
         {"http://a.org/x/1", "http://a.org/?q", "http://sub.b.org/x/2"}),
        ({"deny_domains": ["a.org", "sub.b.org"]}, {"http://notb.org/"}),
        ({"allow_domains": "a.org", "deny_domains": "a.org"}, set()),
    ],
)  # fmt: skip
def test_filters_see_the_canonical_address(arguments: dict[str, object], kept: set[str]) -> None:
    all_urls = ["http://a.org/x/1", "http://sub.b.org/x/2", "http://a.org/?q", "http://notb.org/"]
    body = "".join(f"<a href='{url}#z'></a>" for url in all_urls)
    assert set(urls(body, **arguments)) == kept
    extractor = FastLinkExtractor(**arguments)  # type: ignore[arg-type]
    assert {url for url in all_urls if extractor.matches(f"{url}#z")} == kept
    assert not extractor.matches("mailto:x@a.org")


def test_canonicalizer_can_be_chosen() -> None:
    body = "<a href='/x?sid=1'>"
    assert urls(body, canonicalizer=Canonicalizer([])) == [f"{SITE}/x?sid=1"]
    assert urls(body, canonicalizer=Canonicalizer(join_schemes=True)) == ["https://example.com/x"]


@pytest.mark.parametrize(
    "arguments",
    [{"restrict_css": "a[["}, {"restrict_css": [".m", ":nope"]}, {"tags": "a, b"}, {"attrs": "a]"}],
)
def test_wrong_argument_is_refused_by_name(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        FastLinkExtractor(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Response, TextResponse, XmlResponse])
def test_only_html_has_links(kind: type[Response]) -> None:
    assert FastLinkExtractor().extract_links(kind(URL, body=b"<a href=/x>")) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0" * 1_000 + b"<a href=/x>",
        b"<div>" * 100_000 + b"<a href=/x>",
        b"<a href=/x " + b" ".join(b"a%d=1" % n for n in range(1_000_000)) + b">",
        b'<a href="/x' * 10_000,
        b"<a href=/x><table><td>" * 5_000 + b"y",
        b"<a href=\xff\xfe><a href='/\0\0'>",
        b"<base href='" + b"x" * 1_000_000 + b"'><a href=y>",
        b"<a href=" + b"/.." * 300_000 + b">",
        b"<meta name=robots content='" + b"," * 1_000_000 + b"'>",
    ],
)
def test_hostile_page_does_not_raise(body: bytes) -> None:
    assert len(links(body)) <= 2


def test_text_of_links_in_links_is_bounded() -> None:
    body = b"<a href=/%d><table><td>"
    nested = b"".join(body % number for number in range(300)) + b"x" * 100_000
    found = links(nested)
    assert len(found) == 300
    assert sum(len(link.text) for link in found) < 4 * len(nested)


PIECES = [
    b"<a href=",
    b"<base href=",
    b"<meta http-equiv=refresh content=",
    b"<meta name=robots content=",
]
PIECES += [
    b"'",
    b'"',
    b">",
    b"</a>",
    b"/x",
    b"\0",
    b"\xff",
    b"0;url=",
    b"http://",
    b"nofollow",
    b"#",
    b" rel=",
]


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=20).map(b"".join))
def test_every_link_of_any_page_is_canonical(body: bytes) -> None:
    for link in links(body, link_rels=["next"], tags=["a", "link", "base"]):
        assert canonicalize(link.url) == link.url
