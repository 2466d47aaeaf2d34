"""Where the text of a page is that does not say it: in the block with almost all long paragraphs.

Paragraphs weigh the more, the longer they are: a menu, teasers and small print have as many words
as a text, at times, but not in a row. Only blocks with some text are looked into, so what this
takes does not depend on how many elements a page has.

A text that is shorter than a sidebar can't be told from one, by its page alone. It is the page's
text if there is nothing beside it.
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
# Elements that have no blocks in them.
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "pre"})
# Letters of a paragraph that is worth a look, and of one that weighs as much as a paragraph can.
# In scripts that say more with one, fewer do.
_LEAST, _MOST = 80.0, 400.0
# Letters that are not worth a step: a headline is beside the paragraphs.
_HEADLINE = 120.0
# Letters of a text that is longer than what is beside it.
_PLENTY = 1500.0
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
    # Nothing in it is long enough for a paragraph, but all of it is.
    is_paragraph: bool


def centre(body: LexborNode, text: str, patience: Patience) -> LexborNode | None:
    """The block that is the page's text, or the body; None: it can't be told."""
    # A Chinese character takes three bytes, and says as much as three letters.
    scale = len(text) / max(1, len(text.encode(errors="replace")))
    block = _weighed(body, len(text), scale, patience, _DEEPEST)
    found = body
    while block.inner:
        heaviest = max(block.inner, key=_weight)
        # One paragraph of several is not the text.
        part = _ALL if heaviest.is_paragraph else _ALMOST_ALL
        if heaviest.weight < part * block.weight:
            break
        if block.size - heaviest.size > _HEADLINE * scale:
            found = heaviest.node
        block = heaviest
    if block.size >= _PLENTY * scale:
        return found
    if len(text) >= _PLENTY * scale:
        return body
    is_alone = found is body and all(inner.is_paragraph for inner in block.inner)
    return body if is_alone else None


def _weighed(node: LexborNode, size: int, scale: float, patience: Patience, deepest: int) -> _Block:
    inner: list[_Block] = []
    weight = 0.0
    rest = size
    breaks = 0
    least, most = _LEAST * scale, _MOST * scale
    if deepest:
        for child in node.iter():
            tag = child.tag
            if tag in INLINE:
                continue
            if tag in _BREAKS:
                breaks += 1
                continue
            part = patience.size(child)
            if part is None:
                break
            if part >= least:
                rest -= part
                if tag in _PARAGRAPHS:
                    weight += part * min(part, most)
                else:
                    block = _weighed(child, part, scale, patience, deepest - 1)
                    weight += block.weight
                    inner.append(block)
    if not weight:
        weight = size * min(size / (breaks + 1), most)
        # A cell of a table is none.
        return _Block(node, size, weight, inner, is_paragraph=node.tag != "td")
    return _Block(node, size, weight + rest * least, inner, is_paragraph=False)


def _weight(block: _Block) -> float:
    return block.weight
