"""A page as a content management system would write it. *Pure.*"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SCRIPT = (
    "window.settings = {theme: 'light', consent: false, endpoints: ['/api/search', '/api/vote']};"
    " if (1 < 2 && document.cookie.length > 0) { document.documentElement.className += ' js'; }"
)
_STYLE = (
    "body{margin:0;font:1rem/1.6 system-ui,sans-serif;color:#222}.card{display:grid;gap:.5rem}"
    ".card__image{aspect-ratio:4/3;object-fit:cover}@media(min-width:60rem){.page{display:grid;"
    "grid-template-columns:3fr 1fr}}nav>ul>li+li{border-left:1px solid #ddd}"
)


class Card(NamedTuple):
    path: str
    title: str
    summary: str


def page_html(
    *,
    path: str,
    title: str,
    navigation: Sequence[tuple[str, str]],
    cards: Sequence[Card],
    text_links: Sequence[tuple[str, str]],
    external: Sequence[str],
    paragraphs: Sequence[str],
    size: int,
) -> str:
    """The page, with as many of the paragraphs as bring it to about ``size`` characters."""
    head = "\n".join(_head(path, title, navigation))
    tail = "\n".join(_tail(cards, external))
    body: list[str] = []
    left = size - len(head) - len(tail)
    for place, paragraph in enumerate(paragraphs):
        # Links come first, spread over paragraphs: all of them are there, however short the page.
        if place < len(text_links):
            target, text = text_links[place]
            paragraph += f' Read on: <a href="{_relative(target, path)}">{text}</a>.'
        elif left <= 0:
            break
        body.append(f"<p>{paragraph}</p>")
        left -= len(body[-1]) + 1
    return "\n".join((head, *body, tail, ""))


def _head(path: str, title: str, navigation: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en" class="no-js">\n<head>\n<meta charset="utf-8">'
    yield f"<title>{title} | The Almanac</title>"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta name="description" content="{title}, and what to know about it">'
    yield '<meta name="robots" content="index, follow, max-image-preview:large">'
    yield f'<meta property="og:title" content="{title}">'
    yield '<meta property="og:type" content="article">'
    yield f'<link rel="canonical" href="{path}">'
    yield '<link rel="stylesheet" href="/assets/main.css">'
    yield '<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">'
    yield f"<style>{_STYLE}</style>"
    yield f"<script>{_SCRIPT}</script>"
    yield '<script src="/assets/main.js" defer></script>\n</head>\n<body class="page">'
    yield '<header class="header" role="banner">\n<nav class="nav" aria-label="Sections">\n<ul>'
    for target, text in navigation:
        yield f'<li class="nav__item"><a class="nav__link" href="{target}">{text}</a></li>'
    yield "</ul>\n</nav>"
    yield '<form action="/search"><input name="q" type="search"><button>Search</button></form>'
    yield f'</header>\n<main id="main">\n<article>\n<h1 class="title">{title}</h1>'
    yield '<figure><img src="/assets/lead.jpg" width="1200" height="600" alt="&copy; Almanac">'
    yield "<figcaption>Fish &amp; ships, caf&eacute; &ndash; a view</figcaption></figure>"


def _tail(cards: Sequence[Card], external: Sequence[str]) -> Iterator[str]:
    yield "</article>\n</main>\n<aside>\n<h2>Related</h2>\n<ul>"
    for number, card in enumerate(cards):
        yield f'<li class="card" data-place="{number}">'
        yield f'<a class="card__link" href="{card.path}">'
        yield f'<img class="card__image" src="/assets/{number}.jpg" alt="" loading="lazy">'
        yield f'<h3 class="card__title">{card.title}</h3></a>'
        yield f'<p class="card__summary">{card.summary}</p></li>'
    yield '</ul>\n</aside>\n<footer class="footer">\n<p>Elsewhere:'
    for target in external:
        yield f'<a href="{target}" target="_blank">{target}</a>'
    yield "</p>\n<!-- rendered from cache -->\n<p>&copy; The Almanac</p>\n</footer>"
    yield f"<script>{_SCRIPT}</script>\n</body>\n</html>"


def _relative(target: str, path: str) -> str:
    """How a writer in the section of ``path`` would spell ``target``."""
    section, _, _ = path.rpartition("/")
    if not section:
        return target.lstrip("/") or "/"
    if target.startswith(f"{section}/"):
        return target.removeprefix(f"{section}/") or "./"
    return f"..{target}"
