"""Whether a page is empty until its scripts have run.

Asked about every HTML page when RENDER_MODE is ``auto``, and else about those with few links, for
the summary to say what was missed. So it looks at what costs least first
and stops at the first word too many. A page is script-driven when it has hardly any words and
links, and one of these signs:

| sign | example |
|---|---|
| the place of an application, with nothing in it | ``<div id="root"></div>``, ``<app-root>`` |
| it asks for JavaScript | ``<noscript>Please enable JavaScript</noscript>`` |
| an element of its own making, with nothing in it | ``<shop-front></shop-front>`` |
| nothing to see at all, but a script | ``<body><script src=a.js></script></body>`` |
| a script that leads elsewhere | ``<script>location = '/en/'</script>`` |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlproject.urls.document import LINKING, document, survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# A page with this many of them has something to say without scripts.
_ENOUGH_WORDS = 50
ENOUGH_LINKS = 6
# What may stand in the place of an application until it is there: 'Loading, please wait …'
_FEW_WORDS = 6
# Characters of a script that are looked at: what leads elsewhere says so early.
_BEGINNING = 4096
# Characters of one piece of text whose words are counted.
_LONGEST_TEXT = 100_000

_PLACES = ",".join(
    [
        *("#root", "#app", "#__next", "#__nuxt", "#___gatsby", "#svelte", "#q-app", "#react-root"),
        *("#app-root", "#application", "#main-app", "#single-spa-application", "#flutter_target"),
        *("[ng-app]", "[data-ng-app]", "[ng-version]", "[data-reactroot]", "[v-cloak]"),
        *("[data-v-app]", "app-root", "flutter-view"),
    ]
)
# What shows something without a word.
_SHOWN = "img,svg,video,audio,canvas,iframe,frame,object,embed,form,picture"
# Nobody reads what is in these.
_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title"})
_SCRIPT_TYPES = re.compile(r"$|module$|(text|application)/(x-)?(java|ecma)script", re.IGNORECASE)
_ASKS = re.compile(r"java\s?script", re.IGNORECASE)
_LEADS = re.compile(r"\blocation(\.href)?\s*=[^=]|\blocation\.(replace|assign)\s*\(")
# Thai and its neighbours, Japanese and Chinese have no spaces between words, which are short.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_NO_PAGE = ("#", "javascript:", "mailto:", "tel:", "data:")


def is_scripted(response: Response) -> bool:
    """Of an HTML response."""
    if b"<script" not in response.body.lower():
        return False
    links = _count_links(response)
    if links >= ENOUGH_LINKS or _is_refreshed(response):
        return False
    tree = document(response)
    body = tree.body
    if body is None:
        return False
    words = _count_words(body, _ENOUGH_WORDS)
    if words >= _ENOUGH_WORDS or not (scripts := _scripts(tree)):
        return False
    return (
        any(_is_empty(place) for place in tree.css(_PLACES))
        or any(_ASKS.search(node.text()) for node in tree.css("noscript"))
        or (words < _FEW_WORDS and _has_empty_element_of_its_own(body))
        or (words == links == 0 and not tree.css(_SHOWN))
        or (links == 0 and any(_LEADS.search(script) for script in scripts))
    )


def _count_links(response: Response) -> int:
    links = 0
    for node in survey(response).all(*LINKING):
        address = (node.attributes.get("href") or "").strip().lower()
        links += bool(address) and not address.startswith(_NO_PAGE)
        if links >= ENOUGH_LINKS:
            break
    return links


def _is_refreshed(response: Response) -> bool:
    """Whether it leads elsewhere without scripts."""
    return any(
        (attributes.get("http-equiv") or "").strip().lower() == "refresh"
        for attributes in survey(response).metas()
    )


def _scripts(tree: LexborHTMLParser) -> list[str]:
    """The beginnings of what runs; data in a script is none."""
    return [
        node.text()[:_BEGINNING]
        for node in tree.css("script")
        if _SCRIPT_TYPES.match((node.attributes.get("type") or "").strip())
    ]


def _seen(root: LexborNode) -> Iterator[LexborNode]:
    """What is in an element and may be seen, in page order."""
    # Not by recursion: a page may be nested as deeply as it likes.
    stack = [root.child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        stack.append(node.next)
        if node.tag not in _UNSEEN:
            yield node
            stack.append(node.child)


def _count_words(root: LexborNode, enough: int) -> int:
    words = 0
    for node in _seen(root):
        if node.tag == "-text":
            # The words of a long text take many times its memory, and the first are enough.
            words += _words(node.text()[:_LONGEST_TEXT])
            if words >= enough:
                break
    return words


def _words(text: str) -> int:
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


def _is_empty(place: LexborNode) -> bool:
    return _count_words(place, _FEW_WORDS) < _FEW_WORDS and place.css_first("a[href]") is None


def _has_empty_element_of_its_own(body: LexborNode) -> bool:
    return any("-" in (node.tag or "-")[1:] and _is_empty(node) for node in _seen(body))
