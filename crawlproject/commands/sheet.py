"""An answer on a terminal, or as plain text with whole lines, in the manner of the summary.

All that a site controls is plain text, with nothing hidden in it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawlproject.monitoring.tables import INDENT, MAX_FOLDED_CHARS
from crawlproject.printable import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

# Of a file that nobody folds.
_ENDLESS = 1_000_000


class Sheet:
    """Blocks, one after the other, with a blank line between them."""

    def __init__(self, console: Console | None = None) -> None:
        console = console or Console(highlight=False)
        self._is_terminal = console.is_terminal
        self._console = console if self._is_terminal else Console(width=_ENDLESS, highlight=False)
        self._ascii_only = self._console.options.ascii_only
        self._blocks: list[RenderableType] = []

    def say(self, text: str, *more: str) -> None:
        """A headline, and what is to be added to it."""
        self._blocks.append(Group(self._text(text, "bold"), *map(self._text, more)))

    def pairs(self, title: str, rows: Iterable[tuple[str, str]]) -> None:
        """Labels, and what is to be said to each."""
        self.table(title, "ll", (), rows)

    def table(
        self,
        title: str,
        justify: str,
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        more: int = 0,
    ) -> None:
        """``justify`` has a letter for each column: l or r. ``more``: rows that are not shown."""
        rows = list(rows)
        if not rows:
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        for letter in justify:
            table.add_column(justify="left" if letter == "l" else "right", overflow="fold")
        if header:
            table.add_row(*(self._text(name or " ", "dim") for name in header))
        for row in rows:
            # rich gives an empty column a width that it has not measured, and cuts another.
            table.add_row(*(self._text(cell or " ") for cell in row))
        parts: list[RenderableType] = [Padding(table, INDENT, expand=False)]
        if more > 0:
            parts.append(Padding(Text(f"and {more:,} more", "dim"), INDENT, expand=False))
        if title:
            parts.insert(0, self._text(title, "bold"))
        self._blocks.append(Group(*parts))

    def write(self) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.buffer.write(str(self).encode(encoding, "replace"))

    def __str__(self) -> str:
        with self._console.capture() as capture:
            for number, block in enumerate(self._blocks):
                if number:
                    self._console.print()
                self._console.print(block)
        return "".join(f"{line.rstrip(' ')}\n" for line in capture.get().splitlines())

    def _text(self, text: str, style: str = "") -> Text:
        if self._is_terminal and len(text) > MAX_FOLDED_CHARS:
            text = text[:MAX_FOLDED_CHARS] + ("..." if self._ascii_only else "…")
        return Text(visible(text, ascii_only=self._ascii_only), style, overflow="fold")
