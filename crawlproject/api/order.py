"""The order in which one patient worker would have met the pages. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlproject.items import Page


def breadth_first(pages: list[Page]) -> list[Page]:
    """Pages by depth, and within a depth in the order of the links that lead to them."""
    by_url = {page.url: page for page in pages}
    for page in pages:
        # A link to a URL that redirected leads to the page that answered.
        for source in page.redirected_from:
            by_url.setdefault(source, page)
    met: dict[str, None] = {}
    level = sorted((page for page in pages if page.depth == 0), key=lambda page: page.url)
    while level:
        met.update((page.url, None) for page in level)
        links = (by_url.get(url) for page in level for url in page.links)
        # A page that comes next is one level below; the same link again leads to it too.
        level = list(
            {page.url: page for page in links if page is not None and page.url not in met}.values()
        )
    rest = sorted((page for page in pages if page.url not in met), key=lambda page: page.url)
    order = {url: number for number, url in enumerate([*met, *(page.url for page in rest)])}
    return sorted(pages, key=lambda page: (page.depth, order[page.url]))
