"""Requests that a spider makes itself: each ends once, whatever becomes of it."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy import Field, Item, Request, Spider, signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import (
    CloseSpider,
    DownloadConnectionRefusedError,
    DropItem,
    IgnoreRequest,
)
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject import settings as defaults
from crawlproject.frontier.rows import STATES
from crawlproject.spiders.site import SiteSpider
from tests.crawling import Crawled, crawl_site, project_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from scrapy.crawler import Crawler

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


# A port where nobody listens.
DEAD = "http://127.0.0.1:9"


class Carried(Item):
    name = Field()


class Own(Spider):
    """Asks for ``paths``; the callback of each has its name, if there is such a method."""

    name = "own"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.all_items: list[Any] = []

    async def start(self) -> AsyncIterator[Any]:
        for path in self.paths:  # type: ignore[attr-defined]
            yield self.request(path)

    def request(self, path: str, **kwargs: Any) -> Request:
        name = path.strip("/").partition("?")[0].replace("-", "_")
        kwargs.setdefault("callback", getattr(self, name, self.plain))
        if path.endswith("?errback"):
            kwargs["errback"] = self.failed
        elif path.endswith("?bad-errback"):
            kwargs["errback"] = self.failed_badly
        elif path.endswith("?errback-twice"):
            kwargs["errback"] = self.failed_twice
        return Request(self.site + path, **kwargs)  # type: ignore[attr-defined]

    def several(self, response: Response) -> Iterator[Any]:
        yield {"got": "one"}
        yield self.request("/behind")
        yield {"got": "two"}
        raise ValueError("a bug of the spider's")

    async def several_in_time(self, response: Response) -> AsyncIterator[Any]:
        for output in self.several(response):
            yield output

    def plain(self, response: Response) -> Iterator[Any]:
        yield {"got": path_of(response.url)}

    async def failed(self, failure: Any) -> AsyncIterator[Any]:
        yield {"failed": path_of(failure.request.url)}
        yield self.request("/after-failure")

    def failed_badly(self, failure: Any) -> None:
        raise KeyError("a bug of the errback's")

    def failed_twice(self, failure: Any) -> Iterator[Any]:
        for number in range(2):
            kwargs = {"number": number}
            yield failure.request.replace(
                url=self.site + "/numbered",  # type: ignore[attr-defined]
                callback=self.numbered,
                errback=None,
                cb_kwargs=kwargs,
                dont_filter=True,
            )

    def numbered(self, response: Response, number: int) -> Iterator[Any]:
        yield {"number": number}

    def raises(self, response: Response) -> None:
        raise ValueError("a bug of the spider's")

    def raises_late(self, response: Response) -> Iterator[Any]:
        yield {"got": path_of(response.url)}
        yield self.request("/before-the-bug")
        raise ValueError("a bug of the spider's")

    def none(self, response: Response) -> None:
        pass

    def yields_none(self, response: Response) -> Iterator[Any]:
        yield None
        yield {"got": path_of(response.url)}

    async def coroutine(self, response: Response) -> list[Any]:
        return [{"got": path_of(response.url)}, self.request("/from-coroutine")]

    async def generator(self, response: Response) -> AsyncIterator[Any]:
        yield {"got": path_of(response.url)}
        yield self.request("/from-generator")

    def inner(self, response: Response) -> Iterator[Any]:
        yield {"got": path_of(response.url)}
        # The depth is that of the request which a middleware has got the response for.
        if response.meta["depth"] < 2:
            yield self.request(f"/inner?{response.meta['depth'] + 1}")

    def dropped(self, response: Response) -> Iterator[Any]:
        yield {"drop": True}
        yield {"break": True}
        yield {"got": path_of(response.url)}

    def not_http(self, response: Response) -> Iterator[Any]:
        for number in range(5):
            yield Request(f"data:,{number}")
        yield {"got": path_of(response.url)}

    def copies_meta(self, response: Response) -> Iterator[Any]:
        meta = {**response.meta, "retry_times": 1}
        yield self.request("/copied", callback=self.copied, meta=meta)

    def copied(self, response: Response) -> Iterator[Any]:
        # With as many retries as its own request has had: no retry.
        yield self.request("/copied-again", callback=self.plain, meta=response.meta)

    def retried(self, response: Response) -> Iterator[Any]:
        assert response.request
        if "retry_times" not in response.meta:
            yield {"got": "first"}
            yield get_retry_request(response.request, spider=self, reason="nothing in it")
            yield {"got": "second"}
        else:
            yield {"got": path_of(response.url)}

    def retried_with_more(self, response: Response) -> Iterator[Any]:
        assert response.request
        if "retry_times" not in response.meta:
            yield get_retry_request(response.request, spider=self, reason="nothing in it")
        yield self.request("/more", dont_filter=True)

    def carries(self, response: Response) -> Iterator[Any]:
        for number in range(2):
            item = Carried(name=number)
            kwargs = {"item": item, "seen": date(2020, 1, 31), "all_items": self.all_items}
            yield self.request(f"/carried?{number}", cb_kwargs=kwargs)
        raise CloseSpider("enough")

    def carried(
        self, response: Response, item: Any, seen: date, all_items: list[Any]
    ) -> Iterator[Any]:
        all_items.append(item["name"])
        yield {"carried": [type(item), item["name"], seen.year]}

    def asks_dead(self, response: Response) -> Iterator[Any]:
        yield Request(DEAD + "/a", callback=self.plain, errback=self.unreachable)
        yield Request(DEAD + "/b", callback=self.plain)

    def unreachable(self, failure: Any) -> Iterator[Any]:
        is_refused = failure.check(DownloadConnectionRefusedError) is not None
        yield {"refused": is_refused, "retries": failure.request.meta.get("retry_times")}

    def shares(self, response: Response) -> Iterator[Any]:
        for number in range(2):
            kwargs = {"item": {"name": number}, "seen": date.min, "all_items": self.all_items}
            yield self.request(f"/carried?{number}", cb_kwargs=kwargs)

    def carries_odd(self, response: Response) -> Iterator[Any]:
        for number in range(2):
            meta = {"lock": threading.Lock()}
            yield self.request(f"/plain?{number}", meta=meta)
        yield {"got": "/carries-odd"}
        if response.url.endswith("?closes"):
            raise CloseSpider("enough")

    def closes(self, response: Response) -> Iterator[Any]:
        yield {"got": path_of(response.url)}
        yield self.request("/after-closing")
        raise CloseSpider("enough")


class Meddler:
    """A downloader middleware that does what middlewares may do."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.seen: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Meddler:
        return cls(crawler)

    async def process_request(self, request: Request) -> Any:
        match path_of(request.url).partition("?")[0]:
            case "/ignored-before":
                raise IgnoreRequest
            case "/broken-before":
                raise ValueError("a bug of the middleware's")
            case "/asked-before":
                question = Request(request.url.replace("asked", "question"), NO_CALLBACK)
                await self.crawler.engine.download_async(question)
            case "/made-up":
                return Response(request.url)
            case "/wrong":
                return "a string"
            case "/same-again" if "/same-again" not in self.seen:
                self.seen.add("/same-again")
                return request.replace(dont_filter=True)
            case "/itself-again" if "/itself-again" not in self.seen:
                self.seen.add("/itself-again")
                # It can't be written down, so it comes back as the same object.
                request.meta["object"] = object()
                request.dont_filter = True
                return request
        return None

    async def process_response(self, request: Request, response: Response) -> Any:
        match path_of(request.url).partition("?")[0]:
            case "/ignored-after":
                raise IgnoreRequest
            case "/broken-after":
                raise ValueError("a bug of the middleware's")
            case "/instead":
                return request.replace(url=request.url + "-of-it")
            case "/inner":
                other = Request(request.url.replace("inner", "other"), request.callback)
                return await self.crawler.engine.download_async(other)
        return response


class Picky:
    """A pipeline."""

    def process_item(self, item: Any) -> Any:
        if "drop" in item:
            raise DropItem("not wanted")
        if "break" in item:
            raise ValueError("a bug of the pipeline's")
        return item


class Forgetful:
    """A pipeline that does not return its item."""

    def process_item(self, item: Any) -> None:
        item["seen"] = True


class Spoiler:
    """A spider middleware."""

    def process_spider_input(self, response: Response) -> None:
        if response.url.endswith("/spoilt-input"):
            raise ValueError("a bug of the middleware's")

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if response.url.endswith("/spoilt-output"):
                raise ValueError("a bug of the middleware's")
            yield output


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


async def crawl(site: Site, job: Path | None, paths: list[str], **settings: Any) -> Crawled:
    runner = AsyncCrawlerRunner(
        project_settings(
            {
                "ROBOTSTXT_OBEY": False,
                "DOWNLOAD_DELAY": 0,
                "JOBDIR": job and str(job),
                # A crawl that hangs ends too, but not as finished.
                "CLOSESPIDER_TIMEOUT": 20,
                **settings,
            }
        )
    )
    crawler = runner.create_crawler(Own)
    items: list[Any] = []

    def item_scraped(item: Any) -> None:
        items.append(item)

    crawler.signals.connect(item_scraped, signals.item_scraped)
    await runner.crawl(crawler, site=site.url(""), paths=paths)
    return Crawled(crawler, items)


def states(job: Path) -> dict[str, list[str]]:
    """What became of each path: a word for each entry."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(job / "crawl.db")) as database:
        for url, state in database.execute("SELECT url, state FROM urls ORDER BY id"):
            found.setdefault(path_of(url), []).append(STATES[state].value)
    return found


def kept_items(job: Path) -> list[str]:
    """Those that belong to a URL: the others are for one run."""
    with closing(sqlite3.connect(job / "crawl.db")) as database:
        rows = database.execute("SELECT record FROM items WHERE url IS NOT NULL ORDER BY id")
        return [record for (record,) in rows]


def also(ours: dict[str, int | None], theirs: type) -> dict[Any, int | None]:
    """Our components, and one more."""
    path = f"{theirs.__module__}.{theirs.__qualname__}"
    return {**{name: order for name, order in ours.items() if name != path}, theirs: 500}


MEDDLED = {
    "DOWNLOADER_MIDDLEWARES": also(defaults.DOWNLOADER_MIDDLEWARES, Meddler),
    "SPIDER_MIDDLEWARES": also(defaults.SPIDER_MIDDLEWARES, Spoiler),
    "ITEM_PIPELINES": {Picky: 500},
}

REDIRECTED = {
    "REDIRECT_ENABLED": True,
    "DOWNLOADER_MIDDLEWARES": also(defaults.DOWNLOADER_MIDDLEWARES, RedirectMiddleware),
}

# What a path comes to: its state, and whether an item of its callback's came.
WAYS = {
    "/plain": ("done", True),
    "/none": ("done", False),
    "/yields-none": ("done", True),
    "/coroutine": ("done", True),
    "/generator": ("done", True),
    "/dropped": ("done", True),
    "/not-http": ("done", True),
    "/copies-meta": ("done", False),
    "/raises": ("failed", False),
    "/raises-late": ("failed", True),
    "/parse": ("failed", False),
    "/drop": ("failed", False),
    "/drop?errback": ("failed", False),
    "/drop?bad-errback": ("failed", False),
    "/ignored-before": ("failed", False),
    "/ignored-before?errback": ("failed", False),
    "/ignored-before?bad-errback": ("failed", False),
    "/ignored-after": ("failed", False),
    "/ignored-after?errback": ("failed", False),
    "/broken-before": ("failed", False),
    "/broken-before?errback": ("failed", False),
    "/broken-after": ("failed", False),
    "/broken-after?errback": ("failed", False),
    "/wrong": ("failed", False),
    "/asked-before": ("done", True),
    "/made-up": ("done", True),
    "/instead": ("failed", False),
    "/inner": ("done", False),
    "/spoilt-input": ("failed", False),
    "/spoilt-output": ("failed", False),
}
# What their callbacks, errbacks and middlewares asked for.
FURTHER = (
    "/after-failure",
    "/before-the-bug",
    "/from-coroutine",
    "/from-generator",
    "/copied-again",
    "/instead-of-it",
)


@deferred_f_from_coro_f
async def test_every_request_ends_whatever_becomes_of_it(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"default": {}, "pages": {"/drop": {"drop": True}}})
    crawled = await crawl(server, tmp_path, list(WAYS), **MEDDLED)
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.frontier.exhausted()
    ended = states(tmp_path)
    got = {item["got"] for item in crawled.items if "got" in item}
    failed = {item["failed"] for item in crawled.items if "failed" in item}
    for path, (state, has_item) in WAYS.items():
        assert ended[path] == [state], path
        assert (path in got) == has_item, path
        assert (path in failed) == path.endswith("?errback"), path
    for path in FURTHER:
        assert ended[path] == ["done"]
        assert path in got
    assert "/other" in got
    # Nothing that would be gone in the next run.
    assert len(kept_items(tmp_path)) == len(crawled.items)


@deferred_f_from_coro_f
async def test_what_a_middleware_gets_by_another_request_has_its_depth(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path, ["/inner"], DEPTH_LIMIT=5, **MEDDLED)
    assert [item["got"] for item in crawled.items] == ["/other", "/other?1", "/other?2"]


@deferred_f_from_coro_f
async def test_a_middleware_may_send_a_request_round_again(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {}})
    paths = ["/same-again", "/itself-again"]
    crawled = await crawl(server, tmp_path, paths, **MEDDLED)
    assert crawled.stats["finish_reason"] == "finished"
    assert sorted(server.paths()) == sorted(paths)
    assert sorted(item["got"] for item in crawled.items) == sorted(paths)
    # The one that was sent round is no page of its own.
    assert states(tmp_path) == {path: ["failed", "done"] for path in paths}


@deferred_f_from_coro_f
async def test_redirects_of_a_middleware_are_requests_like_any(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(
        {
            "pages": {
                "/from": {"redirect": "/to"},
                "/to": {},
                "/itself": {"redirect": "/itself"},
                "/round": {"redirect": "/trip"},
                "/trip": {"redirect": "/round"},
            }
        }
    )
    crawled = await crawl(server, tmp_path, ["/from", "/itself", "/round"], **REDIRECTED)
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.items == [{"got": "/to"}]
    assert sorted(server.paths()) == ["/from", "/itself", "/round", "/to", "/trip"]
    assert all("leased" not in found for found in states(tmp_path).values())


@deferred_f_from_coro_f
async def test_the_site_spider_ends_with_foreign_redirects(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"redirect": "/to"}, "/to": {"links": ["/a"]}, "/a": {}}})
    crawled = await crawl_site(server.url(), REDIRECTED, delay="0", timeout="20")
    assert crawled.stats["finish_reason"] == "finished"
    assert server.paths() == ["/", "/to", "/a"]


@deferred_f_from_coro_f
async def test_a_spider_may_close_itself_in_a_callback(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path, ["/closes"])
    assert crawled.stats["finish_reason"] == "enough"
    assert states(tmp_path) == {"/closes": ["done"], "/after-closing": ["queued"]}
    # The next run does not begin with the one that closed it.
    crawled = await crawl(server, tmp_path, ["/closes"])
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.items == [{"got": "/after-closing"}]
    assert server.paths() == ["/closes", "/after-closing"]


@deferred_f_from_coro_f
async def test_another_spider_has_no_place_in_a_crawl_directory(
    site: SiteFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = site({"default": {}})
    await crawl(server, tmp_path, ["/closes"])
    with monkeypatch.context() as patch:
        patch.setattr(Own, "name", "other")
        refused = await crawl(server, tmp_path, ["/plain"])
    assert refused.items == []
    assert "is that of the spider 'own': give 'other' a JOBDIR of its own" in caplog.text
    # What was queued still is, for the spider that can make it.
    resumed = await crawl(server, tmp_path, ["/closes"])
    assert resumed.items == [{"got": "/after-closing"}]
    assert server.paths() == ["/closes", "/after-closing"]


@deferred_f_from_coro_f
async def test_a_retry_is_the_same_request_and_waits_longer_each_time(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/broken": {"status": 500}}})
    crawled = await crawl(
        server, tmp_path, ["/broken"], RETRY_TIMES=2, FRONTIER_RETRY_BACKOFF_SECONDS=0.2
    )
    assert crawled.items == [{"got": "/broken"}]
    assert states(tmp_path) == {"/broken": ["done"]}
    first, second = server.gaps()
    assert first >= 0.2
    assert second >= 0.4


@deferred_f_from_coro_f
async def test_a_retry_that_somebody_refuses_is_the_end(site: SiteFactory, tmp_path: Path) -> None:
    class Refusing:
        @classmethod
        def from_crawler(cls, crawler: Crawler) -> Refusing:
            refusing = cls()
            crawler.signals.connect(refusing.scheduled, signals.request_scheduled)
            return refusing

        def scheduled(self, request: Request) -> None:
            if "retry_times" in request.meta:
                raise IgnoreRequest

    server = site({"pages": {"/broken": {"status": 500}}})
    extensions = also(defaults.EXTENSIONS, Refusing)
    crawled = await crawl(server, tmp_path, ["/broken"], EXTENSIONS=extensions)
    assert crawled.stats["finish_reason"] == "finished"
    assert states(tmp_path) == {"/broken": ["failed"]}


@deferred_f_from_coro_f
async def test_a_callback_may_have_its_request_tried_again(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path, ["/retried"])
    assert [item["got"] for item in crawled.items] == ["first", "second", "/retried"]
    assert kept_items(tmp_path) == ['{"got":"first"}', '{"got":"second"}', '{"got":"/retried"}']
    assert states(tmp_path) == {"/retried": ["done"]}
    assert server.paths() == ["/retried", "/retried"]


class Fussy(SiteSpider):
    name = "fussy"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Any:
        if path_of(response.url) == "/" and "retry_times" not in response.meta:
            assert response.request
            yield get_retry_request(response.request, spider=self, reason="nothing in it")
        if path_of(response.url) == "/a":
            yield Request(response.urljoin("/own"))
        if path_of(response.url) == "/behind":
            raise ValueError("a bug of the spider's")


@deferred_f_from_coro_f
async def test_pages_of_the_site_spider_too(site: SiteFactory, tmp_path: Path) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/a"]},
                "/a": {},
                "/own": {"links": ["/behind"]},
                "/behind": {},
            }
        }
    )
    crawled = await crawl_site(
        server.url(), {"JOBDIR": str(tmp_path)}, spider=Fussy, delay="0", timeout="20"
    )
    assert crawled.stats["finish_reason"] == "finished"
    # What it asks for itself is a page with links like any, if no callback says otherwise.
    assert server.paths() == ["/", "/", "/a", "/own", "/behind"]
    assert crawled.frontier.read().count_pages() == 4
    assert crawled.frontier.read().count() == 4
    assert crawled.frontier.counts().failed == 0


@deferred_f_from_coro_f
async def test_a_request_that_the_spider_no_longer_knows_is_skipped(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"default": {}})
    await crawl(server, tmp_path, ["/closes"])
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as database, database:
        database.execute("UPDATE urls SET request = replace(request, '\"plain\"', '\"gone\"')")
    crawled = await crawl(server, tmp_path, [])
    assert crawled.stats["finish_reason"] == "finished"
    assert list(crawled.skipped().values()) == ["request not kept"]
    assert "can't be made again" in caplog.text


@deferred_f_from_coro_f
async def test_what_a_retry_asks_for_unfiltered_is_not_what_came_before_it(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {}})
    await crawl(server, tmp_path, ["/retried-with-more"], FRONTIER_RETRY_BACKOFF_SECONDS=0.01)
    assert sorted(server.paths()) == ["/more", "/more", *["/retried-with-more"] * 2]


@deferred_f_from_coro_f
async def test_an_errback_may_make_several_unfiltered_requests_of_its_own(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path, ["/ignored-before?errback-twice"], **MEDDLED)
    assert [item["number"] for item in crawled.items] == [0, 1]
    assert server.paths() == ["/numbered"] * 2


class Again(SiteSpider):
    """Asks for pages that it has, or has not, by itself."""

    name = "again"

    async def parse_with_rules(
        self, response: Response, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        async for output in super().parse_with_rules(response, *args, **kwargs):
            yield output
        if path_of(response.url) == "/":
            for path in ("/a", "/own"):
                yield Request(response.urljoin(path), dont_filter=True)


@deferred_f_from_coro_f
async def test_a_page_that_is_asked_for_again_is_one_page_under_its_own_url(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}, "/own": {}}})
    output = tmp_path / "pages.json"
    await crawl_site(
        server.url(), {"FEEDS": {str(output): {"format": "json"}}}, spider=Again, delay="0"
    )
    assert sorted(server.paths()) == ["/", "/a", "/a", "/own"]
    pages = json.loads(output.read_text())["pages"]
    assert [path_of(page["url"]) for page in pages] == ["/", "/a", "/own"]
    assert not any("#" in page["url"] for page in pages)


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize("path", ["/several", "/several-in-time"])
@deferred_f_from_coro_f
async def test_what_a_callback_yields_before_it_fails_is_kept_in_its_order(
    site: SiteFactory, tmp_path: Path, at_once: int, path: str
) -> None:
    crawled = await crawl(site({"default": {}}), tmp_path, [path], CONCURRENT_ITEMS=at_once)
    assert [item["got"] for item in crawled.items] == ["one", "two", "/behind"]
    assert crawled.stats["spider_exceptions/ValueError"] == 1
    assert crawled.stats["finish_reason"] == "finished"


@deferred_f_from_coro_f
async def test_what_requests_carry_comes_with_them_in_the_next_run(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"default": {}})
    first = await crawl(server, tmp_path, ["/carries"])
    second = await crawl(server, tmp_path, [])
    found = [item["carried"] for run in (first, second) for item in run.items]
    assert sorted(found, key=str) == [[Carried, number, 2020] for number in range(2)]
    assert second.items
    assert "can't be written down" not in caplog.text


@deferred_f_from_coro_f
async def test_requests_share_an_object_in_a_crawl_that_nobody_resumes(site: SiteFactory) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, None, ["/shares"])
    assert crawled.crawler.spider.all_items == [0, 1]  # type: ignore[union-attr]


@deferred_f_from_coro_f
async def test_a_request_that_cannot_be_kept_is_made_in_its_own_run_and_skipped_in_the_next(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path / "whole", ["/carries-odd"])
    assert server.paths() == ["/carries-odd", "/plain?0", "/plain?1"]
    assert crawled.stats["scheduler/unserializable"] == 2
    assert caplog.text.count("can't be written down") == 1
    await crawl(server, tmp_path / "cut", ["/carries-odd?closes"], CONCURRENT_REQUESTS=1)
    resumed = await crawl(server, tmp_path / "cut", [])
    assert set(resumed.skipped().values()) == {"request not kept"}


@deferred_f_from_coro_f
async def test_nobody_is_warned_of_a_crawl_that_nobody_resumes(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    crawled = await crawl(site({"default": {}}), None, ["/carries-odd"])
    assert crawled.stats["finish_reason"] == "finished"
    assert "can't be written down" not in caplog.text


@deferred_f_from_coro_f
async def test_a_pipeline_that_returns_no_item_is_told_once(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path, ["/a", "/b"], ITEM_PIPELINES={Forgetful: 500})
    assert crawled.items == [None, None]
    (message,) = (one for one in caplog.messages if "returned None" in one)
    assert f"in place of an item of {server.url('/')}" in message


@pytest.mark.parametrize("obeys", [True, False])
@deferred_f_from_coro_f
async def test_a_host_that_cannot_be_reached_is_no_silent_failure(
    site: SiteFactory, caplog: pytest.LogCaptureFixture, obeys: bool
) -> None:
    settings = {"ROBOTSTXT_OBEY": obeys, "RETRY_TIMES": 0}
    crawled = await crawl(site({"default": {}}), None, ["/asks-dead"], **settings)
    assert crawled.items == [{"refused": True, "retries": None}]
    assert caplog.text.count(f"Error downloading <GET {DEAD}/b>") == 1
    assert "retry/count" not in crawled.stats
