"""Scrapy's own commands under this project: what they print, how they end, what they fetch."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawling import command_environment, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]
    Run = Callable[..., subprocess.CompletedProcess[str]]

SITE = {
    "robots": "User-agent: *\nDisallow: /private\nSitemap: http://127.0.0.1:{port}/map.xml\n",
    "pages": {
        "/": {"title": "Home", "links": ["/a", "/b", "https://elsewhere.example/", "/private"]},
        "/a": {"title": "A", "links": ["/a/1", "/"]},
        "/a/1": {"title": "A1"},
        "/b": {"title": "B"},
        "/old": {"redirect": "/a"},
        "/private": {"title": "Private"},
        "/map.xml": {
            "content_type": "text/xml",
            "body": '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            "<url><loc>http://127.0.0.1:{port}/b</loc></url></urlset>",
        },
    },
}

SPIDERS = '''
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from crawlproject.spiders.site import SiteSpider


class Plain(Spider):
    name = "plain"

    def parse(self, response):
        """A page.

        @url {url}
        @returns items 1 1
        @scrapes title
        """
        yield {{"title": response.css("title::text").get()}}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_more, cb_kwargs={{"number": 2}})

    def parse_more(self, response, number=1):
        yield {{"more": number, "of": response.meta.get("tag")}}


class Ruled(CrawlSpider):
    name = "ruled"
    rules = [Rule(LinkExtractor(allow="/a"), callback="parse_a"), Rule(LinkExtractor(allow="/b"))]

    def parse_a(self, response):
        yield {{"a": response.css("title::text").get()}}


class Headings(SiteSpider):
    name = "headings"

    def parse_start_url(self, response):
        """Another page.

        @url {url}a
        @returns items 1 1
        @scrapes h1
        """
        yield {{"h1": response.css("h1::text").get()}}
'''


@pytest.fixture
def server(site: SiteFactory) -> Site:
    return site(SITE)


@pytest.fixture
def run(server: Site, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme/__init__.py").write_text("")
    (tmp_path / "acme/spiders.py").write_text(SPIDERS.format(url=server.url()))

    def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        given = ["-s", "SPIDER_MODULES=crawlproject.spiders,acme.spiders"]
        if words[0] in {"version", "startproject", "runspider"}:
            given = []
        result = scrapy(*words, *given, cwd=tmp_path, timeout=60, **environment)
        assert "Traceback" not in result.stderr, result.stderr
        return result

    return command


def one_line(result: subprocess.CompletedProcess[str], status: int = 2) -> str:
    assert result.returncode == status, result.stderr
    (line,) = result.stderr.strip().splitlines()
    return line


# parse


def test_parse_shows_the_page_and_its_links_and_fetches_nothing_else(
    run: Run, server: Site
) -> None:
    result = run("parse", server.url(), "--nocolour")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    items, _, requests = result.stdout.partition("# Requests")
    assert "'title': 'Home'" in items
    # In scope, and not those that robots.txt denies when they are due: nobody has asked yet.
    assert requests.count("<GET ") == 3
    for path in ("/a", "/b", "/private"):
        assert f"<GET {server.url(path)}>" in requests
    assert server.paths() == ["/"]


def test_parse_follows_links_as_far_as_depth_says(run: Run, server: Site) -> None:
    result = run("parse", server.url(), "--nocolour", "-d", "2", "--nolinks", "--verbose")
    assert result.returncode == 0, result.stderr
    first, _, second = result.stdout.partition("DEPTH LEVEL: 2")
    assert "'title': 'Home'" in first
    assert "'title': 'A'" in second
    assert "'title': 'B'" in second
    assert sorted(server.paths()) == ["/", "/a", "/b"]


def test_parse_follows_a_redirect(run: Run, server: Site) -> None:
    result = run("parse", server.url("/old"), "--nocolour", "--nolinks")
    assert "'title': 'A'" in result.stdout
    assert server.paths() == ["/old", "/a"]


@pytest.mark.parametrize(
    ("options", "found", "paths"),
    [
        (["--spider=plain"], "[{'title': 'Home'}]", ["/"]),
        (["--spider=plain", "-c", "parse_more"], "[{'more': 1, 'of': None}]", ["/"]),
        (
            ["--spider=plain", "-cparse_more", "--cbkwargs", '{"number": 7}', "-m", '{"tag": 1}'],
            "[{'more': 7, 'of': 1}]",
            ["/"],
        ),
        (["--spider=ruled"], "[]", ["/"]),
        (["--spider=ruled", "-d", "2"], "[{'a': 'A'}]", ["/", "/a", "/b"]),
        (["--spider=headings", "--noitems", "--nolinks"], "", ["/"]),
    ],
)
def test_parse_with_a_spider_of_the_project(
    run: Run, server: Site, options: list[str], found: str, paths: list[str]
) -> None:
    result = run("parse", server.url(), "--nocolour", *options)
    assert result.returncode == 0, result.stderr
    assert found in result.stdout
    assert sorted(server.paths()) == paths


def test_parse_finds_the_callback_by_the_rules(run: Run, server: Site) -> None:
    result = run("parse", server.url("/a"), "--nocolour", "--spider=ruled", "--rules")
    assert "[{'a': 'A'}]" in result.stdout
    assert server.paths() == ["/a"]


def test_parse_takes_a_rule_without_a_callback_for_what_it_is(run: Run, server: Site) -> None:
    result = run("parse", server.url("/a"), "--nocolour", "--spider=site", "--rules")
    assert "'title': 'A'" in result.stdout
    assert f"<GET {server.url('/a/1')}>" in result.stdout


@pytest.mark.parametrize("command", ["parse", "fetch"])
def test_a_reader_who_has_seen_enough_is_no_error(
    site: SiteFactory, tmp_path: Path, command: str
) -> None:
    # More than a pipe holds.
    server = site({"pages": {"/": {"links": [f"/{number:0200}" for number in range(3000)]}}})
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", command, server.url()],
        cwd=tmp_path,
        env=command_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--spider=nope"], "scrapy parse: error: --spider: 'nope' is not one of headings, plain"),
        (["-c", "nope"], "scrapy parse: error: --callback: SiteSpider has no method 'nope'"),
        (["-c", "name"], "scrapy parse: error: --callback: SiteSpider has no method 'name'"),
        (["-a", "dept=1"], "scrapy parse: error: dept: no such argument; did you mean depth?"),
        (["-s", "JOBDIR=job"], "scrapy parse: error: JOBDIR: scrapy parse keeps nothing: leave"),
        (["-s", "DOWNLOAD_DELAY=x"], "scrapy parse: error: DOWNLOAD_DELAY: 'x' is not"),
    ],
)
def test_parse_refuses_in_one_line(
    run: Run, server: Site, options: list[str], message: str
) -> None:
    assert one_line(run("parse", server.url(), *options)).startswith(message)
    assert server.log() == []


def test_parse_of_what_can_not_be_fetched_ends_with_1(run: Run, server: Site) -> None:
    result = run("parse", server.url("/private"), "--nocolour")
    assert result.returncode == 1
    assert f"No response downloaded for: {server.url('/private')}" in result.stderr
    assert server.paths() == []


# fetch and view


def test_fetch_prints_the_body(run: Run, server: Site) -> None:
    result = run("fetch", server.url("/b"))
    assert result.returncode == 0
    assert "<title>B</title>" in result.stdout
    assert result.stderr == ""
    assert server.paths() == ["/b"]


def test_fetch_follows_redirects_unless_told_not_to(run: Run, server: Site) -> None:
    assert "<title>A</title>" in run("fetch", server.url("/old")).stdout
    result = run("fetch", "--no-redirect", "--headers", server.url("/old"))
    assert "< Location: /a" in result.stdout
    assert "> User-Agent: crawlproject/" in result.stdout
    assert server.paths() == ["/old", "/a", "/old"]


def test_fetch_with_a_spider_of_sites_fetches_one_url(run: Run, server: Site) -> None:
    result = run("fetch", "--spider=site", server.url("/"))
    assert "<title>Home</title>" in result.stdout
    assert server.paths() == ["/"]


def test_fetch_says_why_it_could_not(run: Run, server: Site) -> None:
    line = one_line(run("fetch", server.url("/private")), status=1)
    assert line.startswith(f"scrapy fetch: error: {server.url('/private')} could not be fetched: ")
    assert "robots.txt" in line


def test_view_opens_the_response_in_the_browser(run: Run, server: Site, tmp_path: Path) -> None:
    browser = tmp_path / "browser.py"
    browser.write_text("import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read())")
    result = run("view", server.url("/b"), BROWSER=f"{sys.executable} {browser} %s")
    assert result.returncode == 0, result.stderr
    assert "<title>B</title>" in result.stdout
    assert f'<base href="{server.url("/b")}">' in result.stdout
    assert server.paths() == ["/b"]


# shell


@pytest.mark.parametrize(
    ("code", "printed", "paths"),
    [
        ("(response.status, response.css('title::text').get())", "(200, 'Home')", ["/"]),
        ("(fetch(response.urljoin('/a')), response.css('h1::text').get())[1]", "A", ["/", "/a"]),
        ("(fetch(response.urljoin('/old')), response.url[-2:])[1]", "/a", ["/", "/old", "/a"]),
        (
            "(fetch(response.urljoin('/old'), redirect=False), response.status)[1]",
            "301",
            ["/", "/old"],
        ),
        # The same request twice, and one without dont_filter.
        (
            "[*map(fetch, [scrapy.Request(response.urljoin('/b'))] * 2), response.status]",
            "[None, None, 200]",
            ["/", "/b", "/b"],
        ),
        ("(fetch(response.urljoin('/no')), response.status)[1]", "404", ["/", "/no"]),
        ("settings['BOT_NAME'] + spider.name", "crawlprojectdefault", ["/"]),
    ],
)
def test_shell_evaluates_code(
    run: Run, server: Site, code: str, printed: str, paths: list[str]
) -> None:
    result = run("shell", server.url(), "-c", code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == printed
    assert server.paths() == paths


def test_shell_with_a_spider_of_sites(run: Run, server: Site) -> None:
    result = run("shell", server.url(), "--spider=site", "-c", "(spider.name, response.status)")
    assert result.stdout.strip() == "('site', 200)", result.stderr
    assert server.paths() == ["/"]


def test_shell_opens_a_local_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<h1>Here</h1>")
    result = run("shell", "./page.html", "-c", "response.css('h1::text').get()")
    assert result.stdout.strip() == "Here", result.stderr


def test_shell_without_a_url(run: Run) -> None:
    assert run("shell", "-c", "response is None and 6 * 7").stdout.strip() == "42"


def test_shell_says_what_could_not_be_fetched(run: Run, server: Site) -> None:
    result = run("shell", server.url("/private"), "-c", "response")
    assert result.stdout.strip() == "None"
    assert f"scrapy shell: error: {server.url('/private')} could not be fetched" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{gone}",), "{gone} could not be fetched: connection refused"),
        (("-c", "fetch('{gone}')"), "the URL could not be fetched: connection refused"),
        (("./nothing.html",), "URL: there is no file "),
    ],
)
def test_shell_without_a_response_is_one_line(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    gone = "http://127.0.0.1:9/"
    given = (argument.replace("{gone}", gone) for argument in arguments)
    result = run("shell", *given, "-s", "RETRY_TIMES=0")
    assert result.returncode != 0
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"scrapy shell: error: {message.replace('{gone}', gone)}")


# check, list, settings, version, genspider, edit, startproject


def test_check_runs_the_contracts_of_all_spiders(run: Run, server: Site) -> None:
    result = run("check")
    assert result.returncode == 0, result.stderr
    assert "Ran 4 contracts" in result.stderr
    assert result.stderr.strip().endswith("OK")
    assert sorted(server.paths()) == ["/", "/a"]


def test_check_fails_where_a_contract_does(server: Site, tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(
        "import scrapy\n\n\nclass Failing(scrapy.Spider):\n    name = 'failing'\n\n"
        "    def parse(self, response):\n"
        f'        """@url {server.url()}\n        @returns items 2\n        """\n'
        "        yield {}\n"
    )
    result = scrapy("check", "-s", "SPIDER_MODULES=failing", cwd=tmp_path)
    assert result.returncode == 1
    assert "Returned 1 items, expected 2" in result.stderr
    assert "FAILED (failures=1)" in result.stderr


@pytest.mark.parametrize(
    ("base", "setting", "message"),
    [
        ("scrapy.Spider", {"DOWNLOAD_DELAY": "fast"}, "DOWNLOAD_DELAY: 'fast' is"),
        ("scrapy.Spider", {"DUPEFILTER_CLASS": "no.X"}, "DUPEFILTER_CLASS: can't load 'no.X'"),
        ("SiteSpider", {"PAGES_MAX_SECONDS": "long"}, "PAGES_MAX_SECONDS: 'long' is"),
    ],
)
def test_check_refuses_wrong_settings_of_a_spider(
    server: Site, tmp_path: Path, base: str, setting: dict[str, str], message: str
) -> None:
    (tmp_path / "wrong.py").write_text(
        "import scrapy\n\nfrom crawlproject.spiders.site import SiteSpider\n\n\n"
        f"class Wrong({base}):\n    name = 'wrong'\n    custom_settings = {setting}\n\n"
        "    def parse_page(self, response):\n"
        f'        """@url {server.url()}\n        @returns items 1\n        """\n'
    )
    line = one_line(scrapy("check", "-s", "SPIDER_MODULES=wrong", cwd=tmp_path))
    assert line.startswith(f"scrapy check: error: spider 'wrong': {message}")
    assert server.log() == []


def test_check_lists_contracts(run: Run, server: Site) -> None:
    assert run("check", "-l").stdout.split() == [
        *("headings", "*", "parse_start_url"),
        *("plain", "*", "parse"),
    ]
    assert server.log() == []


def test_check_of_a_spider_that_is_not_there(run: Run) -> None:
    assert one_line(run("check", "nope")).startswith(
        "scrapy check: error: spider: 'nope' is not one of headings, plain, ruled, site"
    )


def test_list_names_the_spiders(run: Run) -> None:
    assert run("list").stdout.split() == ["headings", "plain", "ruled", "site"]


def test_settings_prints_a_value(run: Run) -> None:
    assert run("settings", "--get", "BOT_NAME").stdout == "crawlproject\n"
    assert run("settings", "--getfloat", "DOWNLOAD_DELAY").stdout == "0.25\n"
    assert run("settings", "--getbool", "COOKIES_ENABLED", "-s", "COOKIES_ENABLED=1").stdout == (
        "True\n"
    )


def test_settings_of_the_environment_are_printed_too(run: Run) -> None:
    given = {"CRAWLPROJECT_USER_AGENT": "acme/1"}
    assert run("settings", "--get", "USER_AGENT", **given).stdout == "acme/1\n"
    over = run("settings", "--get", "USER_AGENT", "-s", "USER_AGENT=acme/2", **given)
    assert over.stdout == "acme/2\n"
    wrong = run("settings", "--get", "USER_AGENT", CRAWLPROJECT_FEEDS="x")
    assert one_line(wrong).startswith("scrapy settings: error: FEEDS: 'x' is not a JSON object")


def test_version(run: Run) -> None:
    assert run("version").stdout.startswith("Scrapy 2.")


def test_genspider_writes_a_spider_that_runs(run: Run, server: Site, tmp_path: Path) -> None:
    result = run("genspider", "news", "127.0.0.1", "-s", "NEWSPIDER_MODULE=acme")
    assert result.returncode == 0, result.stderr
    path = tmp_path / "acme/news.py"
    text = path.read_text().replace("https://127.0.0.1", server.url().rstrip("/"))
    path.write_text(text.replace("pass", 'yield {"title": response.css("title::text").get()}'))
    done = run("runspider", "acme/news.py", "-O", "-:jsonl")
    assert done.stdout == '{"title":"Home"}\n', done.stderr
    assert server.paths() == ["/"]


def test_edit_opens_the_file_of_a_spider(run: Run, tmp_path: Path) -> None:
    result = run("edit", "plain", EDITOR="echo")
    assert result.stdout.strip() == str(tmp_path / "acme/spiders.py"), result.stderr


def test_startproject_makes_a_project(run: Run, tmp_path: Path) -> None:
    assert run("startproject", "shop").returncode == 0
    assert (tmp_path / "shop/scrapy.cfg").is_file()


# runspider and bench


def test_runspider_runs_a_plain_spider(run: Run, server: Site, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "import scrapy\n\n\nclass One(scrapy.Spider):\n"
        f"    name = 'one'\n    start_urls = ['{server.url()}']\n\n"
        "    def parse(self, response):\n        yield {'url': response.url}\n"
    )
    result = run("runspider", "one.py", "-O", "-:jsonl")
    assert result.stdout == f'{{"url":"{server.url()}"}}\n', result.stderr
    assert server.paths() == ["/"]


def test_runspider_runs_a_spider_of_sites(run: Run, server: Site, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(
        "from crawlproject.spiders.site import SiteSpider\n\n\n"
        "class Two(SiteSpider):\n    name = 'two'\n"
    )
    line = one_line(run("runspider", "two.py"))
    assert line == (
        "scrapy runspider: error: seed: missing: give a URL, as in -a seed=https://example.com"
    )
    options = ("-a", f"seed={server.url()}", "-a", "depth=0", "-O", "p.json")
    result = run("runspider", "two.py", *options)
    assert result.returncode == 0, result.stderr
    assert "/" in server.paths()
    assert (tmp_path / "p.json").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "spider_file: missing: give a Python file with a spider in it"),
        (["nope.py"], "spider_file: 'nope.py' is not a Python file that is there"),
        (["acme/__init__.py"], "spider_file: 'acme/__init__.py' has no class of a spider"),
        (["broken.py"], "spider_file: can't load 'broken.py': No module named 'nowhere'"),
        (["acme/spiders.py", "-s", "DOWNLOAD_DELAY=x"], "DOWNLOAD_DELAY: 'x' is not"),
    ],
)
def test_runspider_refuses_in_one_line(
    run: Run, tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "broken.py").write_text("import nowhere\n")
    assert one_line(run("runspider", *words)).startswith(f"scrapy runspider: error: {message}")


def test_bench_ends_and_says_how_fast_it_was(run: Run) -> None:
    # By pages: how many there are in ten seconds is up to the machine.
    result = run("bench", "-s", "CLOSESPIDER_PAGECOUNT=50")
    assert result.returncode == 0, result.stderr
    assert "Spider closed (closespider_pagecount)" in result.stderr
    assert "CLOSESPIDER_TIMEOUT': 10" in result.stderr
    assert "Crawled " in result.stderr
