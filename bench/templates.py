"""Five ways in which sites put their pages around a text: navigation, teasers, footers. *Pure.*

What is around a text is partly the same on all pages of a site (menus, the small print), and
partly new on every page: teasers of others, the date, a session in every link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from bench.tongues import Tongue

_MENU = 18
_TEASERS = 6


class Text(NamedTuple):
    """As it is written: the sentences of each block."""

    title: str
    blocks: Sequence[Sequence[str]]
    # Each block is about another page: its first sentence links there.
    is_list: bool = False


class Boilerplate(NamedTuple):
    """What a site says on all of its pages."""

    name: str
    menu: list[str]
    about: str
    small_print: str
    consent: str
    # Teasers that all pages have; None: every page has others.
    teasers: list[tuple[str, str]] | None

    @classmethod
    def made_up(cls, tongue: Tongue, random: Random) -> Boilerplate:
        return cls(
            title(tongue, random),
            [title(tongue, random) for _ in range(_MENU)],
            about=prose(tongue, 36, random),
            small_print=prose(tongue, 24, random),
            consent=prose(tongue, 24, random),
            teasers=teasers(tongue, random) if random.random() < 0.5 else None,
        )


def teasers(tongue: Tongue, random: Random) -> list[tuple[str, str]]:
    return [(title(tongue, random), prose(tongue, 12, random)) for _ in range(_TEASERS)]


def title(tongue: Tongue, random: Random) -> str:
    return prose(tongue, random.randint(3, 7), random)


def prose(tongue: Tongue, words: int, random: Random) -> str:
    """Some sentences; of so many words, or twice as many characters."""
    tokens = tongue.tokens(random, words if tongue.spaced else 2 * words)
    return " ".join(tongue.sentences(tokens))


class Page:
    """A page in the making: with what is around its text this time."""

    def __init__(
        self, boilerplate: Boilerplate, text: Text, tongue: Tongue, random: Random
    ) -> None:
        self.site = boilerplate
        self.text = text
        self._session = f"{random.getrandbits(64):016x}"
        self.date = f"{random.randint(1, 28)} March 20{random.randint(10, 26)}"
        self.hits = f"{random.randrange(100_000):,}"
        self.teasers = boilerplate.teasers or teasers(tongue, random)

    def link(self, text: str, place: int = 0) -> str:
        return f'<a href="/{place}/{len(text)}?sid={self._session}">{text}</a>'

    def links(self, around: str) -> str:
        """The menu, each in something."""
        return "\n".join(
            around.format(self.link(text, place)) for place, text in enumerate(self.site.menu)
        )

    def teased(self, around: str) -> str:
        return "\n".join(
            around.format(self.link(heading, place), summary)
            for place, (heading, summary) in enumerate(self.teasers)
        )

    def body(self, around: str, heading: str = "") -> str:
        """The blocks of the text, with some markup in them."""
        blocks = []
        for place, sentences in enumerate(self.text.blocks):
            shown = list(sentences)
            if self.text.is_list:
                blocks.append(around.format(" ".join((self.link(shown[0], place), *shown[1:]))))
                continue
            if len(shown) > 2 and place % 2:
                shown[1] = f"<em>{shown[1]}</em>"
            if len(shown) > 3 and place % 3 == 1:
                # A link in a text is text.
                head, _, tail = shown[2].partition(" ")
                shown[2] = f"{self.link(head, place)} {tail}" if tail else shown[2]
            if heading and len(shown) > 3 and place % 4 == 2:
                blocks.append(heading.format(shown.pop(0)))
            blocks.append(around.format(" ".join(shown)))
        return "\n".join(blocks)

    def whole(self, body: str) -> str:
        return (
            f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{self.text.title} | '
            f"{self.site.name}</title><style>p{{margin:0}}</style></head>\n<body>{body}"
            f"<script>var session = '{self._session}';</script></body></html>"
        )


def semantic(page: Page) -> str:
    """With the elements that HTML has for it."""
    site = page.site
    return page.whole(
        f"<header><p>{site.name}</p><nav><ul>{page.links('<li>{}</li>')}</ul></nav></header>"
        f"<main><article><h1>{page.text.title}</h1>{page.body('<p>{}</p>', '<h2>{}</h2>')}"
        f"</article></main><aside><h2>About</h2><p>{site.about}</p>"
        f"{page.teased('<section><h3>{}</h3><p>{}</p></section>')}</aside>"
        f"<footer><p>{site.small_print}</p><p>Updated {page.date}, read {page.hits} times</p>"
        f"</footer><div class='cookie-consent'>{site.consent} <button>Accept all</button></div>"
    )


def named(page: Page) -> str:
    """With blocks that say by their class what they are."""
    site = page.site
    return page.whole(
        f'<div id="page"><div class="site-header"><div class="logo">{page.link(site.name)}</div>'
        f'<div class="main-nav"><ul>{page.links("<li>{}</li>")}</ul></div></div>'
        f'<div class="breadcrumbs">{page.link("Home")} / {page.link("All")}</div>'
        f'<div id="content" class="content"><h1>{page.text.title}</h1>'
        f'<div class="entry">{page.body("<p>{}</p>", "<h3>{}</h3>")}</div>'
        f'<div class="share">Share {page.link("this")} with {page.link("friends")}</div></div>'
        f'<div class="sidebar"><div class="widget">{site.about}</div>'
        f"{page.teased('<div class=widget>{}<p>{}</p></div>')}</div>"
        f'<div class="footer"><p>{site.small_print}</p><p>{page.date} {page.hits}</p></div>'
        f'<div class="cookie-banner">{site.consent}</div></div>'
    )


def soup(page: Page) -> str:
    """With blocks that say nothing: names are made by a machine."""
    site = page.site
    return page.whole(
        f'<div class="x1"><div class="c8a"><div class="k2">{site.name}</div>'
        f'<div class="z9">{page.links("<div class=q><div>{}</div></div>")}</div></div>'
        f'<div class="m4"><div class="m5"><div class="t0">{page.text.title}</div>'
        f'<div class="m6">{page.body("<div class=d3>{}</div>", "<div class=d4>{}</div>")}</div>'
        f'</div><div class="r7"><div class="r8">{site.about}</div>'
        f"{page.teased('<div class=r9><div>{}</div><div>{}</div></div>')}</div></div>"
        f'<div class="f2"><div>{site.small_print}</div><div>{page.date} / {page.hits}</div></div>'
        f"<div>{site.consent}</div></div>"
    )


def tables(page: Page) -> str:
    """As pages were made long ago."""
    site = page.site
    return page.whole(
        f'<table width="100%"><tr><td colspan="3"><font size="5">{site.name}</font></td></tr>'
        f'<tr><td width="160" bgcolor="#eee">{page.links("{}<br>")}</td>'
        f'<td valign="top"><center><font size="4"><b>{page.text.title}</b></font></center><br>'
        f"{page.body('{}<br><br>', '<b>{}</b><br>')}</td>"
        f'<td width="180"><small>{site.about}</small><hr>{page.teased("{}<br>{}<br>")}</td></tr>'
        f'<tr><td colspan="3"><hr><font size="1">{site.small_print} Last changed: {page.date}, '
        f"visitor {page.hits}</font></td></tr></table>"
    )


def articles(page: Page) -> str:
    """As a blog: others' teasers are articles, too."""
    site = page.site
    return page.whole(
        f'<header class="masthead"><h2>{page.link(site.name)}</h2></header>'
        f'<div class="wrap"><div class="menu-primary">{page.links("<span>{}</span>")}</div>'
        f'<article class="post"><h1>{page.text.title}</h1>'
        f'<div class="meta">{page.date}, {page.hits} views</div>'
        f'<div class="post-body">{page.body("<p>{}</p>", "<h2>{}</h2>")}</div></article>'
        f'<div class="related-posts">{page.teased("<article><h3>{}</h3><p>{}</p></article>")}</div>'
        f'<section id="about-us"><p>{site.about}</p></section></div>'
        f'<footer><p>{site.small_print}</p></footer><div id="consent">{site.consent}</div>'
    )


TEMPLATES: tuple[Callable[[Page], str], ...] = (semantic, named, soup, tables, articles)
