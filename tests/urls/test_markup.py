from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawlproject.urls.markup import TAG, segments, unambiguous
from crawlproject.urls.nesting import _Open


def tags(html: bytes) -> list[bytes]:
    """The start tags of a page by their names, but for raw text elements."""
    markup = unambiguous(html)
    return [
        name.lower()
        for start, end, _ in segments(markup)
        for name, _, _ in TAG.findall(markup.html, start, end)
        if name and not name.startswith(b"/")
    ]


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"text < text",
        b"<p class='x>y'>a</p>",
        b"<script>if (a<b && c>d) e('</p>')</script>",
        b"<script><!-- a<b //--></script>",
        b"<title>a <b> c</title><textarea><p></textarea>",
        b"<svg><title>x</title><path d='m 0 0'/></svg><select><option>1</select>",
        b"<title>never closed <p>",
    ],
)
def test_unambiguous_page_is_not_copied(page: bytes) -> None:
    assert unambiguous(page).html is page


@pytest.mark.parametrize(
    ("page", "names"),
    [
        (b"<P a='<i>' b=\"<u>\" c=<s> d>", [b"p"]),
        (b"<p/a/b><q\x0bx>", [b"p", b"q\x0bx"]),
        (b"<p a='never closed <b><i>", [b"p"]),
        (b'<p a"=">"><i>', [b"p", b"i"]),
        (b"<!--> <b> --> <!---> <i> <!-- <u> --!> <s> <!-- <tt>", [b"b", b"i", b"s"]),
        (b"<! <b> <? <i> > </ <u> </> <s>", [b"s"]),
        (b"<title><b></title ><i>", [b"i"]),
        (b"<script><b></scripts></SCRIPT/><i>", [b"i"]),
        # The context decides whether this is text: it becomes text, or the tag is dropped.
        (b"<svg><title><b></title><i>", [b"svg", b"i"]),
        (b"<svg><title/><b>", [b"svg", b"b"]),
        (b"<template><title><b>", [b"template", b"b"]),
        (b"<svg><![CDATA[<b>]]><i>", [b"svg", b"b", b"i"]),
        (b"<plaintext><b>", []),
    ],
)
def test_tags_are_found_as_the_parser_finds_them(page: bytes, names: list[bytes]) -> None:
    assert tags(page) == names


def test_escaped_scripts_mean_the_same() -> None:
    value = {"description": "<b>text</b> & more"}
    page = b"<svg></svg><script>\n<!--\n%b\n</script>" % json.dumps(value).encode()
    script = LexborHTMLParser(unambiguous(page).html).css("script")[0].text()
    assert "<" not in script
    assert json.loads(script) == value


# No formatting elements: the parser copies them, which is bounded elsewhere.
PIECES = (
    *(
        "<div>",
        "</div>",
        "<span>",
        "</span>",
        "<p>",
        "</p>",
        "<ul>",
        "<li>",
        "</ul>",
        "<x>",
        "</x>",
    ),
    *(
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "</table>",
        "<select>",
        "<option>",
        "</select>",
        "<object>",
    ),
    *("</object>", "<template>", "</template>", "<svg>", "<g>", "<g/>", "</g>", "</svg>", "<svg/>"),
    *(
        "<math>",
        "<mi>",
        "</mi>",
        "</math>",
        "<foreignObject>",
        "</foreignObject>",
        "<title>",
        "</title>",
    ),
    *(
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "'",
        '"',
        ">",
        "<q a='",
        '<q a="',
        "<form>",
        "</form>",
    ),
    *(
        "<button>",
        "</button>",
        "<optgroup>",
        "<rt>",
        "<h1>",
        "</h1>",
        "<br>",
        "<hr>",
        "<input>",
        "text",
    ),
    *(
        "<![CDATA[",
        "]]>",
        "<!-->",
        "<title/>",
        "<desc>",
        "<style>",
        "</style>",
        "<marquee>",
        "<col>",
    ),
)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6), st.lists(st.sampled_from(PIECES)))
def test_depth_is_never_underestimated_by_much(repeated: list[str], before: list[str]) -> None:
    markup = unambiguous(("".join(before) + "".join(repeated) * 60).encode())
    opened, estimated = _Open(), 0
    for start, end, _ in segments(markup):
        for tag in TAG.findall(markup.html, start, end):
            opened.read([tag], 10**12)
            estimated = max(estimated, opened.depth)
    depth = 0
    level = [LexborHTMLParser(markup.html).root]
    while level := [child for node in level if node for child in node.iter(include_text=False)]:
        depth += 1
    # By a small factor, for elements whose end tag may be left out.
    assert depth <= 4 * estimated + 10
