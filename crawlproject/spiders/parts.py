"""The parts of the site spider, as the settings ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.spidermiddlewares.referer import RefererMiddleware

from crawlproject.pages.content import Reach
from crawlproject.pages.read import PageReader
from crawlproject.scope.rules import rules_from
from crawlproject.scope.scope import Mode, Scope
from crawlproject.scope.traps import Traps
from crawlproject.spiders.redirects import Redirects
from crawlproject.urls.directives import product_token
from crawlproject.urls.link_bounds import LinkBounds

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.spidermiddlewares.referer import ReferrerPolicy

    from crawlproject.items import Page
    from crawlproject.urls.canonical import Canonicalizer


def scope_from(crawler: Crawler, settings: BaseSettings, seeds: list[str]) -> Scope:
    return Scope(
        seeds,
        mode=Mode(settings["SCOPE_MODE"]),
        # Scrapy's name for the same stands beside it.
        allow=[
            *settings.getlist("SCOPE_ALLOW"),
            *(getattr(crawler.spidercls, "allowed_domains", None) or ()),
        ],
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


def bounds_from(settings: BaseSettings) -> LinkBounds:
    return LinkBounds(
        settings.getint("URLLENGTH_LIMIT"), settings.getint("URLS_MAX_LINK_CHARACTERS")
    )


def token_from(settings: BaseSettings) -> str:
    """The name by which a site may address the crawler."""
    return str(settings["ROBOTSTXT_USER_AGENT"] or product_token(settings["USER_AGENT"]))


def reader_from(
    settings: BaseSettings, canonicalize: Canonicalizer, page_class: type[Page]
) -> PageReader:
    return PageReader(
        canonicalize,
        token=token_from(settings),
        reach=Reach(
            heading_levels=settings.getint("PAGES_HEADING_LEVELS"),
            media=settings.getbool("PAGES_MEDIA"),
        ),
        structured=settings.getlist("PAGES_STRUCTURED_DATA"),
        keeps_text=settings.getbool("PAGES_TEXT"),
        is_sparing=not settings.getbool("PAGES_CONTENT"),
        page_class=page_class,
    )


def referrer_policy_from(settings: BaseSettings) -> ReferrerPolicy | None:
    """What is told to a site of the page that links to it; None: nothing."""
    if not settings.getbool("REFERER_ENABLED"):
        return None
    return RefererMiddleware(settings).default_policy()


def redirects_from(settings: BaseSettings, canonicalize: Canonicalizer, scope: Scope) -> Redirects:
    return Redirects(
        canonicalize,
        scope,
        max_times=settings.getint("REDIRECT_MAX_TIMES"),
        seeds_widen_scope=settings.getbool("SCOPE_FOLLOW_SEED_REDIRECTS"),
        keeps_cookies=settings.getbool("COOKIES_ENABLED"),
    )
