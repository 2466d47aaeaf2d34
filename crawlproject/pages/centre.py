"""Where the text of a page is that does not say it: in the block with almost all long paragraphs.

Paragraphs weigh the more, the longer they are: a menu, teasers and small print have as many words
as a text, at times, but not in a row. Only blocks with some text are looked into, so what this
takes does not depend on how many elements a page has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Elements within a line. All others are blocks.
INLINE = frozenset(
    (  # noqa: SIM905  (a list literal would fill the screen)
        "a abbr b bdi bdo big cite code del dfn em font i img ins kbd label mark picture q s samp "
        "small source span strike strong sub sup time tt u var wbr"
    ).split()
)
# Elements that end a paragraph where there are no blocks.
_BREAKS = frozenset({"br", "hr"})
# Letters of a paragraph that is worth a look, and of one that weighs as much as a paragraph can.
# In scripts that say more with one, fewer do.
_LEAST, _MOST = 80.0, 400.0
# Letters that are not worth a step: a headline is beside the paragraphs.
_HEADLINE = 120.0
# Letters of a text that is looked for: shorter than a sidebar, it would be taken for one.
_WORTH = 800.0
# Parts of the weight that a block has that is the text: one of paragraphs, and a paragraph.
_ALMOST_ALL, _ALL = 0.75, 0.9
# Steps down the tree.
_DEEPEST = 50


class Patience:
    """Bounds the text that is read of blocks inside of blocks: a page may have many of them."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def size(self, node: LexborNode) -> int | None:
        """Characters of an element's text, but for white space between its parts; None: enough."""
        if self._left < 0:
            return None
        size = len(node.text(strip=True))
        # An element costs something, without any text too.
        self._left -= size + 10
        return size


class _Block(NamedTuple):
    node: LexborNode
    size: int
    weight: float
    inner: list[_Block]


def centre(body: LexborNode, text: str, patience: Patience) -> LexborNode:
    """The block that is the page's text; the body, where there is no such block."""
    size = patience.size(body)
    # A Chinese character takes three bytes, and says as much as three letters.
    scale = len(text) / max(1, len(text.encode(errors="replace")))
    if size is None or size < _WORTH * scale:
        return body
    block = _weighed(body, size, scale, patience, _DEEPEST)
    found = block.node
    while block.inner:
        heaviest = max(block.inner, key=_weight)
        # One paragraph of several is not the text. A cell of a table is no paragraph.
        is_paragraph = not heaviest.inner and heaviest.node.tag != "td"
        if heaviest.weight < (_ALL if is_paragraph else _ALMOST_ALL) * block.weight:
            break
        if heaviest.size < _WORTH * scale:
            break
        if block.size - heaviest.size > _HEADLINE * scale:
            found = heaviest.node
        block = heaviest
    return found


def _weighed(
    node: LexborNode, size: int, scale: float, patience: Patience, deepest: int
) -> _Block:
    inner: list[_Block] = []
    rest = size
    paragraphs = 1
    if deepest:
        for child in node.iter():
            tag = child.tag
            if tag in _BREAKS:
                paragraphs += 1
            if tag in _BREAKS or tag in INLINE:
                continue
            part = patience.size(child)
            if part is None:
                break
            if part >= _LEAST * scale:
                inner.append(_weighed(child, part, scale, patience, deepest - 1))
                rest -= part
    if not inner:
        return _Block(node, size, size * min(size / paragraphs, _MOST * scale), inner)
    weight = sum(map(_weight, inner)) + rest * _LEAST * scale
    return _Block(node, size, weight, inner)


def _weight(block: _Block) -> float:
    return block.weight
