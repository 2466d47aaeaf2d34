"""The spider that crawls a site: arguments, rules, callbacks."""

from __future__ import annotations

import logging
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.misc import load_object

from crawlproject.errors import BadArgument
from crawlproject.failures import NotNow, Verdict, error_of
from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE, NOFOLLOW, Candidate
from crawlproject.frontier.opening import keeps_visits
from crawlproject.frontier.scheduler import FrontierScheduler
from crawlproject.frontier.time_cap import time_cap_of
from crawlproject.items import Content
from crawlproject.pages.content import Reach
from crawlproject.pages.read import PageReader, answer_of, is_readable, page_of
from crawlproject.pipelines.stored import stored_answer
from crawlproject.politeness.guard import guard_of
from crawlproject.records import record_of
from crawlproject.recrawl.headers import conditions
from crawlproject.scope.rules import rules_from
from crawlproject.scope.scope import OFFSITE, Mode, Scope
from crawlproject.scope.traps import Traps
from crawlproject.spiders import arguments, resume
from crawlproject.spiders.redirects import Redirects
from crawlproject.spiders.seeds import canonical_seeds
from crawlproject.spiders.sitemaps import Bounds, Sitemaps, are_wanted, is_sitemap
from crawlproject.spiders.visiting import note_visit
from crawlproject.urls.canonical import host_of, origin_of, wire_url
from crawlproject.urls.directives import product_token
from crawlproject.urls.document import reading_of
from crawlproject.urls.fingerprint import canonicalizer_from
from crawlproject.urls.link_bounds import LinkBounds
from crawlproject.urls.links import FastLinkExtractor
from crawlproject.urls.location import location_of
from crawlproject.urls.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import HtmlResponse, Response
    from scrapy.link import Link
    from scrapy.linkextractors import LinkExtractor
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from crawlproject.frontier.base import Frontier, Lease
    from crawlproject.frontier.time_cap import TimeCap
    from crawlproject.items import Page

    ProcessLinks = Callable[[list[Link]], list[Link]]

logger = logging.getLogger(__name__)


class SiteSpider(CrawlSpider):
    """Crawls the sites of its seeds and yields a Page for every URL it tried."""

    name = "site"

    def __init__(
        self,
        *,
        seeds: list[str],
        scope: Scope,
        extractor: FastLinkExtractor,
        canonicalize: Callable[..., str],
        respects_nofollow: bool,
        redirects: Redirects,
        sitemaps: Sitemaps,
        reader: PageReader,
        bounds: LinkBounds | None = None,
        keeps_visits: bool = False,
        keeps_hashes: bool = False,
        **kwargs: Any,
    ) -> None:
        # Scrapy's annotation names one extractor; its code asks for extract_links() only.
        links = cast("LinkExtractor", extractor)
        self.rules = (Rule(links, follow=True, process_links="admit_links"),)
        super().__init__(**kwargs)
        self.seeds = seeds
        self.scope = scope
        self.canonicalize = canonicalize
        self._respects_nofollow = respects_nofollow
        self._extractor = extractor
        self._redirects = redirects
        self._sitemaps = sitemaps
        self._reader = reader
        self._bounds = bounds or LinkBounds()
        self._has_told_of_left_out = False
        # Whether anybody comes back, and whether it is noted here what pages are compared by then.
        self._keeps_visits = keeps_visits
        self._keeps_hashes = keeps_hashes
        self._sessions = Sessions()
        # The links of the response in hand: a rule's process_links is told nothing else.
        self._links: list[Link] = []
        # Why seeds were not fetched.
        self.seed_failures: dict[str, str] = {}

    @classmethod
    def check_arguments(cls, given: dict[str, str], settings: BaseSettings) -> None:
        """Raise BadArgument for what would be wrong, before a crawl is set up."""
        arguments.apply(given, settings)
        # Scrapy's schedulers are all subclasses of each other, by the names of their methods.
        if FrontierScheduler not in load_object(settings["SCHEDULER"]).__mro__:
            raise BadArgument(
                "SCHEDULER",
                f"{settings['SCHEDULER']!r} knows no frontier, and this spider needs one: leave it "
                "out, or use a subclass of crawlproject.frontier.scheduler.FrontierScheduler",
            )

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        settings = crawler.settings
        seeds = arguments.apply(kwargs, settings)
        scope = Scope(
            seeds,
            mode=Mode(settings["SCOPE_MODE"]),
            allow=settings.getlist("SCOPE_ALLOW"),
            include=settings.getlist("SCOPE_INCLUDE"),
            exclude=settings.getlist("SCOPE_EXCLUDE"),
            max_url_length=settings.getint("URLLENGTH_LIMIT"),
            internal_seeds=settings.getbool("SCOPE_INTERNAL_SEEDS"),
            rules=rules_from(crawler),
            traps=Traps(
                max_repeated_segments=settings.getint("SCOPE_MAX_REPEATED_SEGMENTS"),
                max_query_params=settings.getint("SCOPE_MAX_QUERY_PARAMS"),
                max_pages_per_host=settings.getint("SCOPE_MAX_PAGES_PER_HOST"),
                max_pages_per_prefix=settings.getint("SCOPE_MAX_PAGES_PER_PREFIX"),
            ),
        )
        canonicalize = canonicalizer_from(settings)
        bounds = LinkBounds(
            settings.getint("URLLENGTH_LIMIT"), settings.getint("URLS_MAX_LINK_CHARACTERS")
        )
        token = settings["ROBOTSTXT_USER_AGENT"] or product_token(settings["USER_AGENT"])
        spider = super().from_crawler(
            crawler,
            seeds=seeds,
            scope=scope,
            canonicalize=canonicalize,
            extractor=FastLinkExtractor(
                canonicalizer=canonicalize,
                link_rels=settings.getlist("URLS_LINK_RELS"),
                token=token,
                bounds=bounds,
            ),
            bounds=bounds,
            respects_nofollow=settings.getbool("URLS_RESPECT_NOFOLLOW"),
            keeps_visits=keeps_visits(settings),
            keeps_hashes=keeps_visits(settings) and not settings.getbool("DUPLICATES_ENABLED"),
            reader=PageReader(
                canonicalize,
                token=token,
                reach=Reach(
                    heading_levels=settings.getint("PAGES_HEADING_LEVELS"),
                    media=settings.getbool("PAGES_MEDIA"),
                ),
                structured=settings.getlist("PAGES_STRUCTURED_DATA"),
                keeps_text=settings.getbool("PAGES_TEXT"),
                is_sparing=not settings.getbool("PAGES_CONTENT"),
            ),
            redirects=Redirects(
                canonicalize,
                scope,
                max_times=settings.getint("REDIRECT_MAX_TIMES"),
                seeds_widen_scope=settings.getbool("SCOPE_FOLLOW_SEED_REDIRECTS"),
            ),
            sitemaps=Sitemaps(
                canonicalize,
                scope,
                Bounds.from_settings(settings),
                crawler,
                are_wanted=are_wanted(settings),
            ),
        )
        assert isinstance(spider, cls)
        return spider

    def seed_of(self, url: str) -> str:
        """A seed that came later, as it is crawled. Raises BadArgument."""
        (seed,) = canonical_seeds("seed", [url], self.canonicalize)
        # Before that, the connection is where it is refused.
        if self.scope.is_decided and self.scope.refuses_host(host_of(seed)):
            raise BadArgument("seed", f"{url!r} is an internal address, as no first seed is")
        return seed

    @cached_property
    def frontier(self) -> Frontier:
        return frontier_of(self.crawler)

    @cached_property
    def _time_cap(self) -> TimeCap:
        return time_cap_of(self.crawler)

    async def start(self) -> AsyncIterator[Any]:
        settings, stats = self.crawler.settings, self.crawler.stats
        if resume.has_begun(self.frontier):
            # What is queued is judged again, by a scope that has to be known.
            await self._decide_inside()
            resume.begin(self.frontier, self.scope, self.seeds, settings, stats)
        else:
            resume.begin(self.frontier, self.scope, self.seeds, settings, stats)
            await self._decide_inside()
        if not settings.getbool("ROBOTSTXT_OBEY"):
            # Nobody asks for it, but there may be sitemaps.
            for seed in self.seeds:
                self.robots_known(origin_of(seed), None)
        return
        yield  # an asynchronous generator is what Scrapy expects

    async def _decide_inside(self) -> None:
        """Find out whether this is the crawl of a private network, before anything is judged."""
        guard, engine = guard_of(self.crawler), self.crawler.engine
        if guard is None or self.scope.is_decided:
            return
        # Nothing is fetched meanwhile.
        engine.pause()
        try:
            await guard.decide()
        finally:
            engine.unpause()

    def request_for(self, lease: Lease) -> Request:
        # Another spelling comes from a redirect, or from a file that an older version wrote.
        url = lease.url if lease.fetch_url == lease.url else wire_url(lease.fetch_url)
        headers = conditions(lease.etag, lease.last_modified) if lease.is_again else None
        if is_sitemap(lease):
            return self._sitemaps.request(lease, self.parse_sitemap, self.sitemap_failed, headers)
        meta = {"verbatim_url": True}
        return Request(url, errback=self.page_failed, meta=meta, headers=headers)

    def robots_known(self, origin: str, robots: bytes | None) -> None:
        """What the robots.txt of an origin says; None: there is none."""
        self._sitemaps.look_at(origin, robots, self.frontier)

    def parse_sitemap(self, response: Response) -> None:
        lease: Lease = response.meta[LEASE]
        if not self._keeps_visits or note_visit(lease, response):
            self._sitemaps.read(response, lease)

    def sitemap_failed(self, failure: Failure) -> None:
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]
        if isinstance(failure.value, NotNow):
            return
        lease.failed = lease.is_reported = True
        if self._keeps_visits:
            note_visit(lease, None)
        self.crawler.stats.inc_value("sitemaps/failed")

    async def parse_with_rules(
        self,
        response: Response,
        callback: Any,
        cb_kwargs: dict[str, Any],
        follow: bool = True,
    ) -> AsyncIterator[Any]:
        lease: Lease = response.meta[LEASE]
        if self._keeps_visits and not note_visit(lease, response):
            # There is no body, and nothing to read: page and links stay.
            self.crawler.stats.inc_value("recrawl/unchanged")
            return
        if location_of(response) is not None:
            for page in self._parse_redirect(response, lease):
                yield page
            return
        try:
            cap, meta, found = self._time_cap, response.meta, None
            if is_readable(response) and type(self).find_links is not SiteSpider.find_links:
                # It may wait for something.
                found = await cap.wait(meta, self.find_links(response))
            links, reasons = cap.run(meta, self._links_of, response, lease.url, found)
            # Links before the page: they are finished together, when the page is through.
            lease.links = list(links)
            lease.reasons = self._reasons(links, reasons, meta)
            stats = self.crawler.stats
            page = cap.run(meta, self._reader.read, response, lease, list(links), stats)
            self._count_left_out(response, page)
        except NotNow:
            return
        except Exception as error:
            # Whatever a site sends, it costs one page at most.
            if not isinstance(error, Verdict):
                logger.warning("%s can't be read: %s", lease.url, error)
                logger.debug("Reading %s failed", lease.url, exc_info=True)
            yield self._failed(lease, error)
            return
        if self._keeps_hashes and page.error is None and response.body:
            page.content = Content(sha256(response.body).digest())
        yield self._report(page, lease)
        if self._may_yield(callback):
            results = super().parse_with_rules(response, callback, cb_kwargs, follow=False)
            async for result in results:
                yield result

    def _may_yield(self, callback: Any) -> bool:
        """Whether a callback, or what is made of its results, is a team's own."""
        is_scrapys = getattr(callback, "__func__", callback) is CrawlSpider.parse_start_url
        return not is_scrapys or type(self).process_results is not CrawlSpider.process_results

    async def find_links(self, response: Response) -> dict[str, bool]:
        """Where an HTML page links to, in page order, and whether not to follow."""
        return self._find_links(response)

    def _find_links(self, response: Response) -> dict[str, bool]:
        extractors: list[Any] = [rule.link_extractor for rule in self._rules]
        if type(self).admit_links is SiteSpider.admit_links and extractors == [self._extractor]:
            return self._extractor.addresses(response)
        self._links = []
        for rule in self._rules:
            links = rule.link_extractor.extract_links(cast("HtmlResponse", response))
            cast("ProcessLinks", rule.process_links)(links)
        return self._fitting(response, {link.url: link.nofollow for link in self._links})

    def _fitting(self, response: Response, links: dict[str, bool]) -> dict[str, bool]:
        """Of links that another extractor has found, or that were changed, those that fit."""
        room = self._bounds.room()
        if (before := reading_of(response).room) is not None:
            room.too_long, room.beyond = before.too_long, before.beyond
        reading_of(response).room = room
        return self._bounds.fitting(links, room)

    def _count_left_out(self, response: Response, page: Page) -> None:
        room = reading_of(response).room
        if room is None or not room.left_out:
            return
        page.links_left_out = room.left_out
        self.crawler.stats.inc_value("links/left_out/too_long", room.too_long)
        self.crawler.stats.inc_value("links/left_out/page_limit", room.beyond)
        if not self._has_told_of_left_out:
            self._has_told_of_left_out = True
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

    def _links_of(
        self, response: Response, page: str, found: dict[str, bool] | None
    ) -> tuple[dict[str, bool], dict[str, str]]:
        """The links of a page, and why some are not in scope on this page."""
        if found is None:
            found = self._find_links(response) if is_readable(response) else {}
        links = self._with_session(response, page, found)
        return links, self.scope.reasons_on(page, links)

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

    def admit_links(self, links: list[Link]) -> list[Link]:
        """Keep the links for the frontier. None becomes a Request: it makes them when due."""
        self._links += links
        return []

    def page_failed(self, failure: Failure) -> Iterator[Page]:
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]
        assert failure.value is not None
        if isinstance(failure.value, NotNow):
            return
        if self._keeps_visits:
            note_visit(lease, None)
        yield self._failed(lease, failure.value)

    def _reasons(
        self, links: dict[str, bool], reasons: dict[str, str], meta: dict[str, Any]
    ) -> dict[str, str]:
        """Which links of a page may not enter, and why."""
        # Few pages have one, and to look at each link takes its time.
        if self._respects_nofollow and True in links.values():
            reasons.update({url: NOFOLLOW for url, nofollow in links.items() if nofollow})
        # What is known was let in before; what is not in scope is so on any page.
        unknown = self.frontier.unknown(links)
        if links:
            self.crawler.stats.inc_value("links/found", len(links))
            self.crawler.stats.inc_value("links/known", len(links) - len(unknown))
        if unknown:
            reasons.update(self._time_cap.run(meta, self.scope.reasons, unknown))
        return reasons

    def _parse_redirect(self, response: Response, lease: Lease) -> Iterator[Page]:
        try:
            # The target is judged by patterns and rules of the user's own.
            outcome = self._time_cap.run(response.meta, self._redirects.judge, response, lease)
        except NotNow:
            return
        except Verdict as error:
            yield self._failed(lease, error)
            return
        if outcome.widened:
            assert outcome.target is not None
            resume.keep_widened(self.frontier, host_of(outcome.target))
            admitted = self.frontier.reconsider(OFFSITE, self.scope.reason)
            logger.info(
                "The seed %s redirects to %s, which is in scope now (%d URLs found before)",
                lease.url,
                outcome.target,
                admitted,
            )
        if outcome.again is not None:
            lease.bounces += 1
            lease.is_ended = True
            self.frontier.release(lease, until=0, fetch_url=outcome.again)
            return
        page = answer_of(response, lease)
        page.error = outcome.error
        if outcome.follow:
            lease.redirect = outcome.target
            # What is not known need not be kept; that it took no time is known.
            lease.redirect_answer = {
                name: value
                for name, value in record_of(page).items()
                if value or (name == "fetch_ms" and value is not None)
            }
            # An output may have switched it on after the spider was made.
            if self.crawler.settings.getbool("STORE_BODIES"):
                # It passes no pipeline: its headers are kept, and nobody reads its body.
                lease.stored = stored_answer(page, response)
            return
        if outcome.target is not None:
            page.links = [outcome.target]
            lease.found = [Candidate(outcome.target, outcome.reason)]
        yield self._report(page, lease)

    def _failed(self, lease: Lease, error: BaseException) -> Page:
        page = page_of(lease)
        page.error = error_of(error)
        return self._report(page, lease)

    def _report(self, page: Page, lease: Lease) -> Page:
        lease.failed = page.error is not None
        lease.is_reported = True
        if page.depth == 0:
            if page.error is None:
                self.crawler.stats.inc_value("spider/seeds_fetched")
            else:
                self.crawler.stats.inc_value("spider/seeds_failed")
                self.seed_failures[page.url] = page.error
        return page
