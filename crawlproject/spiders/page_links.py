"""The links of a page: which fit, with which session, and which may not be followed.

Stats: ``links/found``, ``links/known``, ``links/left_out/too_long``, ``links/left_out/page_limit``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.base import NOFOLLOW
from crawlproject.urls.document import reading_of
from crawlproject.urls.sessions import Sessions

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.time_cap import TimeCap
    from crawlproject.items import Page
    from crawlproject.scope.scope import Scope
    from crawlproject.urls.link_bounds import LinkBounds

logger = logging.getLogger(__name__)


class PageLinks:
    """Links are canonical URLs; with each, whether it is marked nofollow."""

    def __init__(self, scope: Scope, bounds: LinkBounds, *, respects_nofollow: bool) -> None:
        self._scope = scope
        self._bounds = bounds
        self._respects_nofollow = respects_nofollow
        self._sessions = Sessions()
        self._has_warned = False

    def on_page(
        self, response: Response, page: str, links: dict[str, bool]
    ) -> tuple[dict[str, bool], dict[str, str]]:
        """The links with the page's own session, and why some may not be followed from it."""
        links = self._with_session(response, page, links)
        return links, self._scope.reasons_on(page, links)

    def reasons(
        self,
        links: dict[str, bool],
        reasons: dict[str, str],
        frontier: Frontier,
        cap: TimeCap,
        meta: dict[str, Any],
        stats: StatsCollector,
    ) -> dict[str, str]:
        """Which links may not enter, and why, besides the ``reasons`` that are known."""
        # Few pages have one, and to look at each link takes its time.
        if self._respects_nofollow and True in links.values():
            reasons.update({url: NOFOLLOW for url, nofollow in links.items() if nofollow})
        # What is known was let in before; what is not in scope is so on any page.
        unknown = frontier.unknown(links)
        if links:
            stats.inc_value("links/found", len(links))
            stats.inc_value("links/known", len(links) - len(unknown))
        if unknown:
            reasons.update(cap.run(meta, self._scope.reasons, unknown))
        return reasons

    def reason(
        self, url: str, page: str, *, nofollow: bool, frontier: Frontier, stats: StatsCollector
    ) -> str | None:
        """Why one link may not enter; None: it may."""
        is_known = frontier.knows(url)
        stats.inc_value("links/found")
        stats.inc_value("links/known", int(is_known))
        if nofollow and self._respects_nofollow:
            return NOFOLLOW
        reason = self._scope.reasons_on(page, [url]).get(url)
        return reason if reason or is_known else self._scope.reason(url)

    def bounded(self, response: Response, page: str, requests: list[Request]) -> list[Request]:
        """The requests of links that fit, with the page's own session."""
        links = dict.fromkeys((request.url for request in requests), False)
        sessions = self._sessions.kept(page, links)
        fitting = self._fitting(response, links)
        return [
            request.replace(url=sessions[request.url]) if request.url in sessions else request
            for request in requests
            if request.url in fitting
        ]

    def _with_session(
        self, response: Response, page: str, links: dict[str, bool]
    ) -> dict[str, bool]:
        """The links with the page's own session, each URL once."""
        kept = self._sessions.kept(page, links)
        if not kept:
            return links
        found: dict[str, bool] = {}
        for url, nofollow in links.items():
            url = kept.get(url, url)
            found[url] = found.get(url, True) and nofollow
        # The page's session may be longer than that of the links.
        return self._fitting(response, found)

    def _fitting(self, response: Response, links: dict[str, bool]) -> dict[str, bool]:
        """Of links that another extractor has found, or that were changed, those that fit."""
        room = self._bounds.room()
        if (before := reading_of(response).room) is not None:
            room.too_long, room.beyond = before.too_long, before.beyond
        reading_of(response).room = room
        return self._bounds.fitting(links, room)

    def count_left_out(self, response: Response, page: Page, stats: StatsCollector) -> None:
        room = reading_of(response).room
        if room is None or not room.left_out:
            return
        page.links_left_out = room.left_out
        stats.inc_value("links/left_out/too_long", room.too_long)
        stats.inc_value("links/left_out/page_limit", room.beyond)
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Links left out of %.200s: %d longer than %d characters (URLLENGTH_LIMIT), %d past "
                "the %d characters that all links of a page may have (URLS_MAX_LINK_CHARACTERS). "
                "Further pages are counted: links_left_out",
                page.url,
                room.too_long,
                room.longest,
                room.beyond,
                self._bounds.page,
            )
