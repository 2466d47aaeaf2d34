"""A link as Scrapy knows it, whose text is read when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.link import Link

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


class TextBudget:
    """How much text the links of a page may have in all.

    Links inside links repeat their text: a page that nests thousands gets no more of it.
    """

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class FoundLink(Link):
    """A link whose text is read when it is asked for: few ask, and it is a third of the cost.

    Until then it keeps the page's tree alive.
    """

    __slots__ = ("_budget", "_node", "_text")

    def __init__(
        self, url: str, node: LexborNode, budget: TextBudget, fragment: str, nofollow: bool
    ) -> None:
        self.url = url
        self.fragment = fragment
        self.nofollow = nofollow
        self._node: LexborNode | None = node
        self._budget = budget
        self._text = ""

    @property
    def text(self) -> str:  # type: ignore[override]
        if self._node is not None and self._budget.left > 0:
            self._text = self._node.text_lexbor().strip()
            self._budget.left -= len(self._text)
        self._node = None
        return self._text
