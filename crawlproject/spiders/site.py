"""The spider that crawls a site: arguments, rules, callbacks."""

from __future__ import annotations

import logging
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.log import failure_to_exc_info

from crawlproject.errors import BadArgument, BadInput
from crawlproject.failures import NotNow, Verdict, error_of, is_bug
from crawlproject.fetching.guard import guard_of
from crawlproject.frontier.base import LEASE, Candidate
from crawlproject.frontier.configuration import check_subclass, has_own_filter, refuse
from crawlproject.frontier.engine import scheduler_of
from crawlproject.frontier.entry import address_of
from crawlproject.frontier.flags import set_flags
from crawlproject.frontier.opening import keeps_visits
from crawlproject.frontier.time_cap import time_cap_of
from crawlproject.items import Content, Page
from crawlproject.pages.read import answer_of, is_readable, page_of
from crawlproject.pipelines.stored import stored_answer
from crawlproject.records import record_of
from crawlproject.recrawl.headers import conditions
from crawlproject.scope.scope import OFFSITE
from crawlproject.spiders import arguments, resume
from crawlproject.spiders.own_arguments import check_required, declared_arguments
from crawlproject.spiders.page_links import PageLinks
from crawlproject.spiders.parts import (
    bounds_from,
    reader_from,
    redirects_from,
    referrer_policy_from,
    scope_from,
    token_from,
)
from crawlproject.spiders.rules import RuleSpider
from crawlproject.spiders.seeds import canonical_seeds
from crawlproject.spiders.sitemaps import ALWAYS, Bounds, Sitemaps, are_wanted, is_sitemap
from crawlproject.spiders.visiting import note_visit
from crawlproject.urls.canonical import host_of, origin_of, wire_url
from crawlproject.urls.fingerprint import canonicalizer_from
from crawlproject.urls.links import FastLinkExtractor
from crawlproject.urls.location import location_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spidermiddlewares.referer import ReferrerPolicy
    from twisted.python.failure import Failure

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.time_cap import TimeCap
    from crawlproject.pages.read import PageReader
    from crawlproject.scope.scope import Scope
    from crawlproject.spiders.redirects import Redirects
    from crawlproject.urls.canonical import Canonicalizer
    from crawlproject.urls.link_bounds import LinkBounds

logger = logging.getLogger(__name__)

# Of requests of pages, which copy it: their spelling and redirects are the frontier's.
_PAGE_META: dict[str, Any] = {}
set_flags(_PAGE_META, "verbatim_url", "dont_redirect")


_WITHOUT_SETTINGS = (
    "is a SiteSpider, which needs all settings of crawlproject: begin your settings with `from "
    "crawlproject.settings import *`, without crawlproject.Addon"
)


class SiteSpider(RuleSpider):
    """Crawls the sites of its seeds and yields a Page for every URL it tried.

    With these ``rules`` links go to the frontier as plain URLs. A subclass with others follows
    links as CrawlSpider does (``rules.py``).
    """

    name = "site"
    # A subclass of Page may have further fields, each with a default.
    page_class: type[Page] = Page
    # Scrapy's annotation names its own extractor; its code calls extract_links() only.
    rules: Sequence[Rule] = (Rule(cast("LinkExtractor", FastLinkExtractor()), follow=True),)

    def __init__(
        self,
        *,
        seeds: list[str],
        scope: Scope,
        canonicalize: Canonicalizer,
        link_rels: list[str],
        token: str,
        respects_nofollow: bool,
        redirects: Redirects,
        sitemaps: Sitemaps,
        reader: PageReader,
        bounds: LinkBounds,
        keeps_visits: bool = False,
        keeps_hashes: bool = False,
        referrer_policy: ReferrerPolicy | None = None,
        **kwargs: Any,
    ) -> None:
        self._complete_extractor = partial(
            FastLinkExtractor.completed,
            canonicalizer=canonicalize,
            link_rels=link_rels,
            token=token,
            bounds=bounds,
        )
        super().__init__(**kwargs)
        self.seeds = seeds
        self.scope = scope
        self.canonicalize = canonicalize
        self._token = token
        self._links = PageLinks(scope, bounds, respects_nofollow=respects_nofollow)
        self._redirects = redirects
        self._sitemaps = sitemaps
        self._reader = reader
        # Whether anybody comes back, and whether it is noted here what pages are compared by then.
        self._keeps_visits = keeps_visits
        self._keeps_hashes = keeps_hashes
        self._referrer_policy = referrer_policy
        self._deepest = -1
        # Whether links become requests, as in CrawlSpider, and not plain URLs.
        self._follows_by_requests = False
        # Why seeds were not fetched.
        self.seed_failures: dict[str, str] = {}
        self.has_fetched_a_seed = False

    @classmethod
    def check_arguments(cls, given: dict[str, str], settings: BaseSettings) -> None:
        """Raise BadArgument for what would be wrong, before a crawl is set up."""
        cls._use_start_urls(given, settings)
        cls._apply(given, settings)
        check_subclass(settings, "SCHEDULER", "DOWNLOADER")

    @classmethod
    def _use_start_urls(cls, given: dict[str, str], settings: BaseSettings) -> None:
        """``start_urls`` of a spider are its seeds, where none are given."""
        urls = getattr(cls, "start_urls", None)
        is_given = given.keys() & {"seed", "seeds_file"} or settings["SEEDS_FILE"]
        if urls and not is_given and not settings["SEEDS"]:
            settings.set("SEEDS", list(urls), priority="spider")

    @classmethod
    def _apply(
        cls, given: dict[str, Any], settings: BaseSettings
    ) -> tuple[list[str], dict[str, Any]]:
        """The seeds, and the arguments of a subclass's own."""
        if cls is SiteSpider:
            return arguments.apply(given, settings), {}
        declared = declared_arguments(cls, SiteSpider)
        seeds = arguments.apply(given, settings, declared)
        check_required(cls, SiteSpider, given)
        return seeds, {name: value for name, value in given.items() if name in declared}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        # Scrapy's shell freezes them before it makes a spider; they were checked before that.
        given: BaseSettings = crawler.settings
        settings = BaseSettings(given) if given.frozen else given
        if not arguments.are_known(settings):
            # An exception would be a traceback.
            refuse(crawler, BadInput(f"{cls.__name__} {_WITHOUT_SETTINGS}"))
            return cast("SiteSpider", Spider(cls.name))
        cls._use_start_urls(kwargs, settings)
        seeds, own = cls._apply(kwargs, settings)
        scope = scope_from(crawler, settings, seeds)
        canonicalize = canonicalizer_from(settings)
        sitemaps = Sitemaps(
            canonicalize,
            scope,
            Bounds.from_settings(settings),
            crawler,
            are_wanted=are_wanted(settings),
        )
        spider = super().from_crawler(
            crawler,
            seeds=seeds,
            scope=scope,
            canonicalize=canonicalize,
            link_rels=settings.getlist("URLS_LINK_RELS"),
            token=token_from(settings),
            bounds=bounds_from(settings),
            respects_nofollow=settings.getbool("URLS_RESPECT_NOFOLLOW"),
            keeps_visits=keeps_visits(settings),
            keeps_hashes=keeps_visits(settings) and not settings.getbool("DUPLICATES_ENABLED"),
            reader=reader_from(settings, canonicalize, cls.page_class),
            redirects=redirects_from(settings, canonicalize, scope),
            sitemaps=sitemaps,
            referrer_policy=referrer_policy_from(settings),
            **own,
        )
        assert isinstance(spider, cls)
        if spider.has_own_rules and settings["SITEMAPS_MODE"] != ALWAYS:
            # What they name was found by no rule.
            sitemaps.are_wanted = False
        # A dupe filter of the project's own is asked about requests.
        spider._follows_by_requests = spider.has_own_rules or has_own_filter(settings)
        if cls.find_links is SiteSpider.find_links:
            return spider
        if not spider.has_own_rules and spider._follows_by_requests:
            raise BadArgument(
                "DUPEFILTER_CLASS",
                f"it would not be asked about the links that find_links() of {cls.__name__} finds: "
                "leave it out (or REQUEST_FINGERPRINTER_CLASS), or find links by rules",
            )
        if spider.has_own_rules:
            raise BadArgument(
                "rules",
                f"{cls.__name__} has rules, which find its links, and find_links(), which would "
                "not be called: leave out one of them",
            )
        return spider

    def _compile_rules(self) -> None:
        super()._compile_rules()
        for rule in self._rules:
            extractor: object = rule.link_extractor
            if isinstance(extractor, FastLinkExtractor):
                rule.link_extractor = cast("LinkExtractor", self._complete_extractor(extractor))

    @property
    def has_own_rules(self) -> bool:
        """Whether a subclass has rules: then links are followed as CrawlSpider does."""
        return self.rules is not SiteSpider.rules

    def seed_of(self, url: str) -> str:
        """A seed that came later, as it is crawled. Raises BadArgument."""
        (seed,) = canonical_seeds("seed", [url], self.canonicalize)
        # Before that, the connection is where it is refused.
        if self.scope.is_decided and self.scope.refuses_host(host_of(seed)):
            raise BadArgument("seed", f"{url!r} is an internal address, as no first seed is")
        return seed

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
        headers = conditions(lease.etag, lease.last_modified) if lease.is_again else {}
        if is_sitemap(lease):
            return self._sitemaps.request(lease, self.parse_sitemap, self.sitemap_failed, headers)
        policy = self._referrer_policy
        # Scrapy's middleware sets it for requests that spiders yield.
        if policy and lease.referrer and (referrer := policy.referrer(lease.referrer, url)):
            headers[b"Referer"] = [referrer.encode()]
        return Request(url, errback=self.page_failed, meta=_PAGE_META, headers=headers)

    def robots_known(self, origin: str, robots: bytes | None) -> None:
        """What the robots.txt of an origin says; None: there is none."""
        self._sitemaps.look_at(origin, robots, self.frontier)

    def parse_sitemap(self, response: Response) -> None:
        lease: Lease = response.meta[LEASE]
        if not self._keeps_visits or note_visit(lease, response):
            self._sitemaps.read(response, lease)
            if has_own_filter(self.crawler.settings):
                scheduler_of(self.crawler).leave_out_duplicates(lease)

    def sitemap_failed(self, failure: Failure) -> None:
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]
        if isinstance(failure.value, NotNow):
            return
        _log_bug(failure, lease)
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
        lease: Lease | None = response.meta.get(LEASE)
        if lease is None:
            # It was fetched for another purpose than its page: a login.
            async for result in super().parse_with_rules(response, callback, cb_kwargs, False):
                yield result
            return
        if self._keeps_visits and not note_visit(lease, response):
            # There is no body, and nothing to read: page and links stay.
            self.crawler.stats.inc_value("recrawl/unchanged")
            return
        if location_of(response) is not None:
            for page in self._parse_redirect(response, lease):
                yield page
            return
        problem: Exception | None = None
        requests: list[Request] = []
        try:
            if self._follows_by_requests:
                page, requests, problem = self._read_by_rules(response, lease, follow)
            else:
                page = await self._read(response, lease)
            self._links.count_left_out(response, page, self.crawler.stats)
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
        # Links before the page: they are finished together, when the page is through.
        for request in requests:
            yield request
        yield self._report(page, lease)
        if problem is not None:
            # Of the spider's own code: Scrapy reports it.
            raise problem
        if self.has_own_rules and self.is_for_errback(response):
            for result in self.rule_errback(response):
                yield result
        elif self._may_yield(callback) and not self.is_http_error(response):
            results = super().parse_with_rules(response, callback, cb_kwargs, follow=False)
            async for result in results:
                yield result

    async def _read(self, response: Response, lease: Lease) -> Page:
        """A page and its links, as plain URLs."""
        cap, meta, found = self._time_cap, response.meta, None
        if is_readable(response) and type(self).find_links is not SiteSpider.find_links:
            # It may wait for something.
            found = await cap.wait(meta, self.find_links(response))
        stats = self.crawler.stats
        links, reasons = cap.run(meta, self._links_of, response, lease.url, found)
        lease.links = list(links)
        lease.reasons = self._links.reasons(links, reasons, self.frontier, cap, meta, stats)
        return cap.run(meta, self._reader.read, response, lease, list(links), stats)

    def _read_by_rules(
        self, response: Response, lease: Lease, follow: bool
    ) -> tuple[Page, list[Request], Exception | None]:
        """A page, the requests that the rules make of its links, and what they have raised."""
        cap, meta = self._time_cap, response.meta
        requests: list[Request] = []
        problem = None
        if follow and self._follow_links and is_readable(response):
            try:
                found = cap.run(meta, self.follow, response)
                requests = self._links.bounded(response, lease.url, found)
            except (NotNow, Verdict):
                raise
            except Exception as error:
                problem = error
        urls = [request.url for request in requests]
        page = cap.run(meta, self._reader.read, response, lease, urls, self.crawler.stats)
        # The scheduler puts them there, as far as middlewares let them pass.
        page.links = lease.links
        return page, requests, problem

    def _may_yield(self, callback: Any) -> bool:
        """Whether a callback, or what is made of its results, is a team's own."""
        is_scrapys = getattr(callback, "__func__", callback) is CrawlSpider.parse_start_url
        return not is_scrapys or type(self).process_results is not CrawlSpider.process_results

    async def find_links(self, response: Response) -> dict[str, bool]:
        """Where an HTML page links to, in page order, and whether not to follow."""
        return self._find_links(response)

    def _find_links(self, response: Response) -> dict[str, bool]:
        (rule,) = self._rules
        return cast("FastLinkExtractor", rule.link_extractor).addresses(response)

    def _links_of(
        self, response: Response, page: str, found: dict[str, bool] | None
    ) -> tuple[dict[str, bool], dict[str, str]]:
        """The links of a page, and why some are not in scope on this page."""
        if found is None:
            found = self._find_links(response) if is_readable(response) else {}
        return self._links.on_page(response, page, found)

    def page_failed(self, failure: Failure) -> Iterator[Page]:
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]
        assert failure.value is not None
        if isinstance(failure.value, NotNow):
            return
        _log_bug(failure, lease)
        if self._keeps_visits:
            note_visit(lease, None)
        yield self._failed(lease, failure.value)

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
        page = answer_of(response, lease, self.page_class)
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
        page = page_of(lease, self.page_class)
        page.error = error_of(error)
        return self._report(page, lease)

    def _report(self, page: Page, lease: Lease) -> Page:
        lease.failed = page.error is not None
        lease.is_reported = True
        if page.depth > self._deepest:
            self._deepest = page.depth
            # Scrapy's name: links are requests elsewhere.
            self.crawler.stats.max_value("request_depth_max", page.depth)
        if page.depth == 0:
            if page.error is None:
                self.has_fetched_a_seed = True
                self.crawler.stats.inc_value("spider/seeds_fetched")
            else:
                self.crawler.stats.inc_value("spider/seeds_failed")
                self.seed_failures[page.url] = page.error
        return page


def _log_bug(failure: Failure, lease: Lease) -> None:
    """Log what a user's middleware has raised, as Scrapy does where a request has no errback."""
    if failure.value is not None and is_bug(failure.value):
        logger.error(
            "Error downloading %s", address_of(lease.url), exc_info=failure_to_exc_info(failure)
        )
