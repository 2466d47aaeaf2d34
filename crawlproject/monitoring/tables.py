"""The summary, drawn. All that a site controls is plain text, with nothing hidden in it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawlproject.monitoring.ending import headline, notes, skipped
from crawlproject.monitoring.tally import error_word
from crawlproject.printable import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, JustifyMethod, OverflowMethod, RenderableType

    from crawlproject.monitoring.ending import Ending
    from crawlproject.monitoring.tally import Broken

BAR_COLUMNS = 24
SIDE_BY_SIDE_COLUMNS = 76
MAX_ANSWERS = 20
MAX_DEPTHS = 12
# Feeds can be cut into batches.
MAX_FILES = 20
# On a terminal: a site may have links of any length, and a reader has one screen.
MAX_FOLDED_CHARS = 400
# As CSS has it: top, right, bottom, left.
INDENT = (0, 0, 0, 2)


def draw(ending: Ending, console: Console) -> str:
    """The summary for what ``console`` writes to: a terminal, or a file with whole lines."""
    artist = _Artist(
        ending, console.width, folds=console.is_terminal, ascii_only=console.options.ascii_only
    )
    with console.capture() as capture:
        for block in artist.blocks():
            console.print()
            # A file's lines are as long as they need be: somebody may search it for a URL.
            console.print(block, soft_wrap=not console.is_terminal)
    return "".join(f"{line.rstrip(' ')}\n" for line in capture.get().splitlines())


class _Artist:
    def __init__(self, ending: Ending, width: int, *, folds: bool, ascii_only: bool) -> None:
        self._ending = ending
        self._width = width
        self._folds = folds
        self._ascii_only = ascii_only

    def blocks(self) -> Iterable[RenderableType]:
        ending = self._ending
        yield Group(
            self._text(headline(ending), "bold"), *(self._text(note) for note in notes(ending))
        )
        if ending.tally.pages:
            yield self._answers_and_depths()
        if slowest := list(ending.tally.slowest):
            yield self._listing(
                "Slowest pages",
                [(Text(f"{page.fetch_ms:,} ms"), [self._url(page.url)]) for page in slowest],
            )
        for title, pages, number in (
            ("Broken pages", ending.broken, ending.tally.broken),
            ("Blocked pages", ending.blocked, ending.tally.blocked),
        ):
            if pages:
                yield self._failures(title, pages, number)
        if skipped(ending):
            yield self._skipped()
        if ending.files:
            yield self._files()

    # --- blocks

    def _answers_and_depths(self) -> RenderableType:
        if not self._ending.depths:
            return self._answers()
        if self._width < SIDE_BY_SIDE_COLUMNS:
            return Group(self._answers(), Text(), self._depths())
        grid = Table.grid(padding=(0, 4, 0, 0))
        grid.add_row(self._answers(), self._depths())
        return grid

    def _answers(self) -> Group:
        table = _table("right", "left", "right")
        outcomes = self._ending.tally.outcomes
        most = outcomes.most_common(MAX_ANSWERS)
        for (status, word), count in sorted(most, key=_outcome_key):
            is_fine = word is None and status is not None and 200 <= status < 300
            table.add_row(
                Text("-" if status is None else str(status)),
                self._cell(word or _phrase(status), "" if is_fine else "red"),
                Text(f"{count:,}"),
            )
        if rest := outcomes.total() - sum(count for _, count in most):
            table.add_row(Text("-"), Text("others"), Text(f"{rest:,}"))
        return self._block("Answers", table)

    def _depths(self) -> Group:
        table = _table("right", "right", "left")
        rows = _depth_rows(self._ending.depths)
        most = max(count for _, count in rows)
        for label, count in rows:
            bar = ("#" if self._ascii_only else "█") * max(1, round(BAR_COLUMNS * count / most))
            table.add_row(
                Text(label), Text(f"{count:,}"), Text(bar, "cyan", no_wrap=True, overflow="crop")
            )
        return self._block("Links from a seed", table)

    def _failures(self, title: str, pages: list[Broken], number: int) -> Group:
        rows = []
        for page in pages:
            label = "-" if page.status is None else str(page.status)
            rows.append((Text(label, "red"), [self._url(page.url), self._source(page)]))
        return self._listing(title, rows, number - len(rows))

    def _skipped(self) -> Group:
        table = _table("right", "left", "left")
        for row in skipped(self._ending):
            table.add_row(
                Text(f"{row.urls:,}"), self._cell(row.what), self._cell(row.remedy, "dim")
            )
        return self._block("Skipped URLs, and what lets them in", table)

    def _files(self) -> Group:
        files = self._ending.files
        lines = []
        for file in files[:MAX_FILES]:
            content = Text(f"({file.content})", "dim" if file.is_complete else "red")
            lines.append(self._text(file.name).append(" ").append_text(content))
        if len(files) > MAX_FILES:
            lines.append(Text(f"and {len(files) - MAX_FILES:,} more", "dim"))
        return self._block("Files", *(self._indented(line) for line in lines))

    # --- their parts

    def _listing(self, title: str, rows: list[tuple[Text, list[Text]]], more: int = 0) -> Group:
        """A label and lines beside it, which fold under themselves, or not at all."""
        body: list[RenderableType] = []
        width = max(label.cell_len for label, _ in rows)
        if self._folds:
            table = _table("right", "left")
            for label, lines in rows:
                table.add_row(label, Text("\n", overflow="fold").join(lines))
            body.append(table)
        else:
            for label, lines in rows:
                label.pad_left(width - label.cell_len)
                for number, line in enumerate(lines):
                    margin = Text(" " * width) if number else label
                    body.append(self._indented(Text("  ").join((margin, line))))
        if more > 0:
            body.append(self._indented(Text(f"{' ' * width}  and {more:,} more", "dim")))
        return self._block(title, *body)

    def _source(self, page: Broken) -> Text:
        """Why a page is broken, where its status does not say it, and who links to it."""
        error = "" if error_word(page.error) is None else f"{page.error}; "
        if page.referrer is None:
            return self._text(f"{error}a seed", "dim")
        source = self._text(f"{error}linked from ", "dim")
        return source.append_text(self._url(page.referrer))

    def _indented(self, line: Text) -> RenderableType:
        # Padding would cut at the width what need not fit into it.
        if self._folds:
            return Padding(line, INDENT, expand=False)
        return Text(" " * INDENT[3]).append_text(line)

    def _block(self, title: str, *body: RenderableType) -> Group:
        return Group(
            Text(title, "bold"),
            *(
                Padding(part, INDENT, expand=False) if isinstance(part, Table) else part
                for part in body
            ),
        )

    def _url(self, url: str) -> Text:
        if self._folds and len(url) > MAX_FOLDED_CHARS:
            url = url[:MAX_FOLDED_CHARS] + ("..." if self._ascii_only else "…")
        return self._text(url)

    def _cell(self, text: str, style: str = "") -> Text:
        # rich gives an empty column a width that it has not measured, and cuts another.
        return self._text(text or " ", style)

    def _text(self, text: str, style: str = "") -> Text:
        overflow: OverflowMethod = "fold" if self._folds else "ignore"
        return Text(visible(text, ascii_only=self._ascii_only), style, overflow=overflow)


def _table(*columns: JustifyMethod) -> Table:
    """A table without lines."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in columns:
        table.add_column(justify=justify, overflow="fold")
    return table


def _outcome_key(item: tuple[tuple[int | None, str | None], int]) -> tuple[int, str]:
    (status, word), _ = item
    return 10**9 if status is None else status, word or ""


def _phrase(status: int | None) -> str:
    try:
        return "" if status is None else HTTPStatus(status).phrase
    except ValueError:
        return ""


def _depth_rows(depths: dict[int, int]) -> list[tuple[str, int]]:
    """Pages by depth. A crawl without a limit can be thousands of links deep."""
    levels = sorted(depths)
    rows = [(str(depth), depths[depth]) for depth in levels[:MAX_DEPTHS]]
    if deeper := levels[MAX_DEPTHS:]:
        label = f"{deeper[0]}-{deeper[-1]}" if len(deeper) > 1 else str(deeper[0])
        rows.append((label, sum(depths[depth] for depth in deeper)))
    return rows
