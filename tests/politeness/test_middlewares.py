"""The chain of downloader middlewares does what Scrapy's own does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.exceptions import ScrapyDeprecationWarning, _InvalidOutput
from scrapy.http import Headers, Response
from scrapy.spiders import Spider
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.politeness.middlewares import Middlewares

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

URL = "http://a.test/"
REQUESTS: list[dict[str, Any]] = [
    {},
    {"headers": {"User-Agent": "mine", "ACCEPT": "text/plain"}},
    {"headers": {"Accept": []}},
    {"headers": {"accept-language": "é"}, "encoding": "latin-1"},
    {"headers": {"Authorization": "mine"}, "meta": {"http_user": "me"}},
    {"headers": {"Proxy-Authorization": "Basic mine"}},
    {"meta": {"http_user": "me", "http_pass": "secret"}},
    {"meta": {"http_pass": "secret", "http_auth_domain": "a.test"}},
    {"meta": {"http_user": "me", "http_auth_domain": "b.test"}},
    {"meta": {"proxy": "http://me:secret@proxy.test:8080"}},
    {"meta": {"proxy": None}},
    {"meta": {"_auth_proxy": "http://proxy.test"}, "headers": {"Proxy-Authorization": "old"}},
]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"USER_AGENT": ""},
    {"USER_AGENT": None},
    {"USER_AGENT": "é/1"},
    {"USER_AGENT": b"bytes/1"},
    {"DEFAULT_REQUEST_HEADERS": {"accept": "a", "Accept": "b", "X": ["1", "2"], "Y": None}},
    {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "secret", "HTTPAUTH_DOMAIN": "a.test"},
    {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "secret", "HTTPAUTH_DOMAIN": "b.test"},
]


class Shouting(UserAgentMiddleware):
    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        request.headers["User-Agent"] = self.user_agent.upper()


class Wanting:
    """As middlewares once were."""

    def process_request(self, request: Request, spider: Spider) -> None:
        request.headers["X-Spider"] = spider.name

    def process_response(self, request: Request, response: Response, spider: Spider) -> Response:
        return response.replace(headers={"X-Spider": spider.name})


def crawler_with(**settings: Any) -> Crawler:
    crawler = get_crawler(Spider, settings_dict=settings)
    crawler.spider = crawler._create_spider("a")
    return crawler


async def sent(
    kind: type[DownloaderMiddlewareManager], request: Request, crawler: Crawler
) -> tuple[Any, Any, Response | Request]:
    """What is left of a request for the handler, and what becomes of its answer."""
    seen: list[tuple[Any, Any]] = []

    async def download(request: Request) -> Response:
        seen.append((dict(dict.items(request.headers)), dict(request.meta)))
        return Response(request.url)

    answer = await kind.from_crawler(crawler).download_async(download, request)
    return *seen[0], answer


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("given", REQUESTS)
@deferred_f_from_coro_f
async def test_a_request_is_sent_as_by_scrapy(
    given: dict[str, Any], settings: dict[str, Any]
) -> None:
    crawler = crawler_with(**settings)
    ours, scrapys = [
        await sent(kind, Request(URL, **given), crawler)
        for kind in (Middlewares, DownloaderMiddlewareManager)
    ]
    assert ours[:2] == scrapys[:2]


@deferred_f_from_coro_f
async def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://me:secret@proxy.test:8080")
    headers, meta, _ = await sent(Middlewares, Request(URL), crawler_with())
    assert meta["proxy"] == "http://proxy.test:8080"
    assert b"Proxy-Authorization" in headers


@deferred_f_from_coro_f
async def test_who_adds_to_a_default_header_adds_to_one_request() -> None:
    chain = Middlewares.from_crawler(crawler_with(DEFAULT_REQUEST_HEADERS={"X": "1"}))

    async def download(request: Request) -> Response:
        request.headers.appendlist("X", "2")
        assert request.headers.getlist("X") == [b"1", b"2"]
        return Response(request.url)

    for _ in range(2):
        await chain.download_async(download, Request(URL))


@deferred_f_from_coro_f
async def test_headers_of_another_kind_are_asked() -> None:
    class Lists(Headers):
        def setdefault(self, key: str | bytes, def_val: Any = None) -> Any:
            return super().setdefault(b"X-" + self.normkey(key), def_val)

    request = Request(URL)
    request.headers = Lists()
    headers, _, _ = await sent(Middlewares, request, crawler_with(USER_AGENT="a"))
    assert {b"X-User-Agent", b"X-Accept"} <= headers.keys()


@deferred_f_from_coro_f
async def test_what_a_team_has_derived_is_called() -> None:
    crawler = crawler_with(
        USER_AGENT="a/1", DOWNLOADER_MIDDLEWARES={UserAgentMiddleware: None, Shouting: 500}
    )
    headers, _, _ = await sent(Middlewares, Request(URL), crawler)
    assert headers[b"User-Agent"] == [b"A/1"]


@deferred_f_from_coro_f
async def test_what_a_team_has_replaced_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UserAgentMiddleware, "process_request", Shouting.process_request)
    headers, _, _ = await sent(Middlewares, Request(URL), crawler_with(USER_AGENT="a/1"))
    assert headers[b"User-Agent"] == [b"A/1"]


@deferred_f_from_coro_f
async def test_who_wants_the_spider_gets_it() -> None:
    with pytest.warns(ScrapyDeprecationWarning, match="requires a spider"):
        headers, _, answer = await sent(
            Middlewares, Request(URL), crawler_with(DOWNLOADER_MIDDLEWARES={Wanting: 1})
        )
    assert headers[b"X-Spider"] == [b"a"]
    assert isinstance(answer, Response)
    assert answer.headers[b"X-Spider"] == b"a"


@deferred_f_from_coro_f
async def test_a_wrong_answer_is_laid_at_the_door_of_its_middleware() -> None:
    class Wrong:
        def process_response(self, request: Request, response: Response) -> str:
            return "wrong"

    crawler = crawler_with(DOWNLOADER_MIDDLEWARES={Wrong: 1})
    with pytest.raises(_InvalidOutput, match=r"Wrong\.process_response"):
        await sent(Middlewares, Request(URL), crawler)
