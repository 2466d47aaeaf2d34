"""The garden's page layout: HTML, style and drawings.*"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

GARDEN = "Thistlemere Botanic Garden"
NAVIGATION = (
    ("/visit/", "Visit"),
    ("/plants/", "Plants"),
    ("/news/", "News"),
    ("/shop/", "Shop"),
    ("/staff/", "People"),
    ("/about/", "About"),
)
STYLE = """
:root{--leaf:#2f5d3a;--deep:#1d3b28;--paper:#fbf8f0;--line:#e2dac6;--ink:#2b2a26}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;
background:var(--paper);color:var(--ink);
font:17px/1.65 Georgia,"Times New Roman",serif}
a{color:var(--leaf);text-underline-offset:.18em}
header.site{background:var(--deep);color:#f3efe2}
header.site div,main,footer.site div{max-width:60rem;margin:0 auto;padding:0 1.5rem}
header.site div{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem 1.6rem;min-height:4.4rem}
header.site a{color:inherit;text-decoration:none;font-size:.95rem}
header.site a.name{font-size:1.25rem;letter-spacing:.02em;margin-right:auto}
header.site nav{display:flex;gap:1.3rem}
header.site nav a[aria-current]{border-bottom:2px solid #d9b75b}
.crumbs{font-size:.85rem;color:#777264;margin:1.6rem 0 0}
main{flex:1;width:100%;padding-bottom:3.5rem}
h1{font-weight:normal;font-size:2.4rem;line-height:1.2;margin:1.2rem 0 .6rem;color:var(--deep)}
h2{font-weight:normal;font-size:1.5rem;color:var(--leaf);margin:2.2rem 0 .4rem}
main>p,main>ul,main>dl{max-width:40rem}
.lead{font-size:1.2rem;color:#55524a}
.hero{margin:1.8rem 0;border-radius:14px;overflow:hidden;
background:linear-gradient(#cfe0d2,#f2ead0)}
.hero svg{display:block;width:100%}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:1.1rem;
padding:0;list-style:none;max-width:none!important}
.cards li{background:#fff;border:1px solid var(--line);border-radius:12px;padding:1rem 1.1rem}
.cards h3{margin:.3rem 0;font-weight:normal;font-size:1.1rem}
.cards p{margin:0;font-size:.9rem;line-height:1.5;color:#66625a}
.flower{width:64px;height:64px}
.big{float:right;width:190px;height:190px;margin:0 0 1rem 2rem}
.meta{font-size:.9rem;color:#777264;font-style:italic}
table{border-collapse:collapse}td,th{padding:.35rem 1.4rem .35rem 0;text-align:left;
border-bottom:1px solid var(--line)}
footer.site{border-top:1px solid var(--line);background:#f3eddd;font-size:.9rem}
footer.site div{padding-top:1.4rem;padding-bottom:2rem;display:flex;flex-wrap:wrap;gap:.5rem 1.6rem}
"""
LANDSCAPE = (
    '<div class="hero"><svg viewBox="0 0 900 240" role="img" aria-label="The fen at dawn">'
    '<circle cx="690" cy="92" r="38" fill="#f6d98a"/>'
    '<path d="M0 150 Q150 90 320 140 T640 128 T900 150 V240 H0Z" fill="#9fbf9f"/>'
    '<path d="M0 178 Q200 140 420 176 T900 168 V240 H0Z" fill="#5f8f68"/>'
    '<path d="M0 205 Q260 182 520 206 T900 200 V240 H0Z" fill="#2f5d3a"/>'
    '<path d="M300 214 Q450 190 610 216 Q450 236 300 214Z" fill="#b9d6dd"/>'
    '<g stroke="#1d3b28" stroke-width="3"><path d="M120 215V140M132 217V152M146 216V146"/></g>'
    '<g fill="#6b4a2b"><rect x="115" y="122" width="10" height="30" rx="5"/>'
    '<rect x="127" y="136" width="10" height="28" rx="5"/>'
    '<rect x="141" y="128" width="10" height="30" rx="5"/></g></svg></div>'
)


def link(href: str, text: str, rel: str = "") -> str:
    relation = f' rel="{rel}"' if rel else ""
    return f'<a href="{escape(href)}"{relation}>{escape(text)}</a>'


def paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>\n" for text in texts)


def flower(hue: int, petals: int, css: str = "flower") -> str:
    """A flower head drawn from its colour and its number of petals."""
    shapes = "".join(
        f'<ellipse cx="50" cy="27" rx="{max(7, 40 // petals + 3)}" ry="22" '
        f'transform="rotate({360 * petal // petals} 50 50)"/>'
        for petal in range(petals)
    )
    return (
        f'<svg class="{css}" viewBox="0 0 100 100" aria-hidden="true">'
        f'<g fill="hsl({hue} 55% 68%)" stroke="hsl({hue} 45% 45%)">{shapes}</g>'
        f'<circle cx="50" cy="50" r="10" fill="#d9a93c"/></svg>'
    )


def cards(entries: Iterable[tuple[str, str, str, str]]) -> str:
    """A grid of (drawing, href, name, text)."""
    items = "".join(
        f"<li>{drawing}<h3>{link(href, name)}</h3><p>{escape(text)}</p></li>\n"
        for drawing, href, name, text in entries
    )
    return f'<ul class="cards">\n{items}</ul>\n'


def telling(
    description: str, *, kind: str = "website", data: dict[str, object] | None = None
) -> str:
    """For the head: what a page says of itself to search engines and to those who share it."""
    safe = escape(description)
    head = (
        f'<meta name="description" content="{safe}">\n'
        f'<meta property="og:type" content="{kind}">\n'
        f'<meta property="og:description" content="{safe}">\n'
    )
    if data:
        # In a script nothing is escaped, so nothing may end it.
        text = json.dumps({"@context": "https://schema.org", **data}).replace("<", "\\u003c")
        head += f'<script type="application/ld+json">{text}</script>\n'
    return head


def page(
    title: str,
    content: str,
    *,
    section: str = "",
    crumbs: tuple[tuple[str, str], ...] = (),
    head: str = "",
) -> bytes:
    """A whole document. ``content`` and ``head`` are HTML, all else is text."""
    current = ' aria-current="true"'
    # Titles are sent in ASCII, so that they test whoever reads character references.
    safe_title = escape(title).encode("ascii", "xmlcharrefreplace").decode("ascii")
    navigation = " ".join(
        f'<a href="{href}"{current if href == section else ""}>{text}</a>'
        for href, text in NAVIGATION
    )
    trail = ""
    if crumbs:
        steps = " › ".join(link(href, text) for href, text in (("/", "Home"), *crumbs))
        trail = f'<nav class="crumbs" aria-label="Breadcrumb">{steps}</nav>\n'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{safe_title} | Thistlemere</title>
{head}<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<header class="site"><div><a class="name" href="/">{GARDEN}</a>
<nav>{navigation}</nav></div></header>
<main>
{trail}<h1>{escape(title)}</h1>
{content}</main>
<footer class="site"><div><span>Open daily, ten until dusk.</span>
<a href="/contact">Contact</a> <a href="/privacy">Privacy</a> <a href="/private/">Volunteers</a>
<a href="mailto:hello@thistlemere.example">hello@thistlemere.example</a></div></footer>
</body>
</html>
""".encode()
