"""From a response to a Page. Reading a page never fails, whatever the site sends."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from crawlproject.frontier.leases import FETCH_MS
from crawlproject.items import Page
from crawlproject.pages.content import ContentReader, Reach
from crawlproject.pages.structured import structured_data
from crawlproject.pages.text import main_text
from crawlproject.pages.words import words_of
from crawlproject.render import RENDERED
from crawlproject.render.scripted import ENOUGH_LINKS, is_scripted
from crawlproject.urls.directives import robots_directives
from crawlproject.urls.document import reading_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from crawlproject.frontier.base import Lease
    from crawlproject.pages.values import Item

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def is_success(response: Response) -> bool:
    return 200 <= response.status < 300


def is_readable(response: Response) -> bool:
    """Whether the answer is worth parsing: HTML, and not an error message."""
    return isinstance(response, HtmlResponse) and is_success(response)


def page_of(lease: Lease, page_class: type[Page] = Page) -> Page:
    """What is known of a page before its answer."""
    return page_class(
        # A request that was not to be filtered has a mark behind its URL.
        url=lease.url.partition("#")[0],
        depth=lease.depth,
        referrer=lease.referrer,
        redirected_from=list(lease.redirected_from),
        fetched_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


class PageReader:
    """``token`` is the name by which a site may address the crawler. ``structured`` are the
    syntaxes of structured data that are read. ``keeps_text`` says whether the main text is a
    field of the outputs. ``is_sparing``: no more is read than links and head.
    """

    def __init__(
        self,
        canonicalize: Callable[..., str],
        *,
        token: str | None = None,
        reach: Reach | None = None,
        structured: Sequence[str] = (),
        keeps_text: bool = False,
        is_sparing: bool = False,
        page_class: type[Page] = Page,
    ) -> None:
        self._page_class = page_class
        self._token = token
        self._structured = () if is_sparing else structured
        self._content = ContentReader(canonicalize, Reach(0, media=False) if is_sparing else reach)
        self._keeps_text = keeps_text
        self._reads_text = keeps_text or not is_sparing

    def read(
        self,
        response: Response,
        lease: Lease,
        links: list[str],
        stats: StatsCollector | None = None,
    ) -> Page:
        """The page of an answer. Its tree is given up: who has not read it must parse again."""
        page = answer_of(response, lease, self._page_class)
        if page.error is None and is_readable(response):
            page.links = links
            page.rendered = RENDERED in response.flags
            directives = robots_directives(response, self._token)
            page.noindex, page.nofollow = "noindex" in directives, "nofollow" in directives
            left_out = self._content.read(response, page)
            if stats is not None and left_out:
                stats.inc_value("pages/urls_left_out", left_out)
            if stats is not None and reading_of(response).is_cut:
                stats.inc_value("pages/cut")
            if self._structured:
                page.structured_data = self._structured_data(response, stats)
            # Before the tree is given up. Most pages have more links, and cost nothing.
            is_bare = not page.rendered and len(links) < ENOUGH_LINKS
            lease.is_scripted = is_bare and is_scripted(response)
            if stats is not None and lease.is_scripted:
                stats.inc_value("pages/scripted")
            if self._reads_text:
                self._read_text(response, page)
        return page

    def _read_text(self, response: Response, page: Page) -> None:
        page.text, page.own_text = main_text(response)
        page.word_count = words_of(page.text).count
        if self._keeps_text:
            page.extra["text"] = clean_text(page.text)

    def _structured_data(self, response: Response, stats: StatsCollector | None) -> list[Item]:
        items, broken = structured_data(response, self._structured)
        if stats is not None:
            if items:
                stats.inc_value("pages/structured_data")
            if broken:
                stats.inc_value("pages/structured_data_broken", broken)
        return items


def answer_of(response: Response, lease: Lease, page_class: type[Page] = Page) -> Page:
    """What an answer says before it is read."""
    page = page_of(lease, page_class)
    page.response = response
    page.status_code = response.status
    page.bytes = len(response.body)
    page.fetch_ms = response.meta.get(FETCH_MS)
    page.content_type = _header(response, b"Content-Type").partition(";")[0].strip().lower() or None
    page.last_modified = _header(response, b"Last-Modified") or None
    if not is_success(response):
        page.error = f"unexpected status {response.status}"
    return page


def clean_text(text: str) -> str:
    """The text without control characters, on one line."""
    return " ".join(_CONTROL.sub(" ", text).split())


def _header(response: Response, name: bytes) -> str:
    # As Headers keeps them: it would take six calls to find out what the name is.
    values: Sequence[bytes] = dict.get(response.headers, name, ())
    return _CONTROL.sub(" ", values[-1].decode("latin-1")).strip() if values else ""
