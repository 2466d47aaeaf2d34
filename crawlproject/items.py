"""What rooms hand each other: the Page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Page:
    """The record of one URL that was fetched or tried.

    ``url`` is canonical and, after redirects, the URL that answered; the URLs that led
    there are in ``redirected_from``. ``error`` is absent (None) when the page is fine.

    ``depth``, ``referrer`` and ``redirected_from`` are what was known when the page
    arrived. A shorter way to it may be found later, so sorted outputs ask the frontier
    for the final word (see ``frontier.base.Facts``).
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
    # rel=canonical, where it names another page.
    canonical: str | None = None
    last_modified: str | None = None
    # What a team's pipelines add: fields of the outputs like the others.
    extra: dict[str, Any] = field(default_factory=dict)
