import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawlproject.urls.tame import tame

LINK = b"<a href=/found>text</a>"
ATTRIBUTES = b" ".join(b"a%d=1" % number for number in range(50_000))
FORMATS = b"".join(b"<b id=%d>" % number for number in range(1_000))

HOSTILE = {
    "nested": b"<div>" * 100_000 + LINK,
    "nested with lists": b"<ul><li>" * 50_000 + LINK,
    "nested with end tags that end nothing": b"<div></x>" * 50_000 + LINK,
    "nested behind comments": b"<div><!--</div>-->" * 50_000 + LINK,
    "links in links": b"<a href=/found><table><td>" * 20_000 + b"text",
    "end tags": b"<span>" * 50_000 + b"</div>" * 50_000 + LINK,
    "attributes": b"<p " + ATTRIBUTES + b">" + LINK,
    "attributes of the link": b"<a href=/found " + ATTRIBUTES + b">text</a>",
    "attributes of a script": b"<script " + ATTRIBUTES + b">x<y</script>" + LINK,
    "attributes without end": LINK + b"<p " + ATTRIBUTES,
    "formatting copied into paragraphs": b"<p>" + FORMATS + b"</p>" + b"<p>x" * 5_000 + LINK,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_page_still_gives_its_link(name: str) -> None:
    tree = LexborHTMLParser(tame(HOSTILE[name]))
    links = tree.css("a[href='/found']")
    assert links
    assert "text" in links[-1].text()
    assert len(tree.css("*")) < 100_000


def test_flattened_page_keeps_title_base_and_raw_text() -> None:
    head = b"<title>T <b></title><base href=/x><script>'<a href=/no>'</script><meta name=m>"
    tree = LexborHTMLParser(tame(head + HOSTILE["nested"]))
    assert [node.text() for node in tree.css("title")] == ["T <b>"]
    assert [node.attributes for node in tree.css("base, meta")] == [{"href": "/x"}, {"name": "m"}]
    assert [node.attributes["href"] for node in tree.css("a")] == ["/found"]


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<",
        LINK,
        b"<div><p class='x'>text</p></div>" * 20_000,
        b"<p>never closed" * 20_000,
        b"<ul><li>one<li>two</ul>" * 20_000,
        b"<table><tr><td>1<td>2<tr><td>3</table>" * 5_000,
        b"<div>" * 400 + b"<p><b class=x>y</b>" * 3_000 + b"</div>" * 400,
        b'<img src="data:image/png;base64,' + b"A" * 100_000 + b'">',
        b'<p class="' + b"word " * 20_000 + b'">',
        b"<script>" + b"if (a<b) { c = d; } " * 15_000 + b"</script>",
        b"<!--" + b"if (a<b) { c = d; } " * 15_000 + b"-->",
        b"plain text without a tag " * 10_000,
    ],
)
def test_ordinary_page_is_untouched(page: bytes) -> None:
    assert tame(page) is page


def test_too_many_kinds_of_formatting_lose_their_attributes_and_nothing_else() -> None:
    script = b"<script>if (a<b && c) d('<i x=1>')</script>"
    icons = b"".join(b'<I class="icon-%d"></I>x ' % number for number in range(1_500))
    page = script + b"<main id=m>" + icons + LINK + b"</main>"
    tree = LexborHTMLParser(tame(page))
    assert [node.text() for node in tree.css("script")] == ["if (a<b && c) d('<i x=1>')"]
    assert len(tree.css("#m i")) == 1_500
    assert len(tree.css("#m a[href]")) == 1


@pytest.mark.parametrize(
    "piece",
    [
        b"<",
        b"<a",
        b"<a ",
        b"<a b=",
        b"<a b='",
        b'<a b="',
        b"<!--",
        b"<script>",
        b"</",
        b"<a/",
        b"<a\0",
    ],
)
def test_endless_repetition_is_read_in_one_pass(piece: bytes) -> None:
    assert isinstance(tame(piece * 200_000), bytes)


@given(
    st.lists(
        st.sampled_from(
            [
                b"<b x=1>",
                b"<div>",
                b"</div>",
                b"<!--",
                b"-->",
                b"\0",
                b"<a ",
                b"'",
                b'"',
                b">",
                b"x=",
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_pass(piece: bytes) -> None:
    assert isinstance(tame(piece * 2_000), bytes)
