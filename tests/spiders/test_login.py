"""Logins, cookies and headers, judged by what the server has got."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import FormRequest, Request
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.downloadermiddlewares import cookies as cookies_middleware
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from w3lib.http import basic_auth_header

from crawlproject.errors import BadArgument
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site, project_settings, scrapy
from tests.killing import Command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from scrapy.http import Response

    from crawlproject.frontier.base import Lease
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

FORM = {"user": "me", "password": "sesame!"}
PAGES: dict[str, Any] = {
    "/": {"links": ["/a", "/b"]},
    "/a": {"links": ["/c"]},
    "/b": {"links": ["/moved"]},
    "/moved": {"redirect": "/c"},
    "/c": {"links": []},
    "/home": {"title": "Welcome"},
    "/login": {"title": "Log in"},
}
MEMBERS = {"pages": PAGES, "login": {"path": "/login", "form": FORM, "then": "/home"}}
WITH_COOKIES = {"COOKIES_ENABLED": True, "REDIRECT_ENABLED": True}


class Member(SiteSpider):
    """As Scrapy's documentation has it: a form, then the crawl."""

    name = "member"

    async def start(self) -> AsyncIterator[Any]:
        yield FormRequest(
            f"{self.seeds[0]}login",
            formdata=FORM,
            callback=self.logged_in,
            meta={"every_run": True},
        )
        async for one in super().start():
            yield one

    def logged_in(self, response: Response) -> Iterator[Any]:
        yield {"greeting": response.css("title::text").get()}


class MemberWithRules(Member):
    name = "member-with-rules"
    rules = (Rule(LinkExtractor(), follow=True),)


def asked(server: Site) -> list[tuple[str, str, int, str | None]]:
    return [
        (entry["method"], entry["path"], entry["status"], entry["headers"].get("cookie"))
        for entry in server.log()
    ]


@pytest.mark.parametrize("engine", ["sqlite", "redis"])
@pytest.mark.parametrize("spider", [Member, MemberWithRules])
@deferred_f_from_coro_f
async def test_a_login_comes_before_all_pages(
    site: SiteFactory, redis_url: str, engine: str, spider: type[SiteSpider]
) -> None:
    server = site(MEMBERS)
    settings: dict[str, Any] = dict(WITH_COOKIES)
    if engine == "redis":
        settings |= {"REDIS_URL": redis_url, "FRONTIER_CRAWL_ID": spider.name}
    crawled = await crawl_site(server.url(), settings, spider=spider)
    log = asked(server)
    # robots.txt is asked for without cookies, then the form is sent.
    assert log[0][1:] == ("/robots.txt", 404, None)
    assert log[1:3] == [("POST", "/login", 302, None), ("GET", "/home", 200, "sid=1")]
    assert sorted(path for _, path, _, _ in log[3:]) == ["/", "/a", "/b", "/c", "/moved"]
    assert {cookie for *_, cookie in log[3:]} == {"sid=1"}
    assert {"greeting": "Welcome"} in crawled.items
    # What is behind the login is crawled as any site is; the login is no page.
    assert sorted(crawled.pages) == [server.url(path) for path in ("/", "/a", "/b", "/c")]
    facts = crawled.frontier.facts(server.url("/c"))
    assert facts is not None
    assert facts.redirected_from == (server.url("/moved"),)
    assert crawled.frontier.exhausted()


@deferred_f_from_coro_f
async def test_public_suffixes_are_known_without_a_download(site: SiteFactory) -> None:
    headers = {"Set-Cookie": "a=1; Domain=co.uk"}
    server = site({"pages": {"/": {"links": ["/b"], "headers": headers}, "/b": {}}})
    asked_for: list[str] = []
    # tldextract downloads by requests, and requests by urllib3.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr("urllib3.PoolManager.urlopen", lambda *a, **k: asked_for.append(str(a)))
    try:
        await crawl_site(server.url(), cookies="yes")
        assert cookies_middleware._is_public_domain("co.uk")
    finally:
        monkeypatch.undo()
    assert not asked_for
    assert {cookie for *_, cookie in asked(server)} == {None}


@deferred_f_from_coro_f
async def test_without_cookies_nothing_is_kept(site: SiteFactory) -> None:
    server = site(MEMBERS)
    await crawl_site(server.url(), spider=Member)
    assert {cookie for *_, cookie in asked(server)} == {None}


class TwoMembers(SiteSpider):
    """Two sessions side by side, by ``cookiejar``."""

    name = "two-members"

    async def start(self) -> AsyncIterator[Any]:
        for jar in (1, 2):
            meta = {"every_run": True, "cookiejar": jar, "dont_redirect": True}
            url = f"{self.seeds[0]}login"
            yield FormRequest(url, formdata=FORM, callback=self.logged_in, meta=meta)

    def logged_in(self, response: Response) -> Iterator[Any]:
        jar = response.meta["cookiejar"]
        yield response.follow(f"/a?jar={jar}", self.seen, meta={"cookiejar": jar})

    def seen(self, response: Response) -> Iterator[Any]:
        yield {"jar": response.meta["cookiejar"], "status": response.status}


@deferred_f_from_coro_f
async def test_cookiejars_are_apart(site: SiteFactory) -> None:
    server = site(MEMBERS)
    crawled = await crawl_site(server.url(), {"COOKIES_ENABLED": True}, spider=TwoMembers)
    sent = {path: cookie for _, path, _, cookie in asked(server) if path.startswith("/a")}
    assert sorted(sent) == ["/a?jar=1", "/a?jar=2"]
    assert sorted(map(str, sent.values())) == ["sid=1", "sid=2"]
    assert sorted(item["jar"] for item in crawled.items) == [1, 2]


SPIDER = """
import asyncio

from scrapy import FormRequest

from crawlproject.spiders.site import SiteSpider


class Member(SiteSpider):
    name = "member"
    custom_settings = {"COOKIES_ENABLED": True, "REDIRECT_ENABLED": True}

    async def start(self):
        form = {"user": "me", "password": "sesame!"}
        url = self.seeds[0] + "login"
        if SECONDS:
            await asyncio.sleep(SECONDS)
        yield FormRequest(url, formdata=form, callback=self.done, meta={"every_run": True})
        async for one in super().start():
            yield one

    def done(self, response):
        pass
"""


@pytest.mark.parametrize("seconds", [0, 0.5])
def test_a_resumed_run_logs_in_again_before_it_goes_on(
    site: SiteFactory, tmp_path: Path, seconds: float
) -> None:
    chain = {f"/p{number}": {"links": [f"/p{number + 1}"]} for number in range(8)}
    pages = {**PAGES, "/": {"links": ["/p0"]}, **chain, "/p8": {}}
    # Slow enough to be killed in time on a busy machine.
    server = site({**MEMBERS, "pages": pages, "random_delay": [0.05, 0.1]})
    (tmp_path / "acme.py").write_text(f"SECONDS = {seconds}\n{SPIDER}")
    options = ("-s", "SPIDER_MODULES=acme", "-a", f"seed={server.url()}", "-O", "out.json")
    crawl = Command(tmp_path, *options, "-s", "FRONTIER_COMMIT_PAGES=1", spider="member")
    crawl.run_until_asked(server, 6)
    before = len(server.log())
    done = crawl.run()
    assert done.returncode == 0, done.stderr
    later = asked(server)[before:]
    methods = [(method, path) for method, path, *_ in later if path != "/robots.txt"]
    assert methods[:2] == [("POST", "/login"), ("GET", "/home")]
    # No page was asked for as a stranger, in neither run.
    assert [path for _, path, status, _ in asked(server) if status == 302] == ["/login"] * 2
    assert {cookie for _, path, _, cookie in later[3:]} == {"sid=2"}
    written = json.loads((tmp_path / "out.json").read_text())
    assert len(json.dumps(written).split("unexpected")) == 1
    assert f"{server.url('/p8')}" in json.dumps(written)


class Denied(Member):
    name = "denied"

    async def start(self) -> AsyncIterator[Any]:
        meta = {"every_run": True}
        url = f"{self.seeds[0]}login"
        yield Request(url, callback=self.logged_in, errback=self.failed, meta=meta)
        async for one in super().start():
            yield one

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"failed": str(failure.value)}


@deferred_f_from_coro_f
async def test_robots_txt_is_asked_about_a_login_too(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    robots = "User-agent: *\nDisallow: /login"
    server = site({"pages": PAGES, "robots": robots})
    crawled = await crawl_site(server.url(), spider=Denied)
    assert "/login" not in server.paths()
    assert {"failed": "robots"} in crawled.items
    assert "/login is not fetched: robots" in caplog.text
    # The crawl goes on.
    assert len(crawled.pages) == 4


class Exempt(Denied):
    name = "exempt"

    async def start(self) -> AsyncIterator[Any]:
        async for one in super().start():
            one.meta["dont_obey_robotstxt"] = True
            yield one


@deferred_f_from_coro_f
async def test_a_login_may_be_exempt_from_robots_txt(site: SiteFactory) -> None:
    server = site({"pages": PAGES, "robots": "User-agent: *\nDisallow: /login"})
    crawled = await crawl_site(server.url(), spider=Exempt)
    # Both logins of its base classes.
    assert server.paths().count("/login") == 2
    assert {"greeting": "Log in"} in crawled.items


class FailingGatekeeper:
    """Raises while it finds out about the login."""

    asks_the_host = False

    def verdict(self, lease: Lease) -> Awaitable[float | None] | None:
        return self._fail() if lease.url.endswith("/login") else None

    async def _fail(self) -> float | None:
        await asyncio.sleep(0)
        raise ValueError("no rules")


@deferred_f_from_coro_f
async def test_a_login_without_a_verdict_fails_and_gives_its_turn_back(site: SiteFactory) -> None:
    server = site({"pages": PAGES})
    settings = {"FRONTIER_GATEKEEPER": FailingGatekeeper, "CLOSESPIDER_TIMEOUT": 20}
    # With one turn at a time, a turn that is not given back ends the crawl.
    crawled = await crawl_site(server.url(), settings, spider=Denied, concurrency="1")
    assert {"failed": "failed: the gatekeeper raised ValueError"} in crawled.items
    assert "/login" not in server.paths()
    assert len(crawled.pages) == 4


class Copying(Member):
    """Downloads with the meta of the login's response."""

    name = "copying"

    async def logged_in(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        for number in (1, 2):
            picture = response.follow(f"/picture{number}", meta=response.meta)
            await self.crawler.engine.download_async(picture)
        meta = {**response.meta, "every_run": False}
        yield response.follow("/a?copied", self.seen, meta=meta)

    def seen(self, response: Response) -> Iterator[Any]:
        yield {"has_turn": "turn" in response.meta}


@deferred_f_from_coro_f
async def test_the_turn_of_a_login_is_not_copied(site: SiteFactory) -> None:
    server = site(MEMBERS)
    crawled = await crawl_site(server.url(), WITH_COOKIES, spider=Copying, delay="0.1")
    assert {"/picture1", "/picture2"} <= {*server.paths()}
    assert min(server.gaps()) >= 0.1
    assert {"has_turn": False} in crawled.items


HEADER, COOKIE = "X-Env: staging-environment", "key=0123456789; mode=b"


@deferred_f_from_coro_f
async def test_headers_and_cookies_go_to_the_origin_of_the_seed_and_nowhere_else(
    site: SiteFactory,
) -> None:
    other = site({"pages": {"/": {"links": ["/x"]}, "/x": {}}})
    pages = {
        "/": {"links": ["/a", other.url("/x"), "/out"]},
        "/a": {"headers": {"Set-Cookie": "mode=theirs"}},
        "/out": {"redirect": other.url("/")},
    }
    server = site({"pages": pages})
    settings = {"SCOPE_MODE": "any", "STORE_BODIES": True}
    crawled = await crawl_site(server.url(), settings, header=f"{HEADER} | X-Two: 2", cookie=COOKIE)
    assert len(crawled.pages) == 4
    for entry in server.log():
        sent = entry["headers"]
        assert (sent["x-env"], sent["x-two"]) == ("staging-environment", "2")
        # What robots.txt says does not depend on who asks.
        assert sent.get("cookie") == (None if entry["path"] == "/robots.txt" else COOKIE)
    # The same host, but another port.
    for entry in other.log():
        assert not {"x-env", "x-two", "cookie"} & entry["headers"].keys()


class Leaving(SiteSpider):
    name = "leaving"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        if response.url.endswith("/"):
            yield response.follow("/out", self.left)

    def left(self, response: Response) -> Iterator[Any]:
        assert response.request
        yield {"left": response.url, "headers": str(response.request.headers)}


@deferred_f_from_coro_f
async def test_redirects_of_scrapys_middleware_take_no_header_along(site: SiteFactory) -> None:
    other = site({"pages": {"/": {}}})
    server = site({"pages": {"/": {}, "/out": {"redirect": other.url("/")}}})
    settings = {**WITH_COOKIES, "REFERER_ENABLED": True}
    crawled = await crawl_site(server.url(), settings, spider=Leaving, header=HEADER, cookie=COOKIE)
    (item,) = [item for item in crawled.items if isinstance(item, dict)]
    assert item["left"] == other.url("/")
    assert "staging" not in item["headers"]
    asked_for = {entry["path"]: entry["headers"] for entry in other.log()}
    assert not {"x-env", "cookie"} & asked_for["/"].keys()
    own = {entry["path"]: entry["headers"] for entry in server.log()}
    assert own["/out"]["cookie"] == COOKIE
    # REFERER_ENABLED: the middleware of Scrapy sets it.
    assert own["/out"]["referer"] == server.url("/")


@deferred_f_from_coro_f
async def test_cookies_that_a_site_sets_win_over_those_given(site: SiteFactory) -> None:
    pages = {"/": {"links": ["/a"], "headers": {"Set-Cookie": "mode=theirs"}}, "/a": {}}
    server = site({"pages": pages})
    await crawl_site(server.url(), {"ROBOTSTXT_OBEY": False}, cookie=COOKIE, cookies="yes")
    sent = {path: set((cookie or "").split("; ")) for _, path, _, cookie in asked(server)}
    assert sent == {"/": set(COOKIE.split("; ")), "/a": {"mode=theirs", "key=0123456789"}}


@deferred_f_from_coro_f
async def test_a_page_may_redirect_to_itself_with_a_cookie(site: SiteFactory) -> None:
    first = {"redirect": "/", "status": 302, "headers": {"Set-Cookie": "seen=1"}}
    server = site({"pages": {"/": {"times": {"1": first}, "links": []}}})
    crawled = await crawl_site(server.url(), {"ROBOTSTXT_OBEY": False}, cookies="yes")
    assert [cookie for *_, cookie in asked(server)] == [None, "seen=1"]
    assert crawled.pages[server.url()].error is None


def test_what_is_given_is_secret(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    done = scrapy(
        *("crawl", "site", "-a", f"seed={server.url()}", "-a", f"header={HEADER}"),
        *("-a", f"cookie={COOKIE}", "-O", "out.warc.gz", "-O", "out.json", "-s", "JOBDIR=job"),
        *("-s", "LOG_LEVEL=DEBUG", "-s", "MONITORING_SNAPSHOT_FILE=now.json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    secrets = ("staging-environment", "0123456789")
    assert not [secret for secret in secrets if secret in done.stderr + done.stdout]
    for file in tmp_path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in content], file


class Key(SiteSpider):
    """The links of its pages are asked for with credentials."""

    name = "key"
    rules = (Rule(LinkExtractor(), callback="parse_item", process_request="with_key"),)

    def with_key(self, request: Request, response: Response) -> Request:
        headers = {"Authorization": "Bearer mine", "Proxy-Authorization": "p", "X-Own": "x"}
        return request.replace(headers=headers, cookies={"id": "mine"})

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url}


@pytest.mark.parametrize("engine", ["sqlite", "redis"])
@deferred_f_from_coro_f
async def test_credentials_of_a_request_do_not_follow_a_redirect_to_another_origin(
    site: SiteFactory, engine: str, request: pytest.FixtureRequest
) -> None:
    # The first answer is retried: what is kept for that has no credentials either.
    other = site({"pages": {"/x": {"times": {"1": {"status": 503}}}}})
    pages = {
        "/": {"links": ["/out", "/moved"]},
        "/out": {"redirect": other.url("/x")},
        "/moved": {"redirect": "/here"},
        "/here": {},
    }
    server = site({"pages": pages})
    settings: dict[str, Any] = {"SCOPE_MODE": "any", "ROBOTSTXT_OBEY": False}
    settings |= {"COOKIES_ENABLED": True}
    if engine == "redis":
        settings["REDIS_URL"] = request.getfixturevalue("redis_url")
    crawled = await crawl_site(server.url(), settings, spider=Key)
    assert {"got": other.url("/x")} in crawled.items
    own = {entry["path"]: entry["headers"] for entry in server.log()}
    for path in ("/out", "/moved", "/here"):
        assert (own[path]["authorization"], own[path]["cookie"]) == ("Bearer mine", "id=mine")
    assert [entry["status"] for entry in other.log()] == [503, 200]
    for entry in other.log():
        sent = entry["headers"]
        assert sent["x-own"] == "x"
        assert not {"authorization", "proxy-authorization"} & sent.keys()


class Retrying(SiteSpider):
    """It retries in a callback, with a header that its request has not had."""

    name = "retrying"
    rules = (Rule(LinkExtractor(), callback="parse_item"),)

    def parse_item(self, response: Response) -> Iterator[Any]:
        assert response.request
        again = get_retry_request(response.request, spider=self, reason="busy")
        assert again
        again.headers["X-Retry"] = "yes"
        yield again


@deferred_f_from_coro_f
async def test_a_retry_keeps_no_credentials_of_middlewares(
    site: SiteFactory, tmp_path: Path
) -> None:
    home = {"links": ["/busy"], "headers": {"Set-Cookie": "session=theirs"}}
    server = site({"pages": {"/": home, "/busy": {}}})
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), "ROBOTSTXT_OBEY": False, **WITH_COOKIES}
    settings |= {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "sesame"}
    settings |= {"DEFAULT_REQUEST_HEADERS": {"X-Key": "default-key"}}
    # The crawl ends before the last retry: its request is kept for the next run.
    settings |= {"FRONTIER_RETRY_BACKOFF_SECONDS": 0.5, "RETRY_TIMES": 9, "CLOSESPIDER_TIMEOUT": 1}
    await crawl_site(server.url(), settings, spider=Retrying)
    busy = [entry["headers"] for entry in server.log() if entry["path"] == "/busy"]
    assert len(busy) > 1
    password = basic_auth_header("me", "sesame")
    for sent in busy:
        assert (sent["authorization"], sent["cookie"]) == (password.decode(), "session=theirs")
        assert sent["x-key"] == "default-key"
    content = content_of(tmp_path)
    # The request of the retry is there. Bytes are written in base64.
    assert b64encode(b"X-Retry") in content
    # Its attempts are counted with its URL.
    assert b"retry_times" not in content
    for secret in (password, b"session=theirs", b"default-key"):
        assert secret not in content
        assert b64encode(secret) not in content


def content_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_the_cache_has_no_secret(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    secrets = ("staging-environment", "0123456789", basic_auth_header("me", "sesame").decode())
    for _ in range(2):
        done = scrapy(
            *("crawl", "site", "-a", f"seed={server.url()}", "-a", f"header={HEADER}"),
            *("-a", f"cookie={COOKIE}", "-s", "HTTPAUTH_USER=me", "-s", "HTTPAUTH_PASS=sesame"),
            *("-s", "HTTPCACHE_ENABLED=1", "-s", "ROBOTSTXT_OBEY=no", "-s", "SITEMAPS_MODE=never"),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
    # The second crawl has all from the cache.
    assert [entry["path"] for entry in server.log()] == ["/", "/a"]
    for entry in server.log():
        sent = json.dumps(entry["headers"])
        assert [secret for secret in secrets if secret in sent] == [*secrets]
    assert len(list(tmp_path.rglob("request_headers"))) == 2
    for file in tmp_path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in content], file


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"header": "X-Env"}, "header: header 1 is not 'Name: value'"),
        ({"header": "A: 1 | B C: 2"}, "'B C' is no name of a header"),
        ({"header": "Cookie: a=b"}, "use cookie="),
        ({"header": "User-Agent: x"}, "use user_agent="),
        ({"header": "Host: x"}, "the crawler sets it itself"),
        ({"header": "A: \u20ac"}, "the value of A is empty, or not Latin-1 text"),
        ({"cookie": "abc"}, "cookie: cookie 1 is not name=value"),
        ({"cookie": "a=b c"}, "the cookie 'a' has characters that no cookie has"),
        ({"cookies": "maybe"}, "'maybe' is not 'yes' or 'no'"),
        ({"header": "A: 1", "seed": "http://a.example http://b.example"}, "FETCHING_ORIGINS"),
    ],
)
@deferred_f_from_coro_f
async def test_what_is_wrong_is_said_in_one_line(arguments: dict[str, Any], problem: str) -> None:
    seed = arguments.pop("seed", "http://127.0.0.1:9/")
    with pytest.raises(BadArgument) as raised:
        await crawl_site(seed, **arguments)
    assert problem in str(raised.value)


class WithStartUrls(SiteSpider):
    name = "with-start-urls"


@deferred_f_from_coro_f
async def test_start_urls_are_seeds_where_none_are_given(
    site: SiteFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = site({"pages": {"/here": {"links": ["/there"]}, "/there": {}}})
    monkeypatch.setattr(WithStartUrls, "start_urls", [server.url("/here")], raising=False)
    await AsyncCrawlerRunner(project_settings()).crawl(WithStartUrls)
    assert server.paths() == ["/here", "/there"]
