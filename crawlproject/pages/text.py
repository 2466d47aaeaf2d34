"""The main text of a page: what it says itself, without what its site says on every page.

1. It is in ``<main>`` (or ``role=main``), else in the ``<article>`` that has the headline or is
   much longer than others, else anywhere.
2. What is no text goes (scripts, buttons), and what is not of the page: ``<nav>``, ``<footer>``,
   ``<aside>`` …, and blocks that call themselves so by their class, id or role.
3. Blocks that are mostly links go: menus that say nothing of themselves, teasers, tags.
4. Where nothing said where the text is, it is in the block that has almost all long paragraphs.

Where that leaves nothing worth counting, as on a page that lists others, step 3 is left out
for the text, and nothing is left to compare pages by. Nor is there if nothing tells a short text
from what is beside it: else all pages of a site that say little would be alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.pages.centre import INLINE, Patience, centre
from crawlproject.pages.words import MAX_CHARACTERS
from crawlproject.urls.document import Survey, reading_of, survey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Response
    from selectolax.lexbor import LexborNode

# Never text of the page, wherever it is.
_NO_TEXT = (
    *("script", "style", "noscript", "template", "iframe", "svg"),
    *("button", "select", "textarea", "nav", "footer", "aside", "menu", "dialog"),
)
# Blocks that may say what they are.
_BLOCKS = ("div", "section", "ul", "ol", "table", "form")
_MAIN_ROLE = "main"
_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog"}
)
_HINT = (
    "nav|navbar|navigation|navi|menu|submenu|breadcrumbs?|sidebar|footer|masthead|topbar|toolbar|"
    "cookies?|consent|banner|adverts?|advertisement|promo|share|sharing|social|related|"
    "recommend(?:ed|ations)|newsletter|subscribe|pagination|pager|skip-links?|login|popup|modal|"
    "copyright|legal|disclaimer|teasers?|meta|byline|dateline|timestamp|widget-area"
)
# As a word of a name ('site-nav', 'nav__item'), or as the end of one ('siteNav').
_IS_HINTED = re.compile(
    rf"(?:^|[\s_-])(?:{_HINT})(?:$|[\s_-])|[a-z](?:Nav|Navigation|Menu|Sidebar|Footer|Breadcrumbs?)"
    r"(?:$|[\s_-])"
).search
# A block whose text is links to this part or more is none of the text.
_MOSTLY = 0.6
# A block that has this part or more of all the text is not beside it, whatever it is called.
_TOO_MUCH = 0.5
# Of the body's text, for an <article> without its headline to be what the page is about …
_ENOUGH = 0.25
# … and of its own, what others have: comments, teasers.
_LESS = 0.5
# Characters without which there is no text.
_LEAST = 80
# Steps up the tree: no page that people wrote is nested as deep.
_HIGHEST = 100


class MainText(NamedTuple):
    text: str
    # What of it pages are compared by: without blocks of links, whatever is left.
    own: str


def main_text(response: Response) -> MainText:
    """Read the text. The response's tree is changed on the way, so it is given up."""
    reading = reading_of(response)
    found = survey(response)
    assert reading.tree is not None
    body = reading.tree.body
    # Nobody else may hold an element of it from here on.
    reading.forget_tree()
    if body is None:
        return MainText("", "")
    patience = Patience(4 * len(response.body) + 10_000)
    for main in found.named("main")[:1]:
        # What is outside of it need not be looked at.
        inside = Survey(main)
        _remove(inside.all(*_NO_TEXT))
        _remove_beside(inside, main, patience, _BLOCKS)
        if loose := _text(main):
            is_changed = _remove_link_blocks(main, inside.all("a"), patience)
            own = _text(main) if is_changed else loose
            return MainText(own if len(own) >= _LEAST else loose, own)
    return _unnamed_text(found, body, patience)


def _unnamed_text(found: Survey, body: LexborNode, patience: Patience) -> MainText:
    """The text of a page that has no ``<main>``."""
    _remove(found.all(*_NO_TEXT))
    root = _remove_beside(found, body, patience, _BLOCKS) or _article(found, body, patience)
    if root is body:
        # That of an article has its headline.
        _remove_beside(found, body, patience, ("header",))
    loose = _text(root)
    if not loose and root is not body:
        root, loose = body, _text(body)
    own = _text(root) if _remove_link_blocks(root, root.css("a"), patience) else loose
    text = own if len(own) >= _LEAST else loose
    if root is body:
        block = centre(body, own, patience)
        if block is None:
            return MainText(text, "")
        if block is not body:
            text = own = _text(block)
    return MainText(text, own)


def _text(node: LexborNode) -> str:
    # One emoji makes all characters of a text take four bytes.
    return node.text(separator=" ", strip=True, skip_empty=True)[:MAX_CHARACTERS]


def _article(found: Survey, body: LexborNode, patience: Patience) -> LexborNode:
    """The article that is what the page is about, or the body."""
    articles = found.named("article")
    if len(articles) > 1:
        articles = [article for article in articles if _is_inside(article, body)]
    if not articles:
        return body
    sizes = [patience.size(article) or 0 for article in articles]
    size, *others = sorted(sizes, reverse=True)
    if others and others[0] > _LESS * size:
        return body
    article = articles[sizes.index(size)]
    has_headline = any(_is_inside(node, article) for node in found.named("h1")[:1])
    if has_headline or size >= _ENOUGH * len(body.text(strip=True)):
        return article
    return body


def _remove(nodes: Iterable[LexborNode]) -> None:
    for node in nodes:
        # Taken out, not destroyed: others in the list may be inside of it.
        if node.parent is not None:
            node.replace_with(" ")


def _remove_beside(
    found: Survey, root: LexborNode, patience: Patience, names: tuple[str, ...]
) -> LexborNode | None:
    """Remove blocks that are not of the page's text, by what they call themselves; return the
    one that calls itself the text.
    """
    most = -1.0
    named: LexborNode | None = None
    for name in names:
        for node in found.named(name):
            attributes = node.attributes
            if named is None and attributes.get("role") == _MAIN_ROLE:
                named = node
            elif (name == "header" or _is_beside(attributes)) and _is_inside(node, root):
                if most < 0:
                    most = _TOO_MUCH * len(root.text())
                size = patience.size(node)
                # What is around everything is no part beside it.
                if size is not None and size < most:
                    node.replace_with(" ")
    return named


def _is_inside(node: LexborNode, root: LexborNode) -> bool:
    above = node.parent
    for _ in range(_HIGHEST):
        if above is None or above.mem_id == root.mem_id:
            return above is not None
        above = above.parent
    return False


def _is_beside(attributes: dict[str, str | None]) -> bool:
    """Whether a block says that it is not of the page's text."""
    if not attributes:
        return False
    role = attributes.get("role")
    if role is not None and role.lower() in _ROLES:
        return True
    name, number = attributes.get("class"), attributes.get("id")
    return bool((name and _IS_HINTED(name)) or (number and _IS_HINTED(number)))


def _remove_link_blocks(root: LexborNode, links: list[LexborNode], patience: Patience) -> bool:
    """Remove blocks that are mostly links; whether there were any."""
    blocks: dict[int, tuple[LexborNode, int]] = {}
    for link in links:
        block = _block_of(link)
        if block is not None and block.mem_id != root.mem_id and block.tag != "h1":
            size = patience.size(link)
            if size is None:
                break
            _, before = blocks.get(block.mem_id, (block, 0))
            blocks[block.mem_id] = block, before + size
    has_removed = False
    for block, linked in blocks.values():
        size = patience.size(block)
        if size is None:
            break
        # Pictures alone are no text.
        if linked and linked >= _MOSTLY * size and block.parent is not None:
            block.replace_with(" ")
            has_removed = True
    return has_removed


def _block_of(link: LexborNode) -> LexborNode | None:
    block = link.parent
    for _ in range(_HIGHEST):
        if block is None or block.tag not in INLINE:
            return block
        block = block.parent
    return None
