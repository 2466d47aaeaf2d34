"""Scope rules of a team's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.errors import BadArgument
from crawlproject.frontier.base import DEPTH, LASTING
from crawlproject.scope.rules import RESERVED
from crawlproject.spiders.arguments import apply
from tests.crawling import crawl_site, project_settings, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy.crawler import Crawler

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


class NoArchive:
    def __init__(self, word: str) -> None:
        self.word = word

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NoArchive:
        return cls(crawler.settings.get("ACME_WORD", "archive"))

    def reason(self, url: str) -> str | None:
        return self.word if "/archive/" in url else None


class Broken:
    def reason(self, url: str) -> str | None:
        if url.endswith("/b"):
            raise ValueError("a bug of the rule's")
        return None


class NoRule:
    pass


SITE = {
    "pages": {
        "/": {"links": ["/a", "/b", "/archive/1", "/moved"]},
        "/a": {},
        "/b": {},
        "/moved": {"redirect": "/archive/2"},
    }
}


@pytest.mark.parametrize(
    ("word", "reason", "rule"),
    [
        ("archive", "archive", f"{__name__}.NoArchive"),
        ("archive: since 2019", "archive", "since 2019"),
        ("no\narchive", "no archive", f"{__name__}.NoArchive"),
        ("nofollow", "own rule (nofollow)", f"{__name__}.NoArchive"),
    ],
)
@deferred_f_from_coro_f
async def test_what_a_rule_says_is_in_the_ledger_and_nothing_is_fetched(
    site: SiteFactory, word: str, reason: str, rule: str
) -> None:
    server = site(SITE)
    settings = {"SCOPE_RULES": [NoArchive], "ACME_WORD": word}
    crawled = await crawl_site(server.url(), settings)
    assert sorted(server.paths()) == ["/", "/a", "/b", "/moved"]
    skips = {skip.url: (skip.reason, skip.rule) for skip in crawled.frontier.skips()}
    assert skips[server.url("/archive/1")] == (reason, rule)
    # A redirect is judged like a link.
    assert skips[server.url("/archive/2")] == (reason, rule)


@deferred_f_from_coro_f
async def test_a_seed_is_never_judged(site: SiteFactory) -> None:
    server = site({"pages": {"/archive/1": {}}})
    await crawl_site(server.url("/archive/1"), {"SCOPE_RULES": [NoArchive]})
    assert server.paths() == ["/archive/1"]


@deferred_f_from_coro_f
async def test_a_rule_that_fails_lets_nothing_pass(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(SITE)
    crawled = await crawl_site(server.url(), {"SCOPE_RULES": [Broken]})
    assert "/b" not in server.paths()
    assert crawled.skipped() == {server.url("/b"): "rule failed"}
    assert crawled.pages[server.url()].error is None
    assert f"Broken can't judge {server.url('/b')}" in caplog.text


def test_rules_may_change_between_two_runs(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE | {"default": {}})
    (tmp_path / "acme.py").write_text(
        "class NoArchive:\n"
        "    def reason(self, url):\n"
        "        return 'archive' if '/archive/' in url else None\n"
    )
    crawl = ("crawl", "site", "-a", f"seed={server.url()}", "-s", "JOBDIR=job")
    done = scrapy(*crawl, "-s", "SCOPE_RULES=acme.NoArchive", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2  archive" in done.stderr
    ledger = scrapy("skipped", "job", "--json", cwd=tmp_path).stdout.splitlines()
    assert {json.loads(line)["rule"] for line in ledger} == {"acme.NoArchive"}
    assert "It was skipped: archive" in scrapy("why", "/archive/1", "job", cwd=tmp_path).stdout
    done = scrapy(*crawl, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(server.paths()) == [
        *("/", "/a", "/archive/1", "/archive/2", "/b", "/moved", "/sitemap.xml")
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("nowhere.Rule", "can't load 'nowhere.Rule'"),
        ("Rule", "can't load 'Rule'"),
        (f"{__name__}.NoRule", "has no method reason"),
        ([3], "can't load 3"),
    ],
)
def test_what_is_no_rule_is_told(value: object, problem: str) -> None:
    settings = project_settings({"SCOPE_RULES": value})
    with pytest.raises(BadArgument, match=problem):
        apply({"seed": "http://x.example/"}, settings)


def test_no_rule_can_use_the_words_of_the_frontier() -> None:
    assert set(RESERVED) == {DEPTH, *LASTING}
