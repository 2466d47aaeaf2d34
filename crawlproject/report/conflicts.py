"""What canonical links, noindex, sitemaps and robots.txt can say against each other. *Pure.*"""

from __future__ import annotations

from typing import NamedTuple

from crawlproject.report.lists import Severity


class Conflict(NamedTuple):
    what: str
    severity: Severity
    # As in ``Issue``.
    one: str
    several: str
    why: str


_WHY_CANONICAL = "Search engines then don't know which page to show."
_WHY_SITEMAP = "A sitemap should name pages that answer, and that search engines may show."

TO_BROKEN = Conflict(
    "canonical is broken",
    Severity.ERROR,
    "canonical link to a broken page",
    "canonical links to broken pages",
    _WHY_CANONICAL,
)
TO_DENIED = Conflict(
    "canonical is denied by robots.txt",
    Severity.ERROR,
    "canonical link to a page that robots.txt denies",
    "canonical links to pages that robots.txt denies",
    "Search engines can't read the page that they are to show.",
)
TO_REDIRECT = Conflict(
    "canonical redirects",
    Severity.WARNING,
    "canonical link to a redirect",
    "canonical links to redirects",
    _WHY_CANONICAL,
)
TO_NOINDEX = Conflict(
    "canonical is noindex",
    Severity.ERROR,
    "canonical link to a page that is not to be indexed",
    "canonical links to pages that are not to be indexed",
    "Search engines may drop both.",
)
TO_CANONICAL = Conflict(
    "canonical names another",
    Severity.WARNING,
    "canonical link to a page that names another one",
    "canonical links to pages that name other ones",
    _WHY_CANONICAL,
)
TO_UNKNOWN = Conflict(
    "canonical was not fetched",
    Severity.NOTICE,
    "canonical link to a page outside of this crawl",
    "canonical links to pages outside of this crawl",
    "It may be on another host, or out of scope; nobody has looked whether it is there.",
)
NOINDEX_TOO = Conflict(
    "noindex and canonical",
    Severity.WARNING,
    "page with both noindex and a canonical link",
    "pages with both noindex and a canonical link",
    "One says 'forget me', the other 'count me there'.",
)
LISTED_NOINDEX = Conflict(
    "noindex in a sitemap",
    Severity.WARNING,
    "page in a sitemap that is not to be indexed",
    "pages in a sitemap that are not to be indexed",
    _WHY_SITEMAP,
)
LISTED_CANONICAL = Conflict(
    "in a sitemap, names another",
    Severity.WARNING,
    "page in a sitemap that names another as the real one",
    "pages in a sitemap that name others as the real ones",
    _WHY_SITEMAP,
)
LISTED_REDIRECT = Conflict(
    "in a sitemap, redirects",
    Severity.WARNING,
    "URL in a sitemap that redirects",
    "URLs in a sitemap that redirect",
    _WHY_SITEMAP,
)
LISTED_BROKEN = Conflict(
    "in a sitemap, broken",
    Severity.ERROR,
    "URL in a sitemap that is broken",
    "URLs in a sitemap that are broken",
    _WHY_SITEMAP,
)
LISTED_DENIED = Conflict(
    "in a sitemap, denied by robots.txt",
    Severity.WARNING,
    "URL in a sitemap that robots.txt denies",
    "URLs in a sitemap that robots.txt denies",
    "One says 'read me', the other 'stay away'.",
)
LISTED_BLOCKED = Conflict(
    "in a sitemap, blocked",
    Severity.WARNING,
    "URL in a sitemap that lets no crawler in (401, 403, 429)",
    "URLs in a sitemap that let no crawler in (401, 403, 429)",
    _WHY_SITEMAP,
)
OF_SITEMAPS = (
    *(LISTED_BROKEN, LISTED_DENIED, LISTED_BLOCKED),
    *(LISTED_NOINDEX, LISTED_CANONICAL, LISTED_REDIRECT),
)
ALL = (
    *(TO_BROKEN, TO_DENIED, TO_NOINDEX, TO_REDIRECT, TO_CANONICAL, NOINDEX_TOO),
    *OF_SITEMAPS,
    TO_UNKNOWN,
)
