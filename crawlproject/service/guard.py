"""Who may ask the service for what.

A service on loopback is within reach of every page that its user looks at: a browser sends such
a page's forms, and a name that suddenly resolves to 127.0.0.1, wherever it is told to. So what
changes something must not come from another origin, and, where no password protects it, the
service must be called by its own name.

Without a password, nothing is let in by which others could run code or write files: no
deployment, and of scrapyd's ``setting=`` only what is a number or a word.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlproject.scope.internal import is_loopback
from crawlproject.service.http import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twisted.web.server import Request

_READING = (b"GET", b"HEAD", b"OPTIONS")
# Of a browser's own: the page itself, or the user.
_FROM_HERE = ("same-origin", "none")
# Settings that say neither which code is to run, nor where anything is, nor who listens.
HARMLESS = frozenset(
    [
        "AUTOTHROTTLE_ENABLED",
        "AUTOTHROTTLE_MAX_DELAY",
        "AUTOTHROTTLE_START_DELAY",
        "AUTOTHROTTLE_TARGET_CONCURRENCY",
        "CLOSESPIDER_ERRORCOUNT",
        "CLOSESPIDER_ITEMCOUNT",
        "CLOSESPIDER_PAGECOUNT",
        "CLOSESPIDER_TIMEOUT",
        "CONCURRENT_REQUESTS",
        "CONCURRENT_REQUESTS_PER_DOMAIN",
        "DEPTH_LIMIT",
        "DOWNLOAD_DELAY",
        "DOWNLOAD_MAXSIZE",
        "DOWNLOAD_TIMEOUT",
        "DUPLICATES_ACTION",
        "DUPLICATES_BACKEND",
        "DUPLICATES_ENABLED",
        "DUPLICATES_MIN_WORDS",
        "DUPLICATES_PERMUTATIONS",
        "DUPLICATES_SHINGLE_WORDS",
        "DUPLICATES_THRESHOLD",
        "FRONTIER_CAPACITY",
        "FRONTIER_COMMIT_PAGES",
        "FRONTIER_COMMIT_SECONDS",
        "FRONTIER_RETRY_BACKOFF_SECONDS",
        "LOG_LEVEL",
        "PAGES_CONTENT",
        "PAGES_HEADING_LEVELS",
        "PAGES_MEDIA",
        "PAGES_STRUCTURED_DATA",
        "PAGES_TEXT",
        "POLITENESS_HOST",
        "POLITENESS_MAX_CRAWL_DELAY_SECONDS",
        "POLITENESS_MAX_HOLD_SECONDS",
        "POLITENESS_RATE",
        "POLITENESS_ROBOTS_UNREACHABLE_SECONDS",
        "RECRAWL_CHANCE",
        "RECRAWL_COSMETIC_SIMILARITY",
        "RECRAWL_GONE_VISITS",
        "RECRAWL_MAX_INTERVAL_SECONDS",
        "RECRAWL_MIN_INTERVAL_SECONDS",
        "RECRAWL_MODE",
        "RECRAWL_SHARE",
        "REDIRECT_MAX_TIMES",
        "RENDER_MAX_PAGES",
        "RENDER_MAX_REQUESTS",
        "RENDER_MODE",
        "RENDER_TIMEOUT_SECONDS",
        "RETRY_ENABLED",
        "RETRY_TIMES",
        "SCOPE_ALLOW",
        "SCOPE_EXCLUDE",
        "SCOPE_FOLLOW_SEED_REDIRECTS",
        "SCOPE_INCLUDE",
        "SCOPE_MAX_PAGES",
        "SCOPE_MAX_PAGES_PER_HOST",
        "SCOPE_MAX_PAGES_PER_PREFIX",
        "SCOPE_MAX_QUERY_PARAMS",
        "SCOPE_MAX_REPEATED_SEGMENTS",
        "SCOPE_MODE",
        "SITEMAPS_MAX_FILES",
        "SITEMAPS_MAX_NESTING",
        "SITEMAPS_MAX_URLS",
        "SITEMAPS_MODE",
        "STORE_BODIES",
        "URLLENGTH_LIMIT",
        "URLS_JOIN_SCHEMES",
        "URLS_RESPECT_NOFOLLOW",
        "USER_AGENT",
    ]
)


class Guard:
    """``allowed_hosts`` are names besides this machine's own. ``is_protected``: a password is
    asked of everybody, before anything comes here.
    """

    def __init__(self, *, is_protected: bool, allowed_hosts: Iterable[str] = ()) -> None:
        self.is_protected = is_protected
        self._allowed = frozenset(allowed_hosts)

    def check(self, request: Request) -> None:
        """Raise Refused for a request that is not for us to answer."""
        called = request.getHeader("host") or ""
        if not self.is_protected and not self._is_ours(called):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                f"the service is not {called[:100]!r}: call it by its address, or name it in "
                "allowed_hosts in scrapyd.conf",
            )
        if request.method in _READING:
            return
        origin, site = request.getHeader("origin"), request.getHeader("sec-fetch-site")
        is_other = site is not None and site not in _FROM_HERE
        if _host_of(origin) != called.lower() if origin is not None else is_other:
            raise Refused(
                HTTPStatus.FORBIDDEN,
                f"a page of {(origin or 'another site')[:100]} may not ask for this",
            )

    def check_deployment(self) -> None:
        if not self.is_protected:
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "who deploys runs code here: set a username and a password in scrapyd.conf first",
            )

    def check_settings(self, names: Iterable[str]) -> None:
        """Raise Refused for settings by which code could be run, or files be read or written."""
        if self.is_protected:
            return
        for name in names:
            if name not in HARMLESS:
                raise Refused(
                    HTTPStatus.FORBIDDEN,
                    f"setting {name[:50]}: only with a username and a password in scrapyd.conf",
                )

    def _is_ours(self, called: str) -> bool:
        try:
            name = urlsplit(f"//{called}").hostname or ""
        except ValueError:
            return False
        return is_loopback(name) or name in self._allowed


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None
