"""What of a page is its text, and what is around it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse

from bench import tongues
from bench.corpus import Press
from bench.finders import words_of
from bench.templates import TEMPLATES
from crawlproject.pages.signatures import BUILTIN, sign_text, signature_backend
from crawlproject.pages.text import MainText, main_text

URL = "https://example.com/a"
SENTENCE = "The reed beds were cut in winter, and boats carried them over the lake to the village. "
TEXT = f"<p>{SENTENCE * 3}</p>" * 3
MENU = "".join(f'<li><a href="/{name}">{name} and more</a></li>' for name in "abcdefgh")
SIGNATURES = signature_backend(BUILTIN, 128)


def read(body: str) -> MainText:
    headers = {"Content-Type": "text/html; charset=utf-8"}
    return main_text(HtmlResponse(URL, body=body.encode(errors="replace"), headers=headers))


def alike(one: str, other: str, min_words: int = 30) -> float | None:
    """How alike two pages are; None: one of them is not compared."""
    signatures = [
        sign_text(read(page).own, SIGNATURES, shingle_words=3, min_words=min_words)
        for page in (one, other)
    ]
    if signatures[0] is None or signatures[1] is None:
        return None
    return SIGNATURES.similarity(signatures[0], signatures[1])


def sentences(seed: int, words: int = 300) -> str:
    random = Random(seed)
    return " ".join(tongues.ENGLISH.sentences(tongues.ENGLISH.tokens(random, words)))


@pytest.mark.parametrize(
    "around",
    [
        "<main>{}</main>",
        '<div role="main">{}</div>',
        "<article>{}</article>",
        "<article>{}</article><article>Another one, shorter</article>",
        "<header><h2>Site</h2></header>{}",
        "<nav>Here and there</nav>{}",
        "{}<footer>All rights reserved</footer>",
        "{}<aside>Did you know?</aside>",
        "<script>var a = 'Hello';</script>{}<style>@import 'red.css'</style>",
        "{}<noscript>Turn it on</noscript><template>Later</template>",
        "{}<form><button>Send it</button><select><option>One</select></form>",
        '<div class="site-nav">Here and there</div>{}',
        '<div class="nav__list">Here and there</div>{}',
        '<div class="mainNavigation">Here and there</div>{}',
        '<div id="sidebar">Here and there</div>{}',
        '<div class="widget-area">Here and there</div>{}',
        '<section role="complementary">Here and there</section>{}',
        '{}<div class="cookie-banner">We like them</div>',
        '{}<div class="related-posts"><p>Another page</p></div>',
        '<div class="entry-meta">5 March 2020, 400 views</div>{}',
        f"<ul>{MENU}</ul>{{}}",
        f"<div><div>{MENU.replace('li>', 'div>')}</div></div>{{}}",
        "{}<div><a href='/a'>Tags</a>, <a href='/b'>more of them</a></div>",
    ],
)
def test_what_is_around_a_text_is_not_of_it(around: str) -> None:
    assert read(f"<title>A</title><body>{around.format(TEXT)}").own.split() == SENTENCE.split() * 9


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("", ""),
        ("<p>Short", "Short"),
        ("<p>a<b>b</b>c<br>d", "a b c d"),
        ("<main></main><p>Outside", "Outside"),
        # A link in a text is text.
        (f"<p>{SENTENCE}<a href=/>see there</a>", f"{SENTENCE}see there"),
        ("<h1><a href=/>The headline</a></h1>", "The headline"),
        # 'navy' is no 'nav'.
        ("<div class='navy'>The sea</div>", "The sea"),
        ("<div class='menu'>The menu: <p>all there is</div>", "The menu: all there is"),
        ("<frameset><frame></frameset>", ""),
    ],
)
def test_the_text(body: str, text: str) -> None:
    assert read(body).text == text


def test_a_page_that_lists_others_has_a_text_but_none_of_its_own() -> None:
    page = read(f"<h1>All</h1><ul>{MENU}</ul>")
    assert page.own == "All"
    assert page.text.startswith("All a and more b and more")


def test_a_text_that_nothing_names_is_where_the_long_paragraphs_are() -> None:
    text = sentences(1)
    teasers = "".join(f"<div><b>{sentences(seed, 9)}</b></div>" for seed in range(10, 20))
    page = read(
        f"<div><div>Site</div><div><div><div>Headline</div><div>{'<br><br>'.join([text] * 2)}</div>"
        f"</div><div><div>{sentences(2, 30)}</div>{teasers}</div></div>"
        f"<div>{sentences(3, 25)}</div></div>"
    )
    assert page.own == page.text == f"Headline {text} {text}"


def test_no_part_of_a_text_in_several_parts_is_left_out() -> None:
    parts = "".join(f"<div><p>{sentences(seed)}</p></div>" for seed in range(3))
    assert read(f"<div>{parts}</div>").own == " ".join(sentences(seed) for seed in range(3))


def test_one_long_paragraph_of_several_is_not_the_text() -> None:
    body = f"<div><div>{sentences(1, 150)}</div><div>{sentences(2, 60)}</div></div>"
    assert read(body).own == f"{sentences(1, 150)} {sentences(2, 60)}"


@pytest.mark.parametrize("template", range(len(TEMPLATES)))
@pytest.mark.parametrize(
    "tongue", [tongues.ENGLISH, tongues.CHINESE, tongues.JAPANESE, tongues.THAI]
)
def test_the_same_text_in_any_template_is_the_same(template: int, tongue: tongues.Tongue) -> None:
    random = Random(7)
    press = Press(random)
    blocks = [tongue.tokens(random, size) for size in (6, *[120] * 8)]
    page = press.page(0, "", tongue, blocks, template)
    found = words_of(read(page.html).own)
    shingles = {tuple(found[place : place + 3]) for place in range(len(found) - 2)}
    assert shingles == page.shingles


@pytest.mark.parametrize("template", range(len(TEMPLATES)))
def test_boilerplate_does_not_make_unlike_pages_alike(template: int) -> None:
    random = Random(8)
    press = Press(random)
    one, other = (
        press.page(0, "", tongues.ENGLISH, [tongues.ENGLISH.tokens(random, 200)] * 2, template)
        for _ in range(2)
    )
    found = alike(one.html, other.html)
    assert found is not None
    assert found < 0.2


@pytest.mark.parametrize("words", [5, 15, 24])
def test_very_short_pages_are_not_compared_whatever_is_around_them(words: int) -> None:
    random = Random(words)
    press = Press(random)
    block = tongues.ENGLISH.tokens(random, words)
    for template in ("semantic", "named", "articles"):
        number = [one.__name__ for one in TEMPLATES].index(template)
        one, other = (
            press.page(0, "", tongues.ENGLISH, [["title"], block], number).html for _ in range(2)
        )
        assert alike(one, other) is None


@pytest.mark.parametrize(
    ("around", "is_compared"),
    [
        ("{}", True),
        ("<div><div>{}</div></div>", True),
        ("<h1>Headline</h1><div>{}</div><div>Small print</div>", True),
        # It may be either of them.
        ("<div><div>{0}</div></div><div><div>{1}</div><div>{1}</div></div>", False),
        ("<table><tr><td>{0}<td>{1}</table>", False),
        # … unless one says what it is.
        ("<div>{0}</div><div class='sidebar'><div>{1}</div><div>{1}</div></div>", True),
        ("<main>{0}</main><div><div>{1}</div><div>{1}</div></div>", True),
        ("<div role=main>{0}</div><div><div>{1}</div><div>{1}</div></div>", True),
        ("<article><h1>A</h1>{0}</article><div><div>{1}</div><div>{1}</div></div>", True),
    ],
)
def test_a_short_text_is_compared_if_it_can_be_told_from_what_is_beside_it(
    around: str, is_compared: bool
) -> None:
    page = read(around.format(f"<p>{sentences(1, 60)}</p>", sentences(2, 30)))
    assert (sentences(1, 60) in page.own) == is_compared
    assert sentences(1, 60) in page.text


TAGS = st.sampled_from(
    [
        *("div", "p", "a", "ul", "li", "main", "article", "nav", "footer", "table", "tr", "td"),
        *("section", "header", "h1", "br", "template", "svg", "form"),
    ]
)
PIECES = st.one_of(
    st.text(max_size=30),
    TAGS.map("<{}>".format),
    TAGS.map("</{}>".format),
    TAGS.map('<{} class="nav" role="main" id="menu">'.format),
    st.sampled_from(["<!--", "-->", "<![CDATA[", "<a href='/'>there</a>", "&nbsp;", "\0"]),
    st.just(SENTENCE),
)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_any_page_has_a_text(html: str) -> None:
    page = read(html)
    # Nothing is made up.
    assert set(page.own.split()) <= set(page.text.split())


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 20_000 + "x",
        "<div><p>word " * 5_000,
        "<article>" * 3_000 + SENTENCE,
        "<div class=nav>some words" * 3_000,
        "<ul><li><a href=/>link</a>" * 5_000,
        "<a href=/>" + "<b>" * 500 + "x" * 500 + "</a>",
        "<table><tr><td>" * 2_000 + SENTENCE * 100,
        f"<div>{SENTENCE * 2}" * 3_000,
        "<p>" + "word " * 200_000,
    ],
    ids=range(9),
)
def test_a_hostile_page_is_read_to_its_end(body: str) -> None:
    # Read with patience: each element's text once for each element around it would be hours.
    assert read(body).text
