"""A fleet whose spider has rules of its own, behind a login."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.fleet import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SPIDER = """
from scrapy import FormRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule

from crawlproject.spiders.site import SiteSpider


class Shop(SiteSpider):
    name = "site"
    custom_settings = {"COOKIES_ENABLED": True}
    rules = (
        Rule(LinkExtractor(allow="/list")),
        Rule(LinkExtractor(allow="/item"), callback="parse_item"),
    )

    async def start(self):
        url = self.seeds[0] + "login"
        meta = {"every_run": True}
        yield FormRequest(url, formdata={"user": "me"}, callback=self.done, meta=meta)
        async for one in super().start():
            yield one

    def done(self, response):
        pass

    def parse_item(self, response):
        yield {"item": response.url.rpartition("/")[2]}
"""
PAGES: dict[str, Any] = {"/": {"links": ["/list/0"]}}
PAGES |= {
    f"/list/{number}": {
        "links": [*(f"/item/{number}{letter}" for letter in "abcdef"), f"/list/{number + 1}"]
    }
    for number in range(5)
}
LOGIN = {"path": "/login", "form": {"user": "me"}, "then": "/home"}
SITE = {"pages": {**PAGES, "/list/5": {}}, "default": {"body": "an item"}, "login": LOGIN}


def posts(server: Site) -> list[dict[str, Any]]:
    return [entry for entry in server.log() if entry["method"] == "POST"]


def test_workers_log_in_each_and_share_links_of_rules(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site({**SITE, "random_delay": [0.1, 0.3]})
    (tmp_path / "acme.py").write_text(SPIDER)
    options = ["-s", "SPIDER_MODULES=acme", "-a", f"seed={server.url()}"]
    options += ["-s", "FRONTIER_LEASE_SECONDS=2"]
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(2)
        fleet.until(lambda: len(posts(server)) == 2 and len(set(server.paths())) >= 6)
        # Another one takes its part.
        fleet.workers[0].kill()
        fleet.start(1)
        # On a busy machine the first may have ended before the second has logged in.
        assert set(fleet.finish()) == {0}
        sitemap = json.loads(fleet.workers[-1].output.read_text())
    log = server.log()
    logins = posts(server)
    assert len(logins) == 3
    # Nobody has asked for a page as a stranger.
    assert {entry["status"] for entry in log if entry not in logins} <= {200, 404, None}
    urls = [page["url"] for page in sitemap["pages"]]
    assert len(urls) == 37
    # Leases of the worker that was killed are fetched once more, and no others.
    assert len(log) - len(logins) <= 37 + 3 + 16
    depths = {page["url"].removeprefix(server.url("")): page["depth"] for page in sitemap["pages"]}
    assert depths["/item/4f"] == 6
