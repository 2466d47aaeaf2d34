"""What to do with a redirect: it is a link of length 0, and enters the frontier like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlproject.urls.canonical import NotCrawlable, host_of, wire_url
from crawlproject.urls.location import location_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response

    from crawlproject.frontier.base import Lease
    from crawlproject.scope.scope import Scope


class Outcome(NamedTuple):
    target: str | None = None
    # The target enters the frontier in place of its source.
    follow: bool = False
    # The same URL in another spelling, to be fetched once more.
    again: str | None = None
    # The target is on a host that a seed has just brought into scope.
    widened: bool = False
    # Why the target can't be had, or is not wanted: then the source is a page of its own.
    error: str | None = None
    reason: str | None = None


class Redirects:
    def __init__(
        self,
        canonicalize: Callable[..., str],
        scope: Scope,
        *,
        max_times: int,
        seeds_widen_scope: bool,
        keeps_cookies: bool = False,
    ) -> None:
        self._canonicalize = canonicalize
        self._scope = scope
        self._max_times = max_times
        self._seeds_widen_scope = seeds_widen_scope
        self._keeps_cookies = keeps_cookies

    def judge(self, response: Response, lease: Lease) -> Outcome:
        location = location_of(response) or ""
        try:
            target = self._canonicalize(location, response.url)
        except NotCrawlable:
            return Outcome(error=f"bad redirect: {location[:200]!r}")
        if target == lease.url:
            has_cookie = self._keeps_cookies and b"Set-Cookie" in response.headers
            url = wire_url(location, response.url)
            return self._judge_itself(url, lease, has_cookie=has_cookie)
        widened = (
            lease.depth == 0 and self._seeds_widen_scope and self._scope.widen(host_of(target))
        )
        reason = self._scope.reason(target)
        return Outcome(target, follow=reason is None, widened=widened, reason=reason)

    def _judge_itself(self, url: str, lease: Lease, *, has_cookie: bool) -> Outcome:
        """A site that adds a session id or the like, and answers when it has it."""
        is_same = url == lease.fetch_url and not has_cookie
        if is_same or lease.bounces >= self._max_times:
            return Outcome(error="redirect loop")
        return Outcome(again=url)
