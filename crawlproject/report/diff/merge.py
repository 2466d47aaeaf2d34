"""Two sorted lists of pages, side by side, by URL. *Pure.*"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.report.diff.facts import Facts


def merged(
    before: Iterable[Facts], after: Iterable[Facts]
) -> Iterator[tuple[Facts | None, Facts | None]]:
    """The two pages of each URL; None where one has no such page. Both are sorted by URL, as Python
    sorts texts: by code point, which is the order of their UTF-8 bytes and so SQLite's.
    """
    olds, news = iter(before), iter(after)
    old, new = next(olds, None), next(news, None)
    while old is not None or new is not None:
        if new is None or (old is not None and old["url"] < new["url"]):
            yield old, None
            old = next(olds, None)
        elif old is None or new["url"] < old["url"]:
            yield None, new
            new = next(news, None)
        else:
            yield old, new
            old, new = next(olds, None), next(news, None)
