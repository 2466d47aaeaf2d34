from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.sitemaps.hints import Cut
from crawlproject.sitemaps.mending import mended


def mend(text: str, size: int = 100_000) -> str:
    pieces = [text[start : start + size].encode() for start in range(0, len(text), size)]
    # CDATA ends with a piece, and begins again with the next.
    return "".join(map(bytes.decode, mended(pieces))).replace("]]><![CDATA[", "")


@pytest.mark.parametrize(
    "text",
    [
        "<a b='c'>d</a>",
        "<a>&amp;&lt;&gt;&quot;&apos;&#38;</a>",
        "<ä:b _c=''/></ä:b><:d>",
        "<![CDATA[a & b &c; <!-- d --> <?e?> ] ]] <!DOCTYPE f>]]>",
        "<![CDATA[éé]é]]é]]]>é",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 10, 100])
def test_what_is_right_is_left(text: str, size: int) -> None:
    assert mend(text, size) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("?a=1&b=2", "?a=1&amp;b=2"),
        ("a & b && c&", "a &amp; b &amp;&amp; c&amp;"),
        ("&copy=1", "&amp;copy=1"),
        ("&eacute;&nbsp;&AMP;&LT;", "é\xa0&amp;&lt;"),
        ("&CounterClockwiseContourIntegral;", "∳"),
        ("&unheard-of;&x;&_1;", "\ufffd\ufffd\ufffd"),
        (f"&{'x' * 40};", f"&amp;{'x' * 40};"),
        ("&#233;&#xE9;&#Xe9;", "&#233;&#233;&#233;"),
        ("&#0;&#11;&#xD800;&#xFFFF;&#x110000;", "\ufffd" * 5),
        ("&#;&#x;&#99999999;", "&amp;#;&amp;#x;&amp;#99999999;"),
        ("1 < 2 <3 <", "1 &lt; 2 &lt;3 &lt;"),
        ("<!x <!", "&lt;!x &lt;!"),
        ("a]]>b]]]>", "a]]&gt;b]]]&gt;"),
    ],
)
def test_what_starts_nothing_is_a_character(text: str, left: str) -> None:
    assert mend(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a<!-- <b> & -- -->c", "ac"),
        ("a<!---->b<!-->c-->d", "abd"),
        ("<?xml version='1.0'?>a<?b c?>d", "ad"),
        ("<!DOCTYPE a>b<!doctype c 'd'>e", "be"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>&b;", "\ufffd"),
        ("<!DOCTYPE a SYSTEM 'b' [<!ENTITY % c SYSTEM 'd'> %c; ] >e", "e"),
        ("a<!-- b", "a"),
        ("a<!DOCTYPE b [ c", "a"),
        # What is left out does not make one of what stands around it.
        ("<!<!-- -->DOCTYPE a [<!ENTITY b 'c'>]>", "&lt;!DOCTYPE a [&lt;!ENTITY b 'c'>]&gt;"),
        ("<<!-- -->!DOCTYPE a>", "&lt;!DOCTYPE a>"),
        ("<<!DOCTYPE a>!DOCTYPE b>", "&lt;!DOCTYPE b>"),
        ("<?a <!-- ?><!DOCTYPE b>c", "c"),
        ("&<!-- -->b;", "&amp;b;"),
    ],
)
def test_what_nobody_reads_is_left_out(text: str, left: str) -> None:
    assert mend(text) == left


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("&" * 1_001, "more than 1,000 comments and entities"),
        ("<!---->" * 501, "more than 1,000 comments and entities"),
        ("<!DOCTYPE " + "[]" * 501, "more than 1,000 comments and entities"),
        ("<a " + "b='' " * 200_000, "an element with more than 100,000 attributes"),
        ("<a " + "b='>' " * 200_000, "an element with more than 100,000 attributes"),
    ],
)
def test_what_nobody_needs_to_write(
    monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.setattr("crawlproject.sitemaps.mending.MOST_PARTS", 1_000)
    with pytest.raises(Cut, match=problem):
        mend(text, 65_536)


WORDS = ["<!--", "-->", "<?", "?>", "<![CDATA[", "]]>", "<!DOCTYPE", "[", "]", "<", ">", "&", ";"]
WORDS += ["amp", "eacute", "#x", "41", "a", "=", " ", "é", "!", "<!", "-"]
MARKUP = st.lists(st.sampled_from(WORDS)).map("".join)


@given(MARKUP, st.integers(1, 40))
def test_pieces_may_end_anywhere(text: str, size: int) -> None:
    # Where something never ends, the last bytes of it may be missing.
    ended = text + "-->?>]]>]>"
    assert mend(ended, size) == mend(ended)


@given(MARKUP)
def test_nothing_is_declared_and_nothing_looked_up(text: str) -> None:
    left = mend(text)
    while "<![CDATA[" in left:
        before, _, rest = left.partition("<![CDATA[")
        left = before + rest.partition("]]>")[2]
    assert not {"<!", "<?", "<<"} & {left[place : place + 2] for place in range(len(left))}
    assert all(name.startswith(("amp;", "lt;", "gt;", "#")) for name in left.split("&")[1:]), left
