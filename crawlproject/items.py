"""What rooms hand each other: the Page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response


class Content(NamedTuple):
    """What pages are compared by; kept in the crawl directory beside the page."""

    # Of the body, after decoding.
    hash: bytes
    # MinHash of the main text, or what makes it when it is kept: many one after the other take
    # half the time. None: there is too little text.
    signature: bytes | Callable[[], bytes | None] | None = None
    # Bytes that wait for it.
    length: int = 0


@dataclass(slots=True)
class Page:
    """The record of one URL that was fetched or tried. ``docs/pages.md`` says more of each field.

    ``url`` is canonical and, after redirects, the URL that answered; the URLs that led
    there are in ``redirected_from``. ``error`` is absent (None) when the page is fine.

    ``depth``, ``referrer`` and ``redirected_from`` are what was known when the page
    arrived. A shorter way to it may be found later, so sorted outputs ask the frontier
    for the final word (see ``frontier.base.Facts``). What a page is a duplicate of is known
    when the crawl ends, and in sorted outputs only.
    """

    url: str
    status_code: int | None = None
    depth: int = 0
    links: list[str] = field(default_factory=list)
    error: str | None = None
    content_type: str | None = None
    bytes: int | None = None
    fetch_ms: int | None = None
    title: str | None = None
    fetched_at: str | None = None
    referrer: str | None = None
    redirected_from: list[str] = field(default_factory=list)
    # The page asks search engines to leave it out (meta robots or X-Robots-Tag).
    noindex: bool = False
    # Links, title and text are what scripts have made of the page.
    rendered: bool = False
    # rel=canonical, where it names another page.
    canonical: str | None = None
    last_modified: str | None = None
    # … and that none of its links be followed.
    nofollow: bool = False
    description: str | None = None
    # As the page or its server names it: 'en', 'pt-br'.
    language: str | None = None
    # Versions of the page in other languages: URLs by language.
    alternates: dict[str, str] = field(default_factory=dict)
    # Each with ``level`` (1 to 6) and ``text``.
    headings: list[dict[str, Any]] = field(default_factory=list)
    word_count: int | None = None
    # URLs; recorded, not fetched.
    images: list[str] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    # Without 'og:'.
    open_graph: dict[str, str] = field(default_factory=dict)
    # Each with ``type`` and ``properties``.
    structured_data: list[dict[str, Any]] = field(default_factory=list)
    # SHA-256 of the body, after decoding.
    content_hash: str | None = None
    # The URL of the first page, breadth first, that has the same body, …
    duplicate_of: str | None = None
    # … or almost the same main text, and how much of it is the same (0 to 1).
    near_duplicate_of: str | None = None
    similarity: float | None = None
    # Its site's sitemap names it, and no page that links lead to does.
    orphan: bool = False
    # What its site's sitemap says of it: ``url`` (of the sitemap), ``lastmod`` …
    sitemap: dict[str, Any] = field(default_factory=dict)
    # Links that are not among ``links``: too long, or too many characters for one page.
    links_left_out: int | None = None

    # What a team's pipelines add: fields of the outputs like the others.
    extra: dict[str, Any] = field(default_factory=dict)

    # For pipelines, and in no output: the answer, the page's main text, and what of it pages
    # are compared by.
    response: Response | None = field(default=None, repr=False, compare=False)
    text: str | None = field(default=None, repr=False, compare=False)
    own_text: str | None = field(default=None, repr=False, compare=False)
    # Kept in the crawl directory beside the page.
    content: Content | None = field(default=None, repr=False, compare=False)
    # What the store keeps of the answer: headers, sizes, where the body is.
    stored: dict[str, Any] | None = field(default=None, repr=False, compare=False)
