"""From a response to a Page. Reading a page never fails, whatever the site sends."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from crawlproject.frontier.leases import FETCH_MS
from crawlproject.items import Page
from crawlproject.render import RENDERED
from crawlproject.urls.canonical import NotCrawlable
from crawlproject.urls.directives import robots_directives
from crawlproject.urls.document import base_url, telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response

    from crawlproject.frontier.base import Lease

MAX_TITLE_LENGTH = 1000
_TITLE_PARENTS = frozenset({"head", "body", "html"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def is_success(response: Response) -> bool:
    return 200 <= response.status < 300


def is_readable(response: Response) -> bool:
    """Whether the answer is worth parsing: HTML, and not an error message."""
    return isinstance(response, HtmlResponse) and is_success(response)


def page_of(lease: Lease) -> Page:
    """What is known of a page before its answer."""
    return Page(
        # A request that was not to be filtered has a mark behind its URL.
        url=lease.url.partition("#")[0],
        depth=lease.depth,
        referrer=lease.referrer,
        redirected_from=list(lease.redirected_from),
        fetched_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def read_page(
    response: Response,
    lease: Lease,
    links: list[str],
    canonicalize: Callable[..., str],
    token: str | None = None,
) -> Page:
    """The page of an answer. ``token`` is the name by which a site may address the crawler."""
    page = page_of(lease)
    page.response = response
    page.status_code = response.status
    page.bytes = len(response.body)
    page.fetch_ms = response.meta.get(FETCH_MS)
    page.content_type = _header(response, "Content-Type").partition(";")[0].strip().lower() or None
    page.last_modified = _header(response, "Last-Modified") or None
    if not is_success(response):
        page.error = f"unexpected status {response.status}"
    elif is_readable(response):
        page.links = links
        page.rendered = RENDERED in response.flags
        page.title = _title(response)
        page.noindex = "noindex" in robots_directives(response, token)
        page.canonical = _canonical(response, lease.url, canonicalize)
    return page


def _title(response: Response) -> str | None:
    # The first one of HTML: pictures have titles too.
    for _, node in telling(response, "title"):
        if node.parent is None or node.parent.tag in _TITLE_PARENTS:
            title = " ".join(_CONTROL.sub(" ", node.text()).split())
            return title[:MAX_TITLE_LENGTH] or None
    return None


def _canonical(response: Response, url: str, canonicalize: Callable[..., str]) -> str | None:
    """Another page that this one names as the real one."""
    for _, node in telling(response, "link"):
        attributes = node.attributes
        if "href" in attributes and "canonical" in (attributes.get("rel") or "").lower().split():
            try:
                canonical = canonicalize(attributes["href"] or "", base_url(response))
            except NotCrawlable:
                return None
            return canonical if canonical != url else None
    return None


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return _CONTROL.sub(" ", value.decode("latin-1")).strip() if value else ""
