"""Requests that a spider yields: into the frontier, and back.

- A **link** is a request that a spider's rules have made of a link of a page. It is noted on the
  lease of the page, with the spider's word on its scope, and committed together with the page: so
  its depth, referrer and skip reason are those of any link.
- Any other request is admitted at once, without a question about its scope.

Either is admitted with the request itself, so that callback, errback, headers and meta come back
with the lease. Duplicates are what the dupe filter says (``urls/dupefilter.py``).

Meta keys: reads and removes ``lease``, ``made_by`` and ``followed_from``; removes ``turn``,
``on_the_wire``, ``fetch_started``, ``fetch_ended`` and ``fetch_ms``.
"""

from __future__ import annotations

import logging
from hashlib import blake2b
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from scrapy import Request

from crawlproject.frontier import flags, requests
from crawlproject.frontier.base import DUPLICATE, LEASE, TURN, Candidate, Lease
from crawlproject.frontier.clock import now
from crawlproject.frontier.configuration import has_own_filter
from crawlproject.frontier.leases import (
    FETCH_ENDED,
    FETCH_MS,
    FETCH_STARTED,
    FIRST_START,
    MADE_BY,
    ON_THE_WIRE,
)
from crawlproject.frontier.own_filters import teach
from crawlproject.frontier.restore import NOT_KEPT
from crawlproject.recrawl.headers import conditions
from crawlproject.scope.depth import depth_limit_from
from crawlproject.urls.canonical import NotCrawlable, canonicalize, origin_of, wire_url
from crawlproject.urls.dupefilter import CanonicalDupeFilter

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.http import Headers

    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.leases import LeasesOut

logger = logging.getLogger(__name__)

# Where a request that rules have made says so.
FOLLOWED_FROM = "followed_from"
# Links that are noted on leases and not committed yet; those of ended leases are removed then.
_MOST_PENDING = 4096
# Why a link is skipped that a filter of the project's own takes for a duplicate.
_LEFT_OUT = f"{DUPLICATE}: DUPEFILTER_CLASS"
_OF_ONE_RESPONSE = (TURN, ON_THE_WIRE, FETCH_STARTED, FETCH_ENDED, FETCH_MS)
# Headers that are for one origin only.
_CREDENTIALS = (b"Authorization", b"Cookie", b"Proxy-Authorization")


class Followed(NamedTuple):
    """The page that a link is on, and whether the link is marked nofollow."""

    lease: Lease
    nofollow: bool = False


class LinkSpider(Protocol):
    def link_reason(self, url: str, followed: Followed) -> str | None:
        """Why a link may not be followed; None: it may."""


class OwnRequests:
    """``retry_backoff`` is the time in seconds before a first retry; it doubles with each.

    ``is_lasting``: another run or worker may make the requests, so that they have to be written.
    """

    def __init__(
        self,
        crawler: Crawler,
        frontier: Frontier,
        dupefilter: BaseDupeFilter,
        out: LeasesOut,
        *,
        retry_backoff: float,
        is_lasting: bool = False,
    ) -> None:
        self._crawler = crawler
        self._is_lasting = is_lasting
        self._frontier = frontier
        self._out = out
        self._retry_backoff = retry_backoff
        self._depth_limit = depth_limit_from(crawler.settings)
        # A filter of a project's own is asked after ours: no URL has two entries.
        if isinstance(dupefilter, CanonicalDupeFilter):
            self._canonical = dupefilter
            self._filters: tuple[BaseDupeFilter, ...] = (dupefilter,)
        else:
            self._canonical = CanonicalDupeFilter.from_crawler(crawler)
            self._filters = (self._canonical, dupefilter)
        # A subclass may call a URL new that the frontier has, and that can't be made twice.
        self._may_err = type(self._canonical).request_seen is not CanonicalDupeFilter.request_seen
        self._pending: dict[str, Lease] = {}
        self._has_unkept = False

    def open(self) -> None:
        for one in self._filters:
            one.open()
        if has_own_filter(self._crawler.settings):
            # Asked about what the frontier has, ours would look no further.
            self._canonical.use(lambda url, depth: False)
            teach(self._filters, self._frontier.read())
        self._canonical.use(self._is_known)

    def close(self, reason: str) -> None:
        for one in self._filters:
            one.close(reason)

    @property
    def _spider(self) -> Spider:
        return cast("Spider", self._crawler.spider)

    # --- into the frontier

    def enqueue(self, request: Request) -> bool:
        """Whether it is new, and is going to be made."""
        meta = request.meta
        lease = meta.pop(LEASE, None)
        if not isinstance(lease, Lease):
            # Another component's key, or what was fed.
            lease = None
        made_by = meta.pop(MADE_BY, None)
        followed = meta.pop(FOLLOWED_FROM, None)
        # Who copies the meta of a response copies what is only true of that one.
        for name in _OF_ONE_RESPONSE:
            meta.pop(name, None)
        url = self._canonical.identity(request)
        if lease is not None and _is_retry(request, url, lease):
            self._retry(request, lease)
            return True
        if isinstance(followed, Followed):
            return self._follow(request, url, followed)
        flags.leave_out(meta)
        if request.dont_filter:
            if made_by is None and lease is not None:
                # A copy of another one: a redirect of a middleware, or what an errback asks for.
                # As with those of a callback, each has a number, the same in the next run.
                made_by = f"{lease.url} instead {meta.get('retry_times', 0)} {lease.unfiltered}"
                lease.unfiltered += 1
            url = f"{url}#{_mark(made_by)}"
        elif not self._is_too_deep(_depth(request)) and self._is_duplicate(request):
            return False
        return self._admit(request, url)

    def _retry(self, request: Request, lease: Lease) -> None:
        lease.attempts = request.meta["retry_times"]
        if isinstance(lease.request, str):
            stored = self._stored(lease)
            request = request.replace(headers=self._own_headers(request, stored, lease))
            # Attempts are counted by the lease, anew at each visit.
            if "retry_times" in stored.meta:
                request.meta["retry_times"] = stored.meta["retry_times"]
            else:
                del request.meta["retry_times"]
        if lease.request is not None:
            lease.request = self._kept(request)
        wait = self._retry_backoff * 2 ** (lease.attempts - 1)
        self._out.release(lease, now() + wait)

    def _own_headers(self, request: Request, stored: Request, lease: Lease) -> Headers:
        """The headers of a retry that are the spider's own.

        Those that middlewares have added may be secret, and must not be written down. They are
        added again.
        """
        headers = stored.headers
        sent = self._out.request_of(lease)
        if sent is not None:
            # What differs was changed for the retry.
            for name in {*request.headers, *sent.headers}:
                values = request.headers.getlist(name)
                if values == sent.headers.getlist(name):
                    continue
                if values:
                    headers.setlist(name, values)
                else:
                    headers.pop(name, None)
        return headers

    def _admit(self, request: Request, url: str, reason: str | None = None) -> bool:
        candidate = Candidate(url, reason, self._kept(request))
        depth = _depth(request)
        self._frontier.admit([candidate], depth)
        return reason is None and not self._is_too_deep(depth)

    def _is_too_deep(self, depth: int) -> bool:
        """Whether the frontier skips a request: then no filter is asked, as in Scrapy."""
        return self._depth_limit is not None and depth > self._depth_limit

    def _follow(self, request: Request, url: str, followed: Followed) -> bool:
        lease = followed.lease
        reason = cast("LinkSpider", self._spider).link_reason(url, followed)
        if request.dont_filter:
            return self._admit(request, f"{url}#{_mark(None)}", reason)
        depth = _depth(request, lease.depth + 1)
        is_out = reason is not None or self._is_too_deep(depth)
        is_duplicate = not is_out and self._is_duplicate(request)
        is_page = request.method == "GET" and not request.body
        if lease.is_ended or depth == 0 or not is_page:
            # It has no place among the links of its page. Depth 0: ``depth_reset`` was set for it.
            return not is_duplicate and self._admit(request, url, reason)
        if is_duplicate and not self._is_known(url, depth):
            reason = _LEFT_OUT
        if url not in lease.requests:
            lease.links.append(url)
            if reason is not None:
                lease.reasons[url] = reason
            is_known = self._frontier.knows(url)
            lease.requests[url] = None if is_known else self._kept(request)
        elif reason is None:
            # One link that may be followed is enough.
            lease.reasons.pop(url, None)
        is_new = not (is_duplicate or is_out)
        if is_new:
            self._note_pending(url, lease)
        return is_new

    def leave_out_duplicates(self, lease: Lease) -> None:
        """Ask the filters about links that were noted on a lease as plain URLs."""
        depth = lease.depth + 1
        for url in lease.links:
            if url in lease.reasons:
                continue
            if not self._is_duplicate(Request(wire_url(url), meta={"depth": depth})):
                self._note_pending(url, lease)
            elif not self._is_known(url, depth):
                lease.reasons[url] = _LEFT_OUT

    def _note_pending(self, url: str, lease: Lease) -> None:
        if len(self._pending) >= _MOST_PENDING:
            self._pending = {
                url: lease for url, lease in self._pending.items() if not lease.is_ended
            }
        self._pending[url] = lease

    def _is_duplicate(self, request: Request) -> bool:
        for one in self._filters:
            if one.request_seen(request):
                one.log(request, self._spider)
                return True
        if self._may_err and self._is_known(self._canonical.identity(request), _depth(request)):
            self._canonical.log(request, self._spider)
            return True
        return False

    def _is_known(self, url: str, depth: int) -> bool:
        is_duplicate = self._frontier.is_duplicate
        # Scrapy does not filter what a spider starts with, but that is no reason to ask again.
        if is_duplicate(url, depth) or is_duplicate(f"{url}#{START_MARK}", depth):
            return True
        lease = self._pending.get(url)
        return lease is not None and not lease.is_ended

    def _kept(self, request: Request) -> str | Request:
        """The request as text, or itself if it has to stay in memory."""
        if not self._is_lasting and requests.shares_objects(request):
            # A copy would not see what others write into the same object.
            return request
        text = requests.to_text(request, self._spider)
        if text is not None:
            return text
        self._crawler.stats.inc_value("scheduler/unserializable")
        if self._is_lasting and not self._has_unkept:
            self._has_unkept = True
            logger.warning(
                "%s can't be written down: its callback is no method of the spider, or its meta or "
                "cb_kwargs has an object without a form in JSON. It is skipped as 'request not "
                "kept' in a shared crawl, and in a crawl directory if this run ends before it is "
                "made (the first such request)",
                request,
            )
        return request

    # --- and back

    def make(self, lease: Lease) -> Request | None:
        """The request of a lease that a spider has made. None: it can't be made again."""
        try:
            request = self._stored(lease)
        except Exception as error:
            # An earlier run kept it, and the spider may have changed in any way since.
            logger.warning("The request for %s can't be made again: %s", lease.url, error)
            lease.skip = NOT_KEPT
            self._frontier.finish(lease)
            return None
        flags.restore(request.meta)
        if lease.is_again:
            for name, value in conditions(lease.etag, lease.last_modified).items():
                request.headers.setdefault(name, value)
        return request

    def _stored(self, lease: Lease) -> Request:
        """The request of a lease, for the URL that it is redirected to."""
        request: Any = lease.request
        if isinstance(request, str):
            request = requests.from_text(request, self._spider)
        if lease.hops or lease.fetch_url != lease.url:
            # It was redirected here, as a page: only then it has another URL than its lease.
            request = _redirected(request, wire_url(lease.fetch_url))
        return cast("Request", request)


def _depth(request: Request, default: int = 0) -> int:
    depth: int = request.meta.get("depth", default)
    return depth


def _redirected(request: Request, url: str) -> Request:
    """The request for another URL, without the credentials that are not for it."""
    if request.url == url:
        return request
    meta = dict(request.meta)
    # The frontier's spelling is the one that was meant.
    flags.set_flags(meta, "verbatim_url")
    # As Scrapy does: if cookies are on, the cookie jar has them by now, each with its host.
    target = request.replace(url=url, cookies=None, meta=meta)
    if _origin(request.url) != _origin(url):
        for name in _CREDENTIALS:
            target.headers.pop(name, None)
    return target


def _origin(url: str) -> str:
    try:
        return origin_of(canonicalize(url))
    except NotCrawlable:
        # It has no origin, and shares none.
        return url


def _mark(made_by: str | None) -> str:
    """What tells apart requests for the same URL, also those of different runs."""
    if made_by is None:
        return token_hex(8)
    return blake2b(made_by.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _is_retry(request: Request, url: str, lease: Lease) -> bool:
    """Whether a request is its lease's own, tried once more.

    Who copies the meta of a response or request copies its lease too: a redirect, or what a
    callback asks for next.
    """
    if lease.is_ended or request.meta.get("retry_times", 0) <= lease.attempts:
        return False
    # One that was not to be filtered has a number behind its URL.
    return lease.request is None or lease.url == url or lease.url.startswith(f"{url}#")


# What a URL ends with that ``start()`` has asked for.
START_MARK = _mark(FIRST_START)
