"""What a page's scripts ask for, fetched as the crawl fetches: by its client, with its limits.

Every request goes through the downloader, so that a team's middlewares see it, and is counted.
It has no turn of its own: the page has one, at its host, and one request of a page at a time
goes to any host. What is known of a host's robots.txt is obeyed; a host of which nothing is
known is not asked for one because of a script. Internal addresses are refused as for pages.

A script or style sheet is asked for once a crawl, while there is room to keep it, unless it
says ``no-store``: a site's pages share them.

Credentials (``fetching/origin_auth.py``) are sent for pages of their own origin only.

Meta keys written: those of ``politeness/asking.py``, ``without_credentials``. Stats:
``render/requests``, ``render/requests_spared``.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from crawlproject.failures import Verdict
from crawlproject.fetching.origin_auth import WITHOUT_CREDENTIALS
from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import TURN
from crawlproject.politeness.asking import MAX_REDIRECTS
from crawlproject.politeness.rules import RulesBook, RulesReader
from crawlproject.scope.internal import is_internal
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of, origin_of, wire_url
from crawlproject.urls.directives import product_token
from crawlproject.urls.location import location_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.scope.scope import Scope

# Bytes of scripts and style sheets that are kept, and the largest of them.
_SHELF_BYTES = 64 * 1024 * 1024
_LARGEST = 8 * 1024 * 1024
_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie"})


class Wish(NamedTuple):
    """What a page asks for."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    # Whether other pages will ask for the same.
    is_shared: bool = False
    # The page's own origin.
    origin: str = ""


class Shelf:
    """Answers that were asked for last, as far as there is room."""

    def __init__(self, most_bytes: int = _SHELF_BYTES, largest: int = _LARGEST) -> None:
        self._most_bytes = most_bytes
        self._largest = largest
        self._answers: OrderedDict[str, Response] = OrderedDict()
        self._bytes = 0

    def get(self, url: str) -> Response | None:
        answer = self._answers.get(url)
        if answer is not None:
            self._answers.move_to_end(url)
        return answer

    def put(self, url: str, answer: Response) -> None:
        says = b",".join(answer.headers.getlist("Cache-Control")).lower()
        if answer.status != 200 or b"no-store" in says or len(answer.body) > self._largest:
            return
        if url in self._answers:
            self._bytes -= len(self._answers.pop(url).body)
        self._answers[url] = answer
        self._bytes += len(answer.body)
        while self._bytes > self._most_bytes:
            self._bytes -= len(self._answers.popitem(last=False)[1].body)


def redirected(wish: Wish, url: str, target: str) -> Wish:
    """A redirect to another origin does not take a script's credentials there, as in a browser."""
    if origin_of(url) == origin_of(target):
        return wish
    headers = [pair for pair in wish.headers if pair[0].lower() not in _CREDENTIALS]
    return wish._replace(headers=tuple(headers))


def _place(wish: Wish) -> str:
    """Where an answer is kept: what a page got with credentials is for pages of its origin."""
    return wish.url if is_at_home(wish, wish.url) else f"other {wish.url}"


def is_at_home(wish: Wish, url: str) -> bool:
    try:
        return origin_of(canonicalize(url)) == wish.origin
    except (NotCrawlable, ValueError):
        return False


class Supply:
    def __init__(self, crawler: Crawler, *, token: str, obey: bool) -> None:
        self._crawler = crawler
        self._obey = obey
        self._reader = RulesReader(crawler, token)
        self._book = RulesBook()
        self._shelf = Shelf()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Supply:
        settings = crawler.settings
        return cls(
            crawler,
            token=settings["ROBOTSTXT_USER_AGENT"] or product_token(settings["USER_AGENT"]),
            obey=settings.getbool("ROBOTSTXT_OBEY"),
        )

    def kept(self, wish: Wish) -> Response | None:
        answer = self._shelf.get(_place(wish)) if wish.is_shared else None
        if answer is not None:
            self._crawler.stats.inc_value("render/requests_spared")
        return answer

    async def fetch(self, wish: Wish, seconds: float) -> Response:
        """The answer, after redirects. Raises Verdict for what may not be asked for."""
        answer = await self._ask(wish, wish.url, seconds)
        asked = wish
        for _ in range(MAX_REDIRECTS):
            location = location_of(answer)
            if location is None or wish.method != "GET":
                break
            target = _spelled(location, answer.url)
            # What was left out at one origin is not sent to the next.
            asked = redirected(asked, answer.url, target)
            answer = await self._ask(asked, target, seconds)
        if wish.is_shared:
            self._shelf.put(_place(wish), answer)
        return answer

    async def _ask(self, wish: Wish, url: str, seconds: float) -> Response:
        url = _spelled(url)
        canonical = canonicalize(url)
        self._refuse_internal(canonical)
        self._refuse_forbidden(canonical)
        meta = {
            TURN: frontier_of(self._crawler).host_of(canonical),
            "dont_retry": True,
            "download_timeout": seconds,
            "verbatim_url": True,
        }
        if not is_at_home(wish, canonical):
            # Or any page in scope could read what is behind the password.
            meta[WITHOUT_CREDENTIALS] = True
        request = Request(
            url,
            method=wish.method,
            headers=wish.headers,
            body=wish.body,
            callback=NO_CALLBACK,
            meta=meta,
            dont_filter=True,
        )
        self._crawler.stats.inc_value("render/requests")
        return await self._crawler.engine.download_async(request)

    def _refuse_internal(self, url: str) -> None:
        # The addresses of a name are judged when a connection is made.
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is None or not is_internal(host := host_of(url)):
            return
        # A seed that is internal is no reason to let a script look around in its network.
        if not scope.may_lead_inside(host) or not scope.has_host(host):
            raise Verdict("internal address")

    def _refuse_forbidden(self, url: str) -> None:
        if not self._obey:
            return
        origin = origin_of(url)
        rules = self._book.get(origin)
        if rules is None:
            robots = frontier_of(self._crawler).robots_of(origin)
            if robots is None or robots.error is not None:
                return
            rules = self._reader.read(origin, robots, robots.expires_at)
            self._book.put(origin, rules)
        if not rules.allow(url):
            raise Verdict("robots")


def _spelled(url: str, base: str | None = None) -> str:
    """The URL as it is sent. Raises Verdict."""
    try:
        return wire_url(url, base)
    except NotCrawlable:
        raise Verdict("no page") from None
