"""The Python functions, with and without a network."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from twisted.internet.threads import deferToThread

from crawlproject import crawl, crawl_pages
from crawlproject.api.order import breadth_first
from crawlproject.errors import BadArgument
from crawlproject.items import Page
from tests.crawling import PROJECT, command_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from twisted.internet.defer import Deferred

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

HOST = "https://lab.example"


class Web:
    """A web in a dictionary: content is the list of links."""

    def __init__(self, links: dict[str, list[str]], delay: float = 0) -> None:
        self.links = links
        self.delay = delay
        self.calls: list[str] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._lock = threading.Lock()

    def get(self, url: str) -> list[str] | None:
        with self._lock:
            self.calls.append(url)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        # As a site does: others come in meanwhile.
        time.sleep(self.delay)
        with self._lock:
            self.in_flight -= 1
        return self.links.get(url.removeprefix(HOST))

    def calls_when_quiet(self) -> int:
        """How many calls there were in all, once no more come."""
        calls = -1
        while calls != len(self.calls):
            calls = len(self.calls)
            # Many times what a call takes: a crawl that goes on makes another.
            time.sleep(40 * self.delay)
        return calls

    @staticmethod
    def extract(content: list[str], base: str) -> Iterable[str]:
        yield from content


def in_thread(function: Callable[[], Any]) -> Deferred[Any]:
    """pytest-twisted's reactor runs in the main thread, where crawl() can't wait."""
    return deferToThread(function)


def visited(web: Web, **options: Any) -> list[tuple[str, int]]:
    results = crawl(f"{HOST}/", http_get=web.get, extract_links=web.extract, **options)
    return [(url.removeprefix(HOST), depth) for url, depth, _ in results]


def test_a_diamond_comes_breadth_first() -> Deferred[Any]:
    def check() -> None:
        web = Web({"/": ["/b", "/a"], "/a": ["/c"], "/b": ["/c"], "/c": ["/"]})
        assert visited(web) == [("/", 0), ("/b", 1), ("/a", 1), ("/c", 2)]
        assert len(web.calls) == 4

    return in_thread(check)


def test_depth_two_of_a_chain_is_three_pages() -> Deferred[Any]:
    def check() -> None:
        web = Web({f"/{n or ''}": [f"/{n + 1}"] for n in range(10)})
        assert visited(web, max_depth=2) == [("/", 0), ("/1", 1), ("/2", 2)]
        assert visited(web, max_depth=0) == [("/", 0)]
        assert len(visited(web, max_depth=None)) == 10

    return in_thread(check)


def test_other_domains_are_left_alone_unless_allowed() -> Deferred[Any]:
    def check() -> None:
        web = Web({"/": ["https://other.example/x", "https://a.friend.example/y"]})
        assert visited(web) == [("/", 0)]
        assert web.calls == [f"{HOST}/"]
        visited(web, allow_domains="friend.example")
        assert web.calls[1:] == [f"{HOST}/", "https://a.friend.example/y"]

    return in_thread(check)


def test_workers_and_per_host_concurrency_bound_the_calls() -> Deferred[Any]:
    def check() -> None:
        links = {"/": [f"/{n}" for n in range(20)], **{f"/{n}": [] for n in range(20)}}
        web = Web(links, delay=0.01)
        assert len(visited(web, max_workers=8, per_host_concurrency=3)) == 21
        assert web.most_in_flight == 3
        web = Web(links, delay=0.01)
        visited(web, max_workers=2, per_host_concurrency=9)
        assert web.most_in_flight == 2

    return in_thread(check)


def test_a_delay_is_kept_between_calls() -> Deferred[Any]:
    def check() -> None:
        times: list[float] = []

        def get(url: str) -> list[str]:
            times.append(time.monotonic())
            return ["/a", "/b"]

        options: dict[str, Any] = {"per_host_delay_s": 0.05, "per_host_concurrency": 1}
        crawl(f"{HOST}/", http_get=get, extract_links=lambda c, b: c, **options)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert len(gaps) == 2
        assert min(gaps) >= 0.05

    return in_thread(check)


def test_a_small_frontier_loses_nothing() -> Deferred[Any]:
    def check() -> None:
        links = {"/": [f"/{n}" for n in range(50)]}
        for n in range(50):
            links[f"/{n}"] = [f"/{n}/{m}" for m in range(5)]
            links.update({f"/{n}/{m}": [] for m in range(5)})
        assert len(visited(Web(links), frontier_capacity=3)) == 301

    return in_thread(check)


def test_what_a_callers_function_raises_is_a_failed_page() -> Deferred[Any]:
    def check() -> None:
        def get(url: str) -> str | None:
            if url.endswith("/raises"):
                raise ConnectionError("no luck")
            return None if url.endswith("/none") else f"content of {url}"

        def extract(content: str, base: str) -> Iterable[str]:
            if base.endswith("/tangled"):
                raise KeyError("x")
            return ["/raises", "/none", "/tangled", "mailto:a@b", "http://", "/fine"]

        def allowed(url: str) -> bool:
            if url.endswith("/fine"):
                raise RuntimeError
            return True

        pages = crawl_pages(
            f"{HOST}/", http_get=get, extract_links=extract, is_allowed=allowed, max_depth=1
        )
        errors = {page.url.removeprefix(HOST): page.error for page in pages}
        assert errors == {
            "/": None,
            "/raises": "failed: get raised ConnectionError: no luck",
            "/none": "failed: http_get returned None",
            "/tangled": "failed: extract_links raised KeyError: 'x'",
            "/fine": "failed: allowed raised RuntimeError",
        }

    return in_thread(check)


@pytest.mark.parametrize(
    "error", [StopIteration, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]
)
def test_no_exception_of_a_caller_hangs_the_crawl(error: type[BaseException]) -> Deferred[Any]:
    def get(url: str) -> str:
        if url.endswith("/bad"):
            raise error
        return '<a href="/bad">x</a><a href="/good">x</a>'

    def check() -> None:
        pages = {page.url: page for page in crawl_pages(f"{HOST}/", http_get=get, max_depth=1)}
        assert pages[f"{HOST}/bad"].error == f"failed: get raised {error.__name__}"
        assert pages[f"{HOST}/good"].error is None

    return in_thread(check)


def test_depths_are_the_final_ones() -> Deferred[Any]:
    links = {
        "/": ["/slow", "/a"],
        "/slow": ["/end"],
        "/a": ["/b"],
        "/b": ["/end"],
        "/end": ["/behind"],
        "/behind": [],
    }

    def get(url: str) -> list[str]:
        path = url.removeprefix(HOST)
        # All others are answered before it.
        time.sleep(0.3 if path == "/slow" else 0)
        return links[path]

    def check() -> None:
        results = crawl(f"{HOST}/", http_get=get, extract_links=lambda content, base: content)
        assert [(url.removeprefix(HOST), depth) for url, depth, _ in results] == [
            ("/", 0),
            ("/slow", 1),
            ("/a", 1),
            ("/end", 2),
            ("/b", 2),
            ("/behind", 3),
        ]

    return in_thread(check)


def test_a_charset_that_is_none_costs_no_page(site: SiteFactory) -> Deferred[Any]:
    server = site({"pages": {"/": {"body": "<p>x", "content_type": "text/html; charset=hex"}}})

    def check() -> None:
        assert [content for _, _, content in crawl(server.url())] == ["<p>x"]

    return in_thread(check)


def test_is_allowed_is_asked_once_before_each_fetch() -> Deferred[Any]:
    def check() -> None:
        asked: list[str] = []

        def allowed(url: str) -> bool:
            asked.append(url.removeprefix(HOST))
            return not url.endswith("/no")

        web = Web({"/": ["/yes", "/no"], "/yes": []})
        assert visited(web, is_allowed=allowed) == [("/", 0), ("/yes", 1)]
        assert sorted(asked) == ["/", "/no", "/yes"]
        assert f"{HOST}/no" not in web.calls

    return in_thread(check)


def test_html_content_is_read_by_the_projects_own_extractor() -> Deferred[Any]:
    def check() -> None:
        pages = {"/": '<a href="a">a</a>', "/a": "<title>A</title>"}
        results = crawl(f"{HOST}/", http_get=lambda url: pages[url.removeprefix(HOST)])
        assert results == [(f"{HOST}/", 0, pages["/"]), (f"{HOST}/a", 1, pages["/a"])]

    return in_thread(check)


def test_a_real_site_and_its_content(site: SiteFactory) -> Deferred[Any]:
    server = site({"pages": {"/": {"links": ["/a", "/404"]}, "/a": {"title": "The A"}}})

    def check() -> None:
        results = crawl(server.url())
        assert [(url, depth) for url, depth, _ in results] == [
            (server.url("/"), 0),
            (server.url("/a"), 1),
        ]
        assert "The A" in results[1][2]
        pages = {page.url: page for page in crawl_pages(server.url())}
        assert pages[server.url("/404")].error == "unexpected status 404"

    return in_thread(check)


def test_leaving_the_loop_ends_the_crawl() -> Deferred[Any]:
    def check() -> None:
        web = Web({"/": [f"/{n}" for n in range(500)]}, delay=0.005)
        for page in crawl_pages(f"{HOST}/", http_get=web.get, extract_links=web.extract):
            if page.depth == 1:
                break
        assert web.calls_when_quiet() < 400

    return in_thread(check)


def test_a_generator_closed_at_once_ends_the_crawl() -> Deferred[Any]:
    def check() -> None:
        web = Web({"/": [f"/{n}" for n in range(300)]}, delay=0.01)
        for _ in range(5):
            pages = crawl_pages(f"{HOST}/", http_get=web.get, extract_links=web.extract)
            next(pages)
            pages.close()  # type: ignore[attr-defined]
        assert web.calls_when_quiet() < 5 * 300

    return in_thread(check)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start_url": "ftp://x"}, "start_url: not a crawlable URL"),
        ({"max_depth": -1}, "max_depth: '-1' is not a number of links"),
        ({"max_workers": 0}, "max_workers: '0' is not a whole number of 1 or more"),
        ({"per_host_delay_s": -0.1}, "per_host_delay_s: '-0.1' is not a number of seconds"),
        ({"allow_domains": ["https://x"]}, "allow_domains: 'https://x' is not a host"),
    ],
)
def test_bad_arguments_are_raised_at_the_call(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument) as caught:
        crawl_pages(**{"start_url": f"{HOST}/", **arguments})
    assert str(caught.value).startswith(message)


def test_it_refuses_to_block_the_reactor() -> None:
    with pytest.raises(RuntimeError, match="can't be called in the reactor's thread"):
        crawl(f"{HOST}/")


SCRIPT = """
import asyncio, threading
from crawlproject import crawl

def get(url):
    return "<a href='/a'>a</a>" if url.endswith("example/") else "<p>"

def once():
    return [url for url, _, _ in crawl("https://lab.example/", http_get=get)]

assert once() == once() == ["https://lab.example/", "https://lab.example/a"]

async def notebook():  # a loop runs in this thread already
    return once()

assert asyncio.run(notebook()) == once()
threads = [threading.Thread(target=once) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
"""


def test_it_runs_in_a_script_again_and_again_and_lets_it_end(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=tmp_path,
        env=command_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


INTERRUPTED = """
import os, signal
from crawlproject import crawl
# A shell lets what it starts in the background ignore Ctrl-C, and the tests may be.
signal.signal(signal.SIGINT, signal.default_int_handler)
count = 0
def get(url):
    global count
    count += 1
    if count == 20:
        os.kill(os.getpid(), signal.SIGINT)
    return "".join(f"<a href='/{n}'>x</a>" for n in range(5000))
print(0 < len(crawl("https://lab.example/", http_get=get)) < 5000)
"""


def run_script(
    script: str, *arguments: str, temporary: Path, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *arguments],
        cwd=PROJECT,
        env=command_environment() | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_ctrl_c_returns_what_there_is(tmp_path: Path) -> None:
    result = run_script(INTERRUPTED, temporary=tmp_path)
    assert (result.stdout, result.stderr) == ("True\n", "")


LEFT = """
from crawlproject import crawl_pages
def get(url):
    return "".join(f"<a href='/{n}'>x</a>" for n in range(500))
pages = crawl_pages("https://lab.example/", http_get=get)
for number, page in enumerate(pages):
    if number == 3:
        print("left")
        break
"""


def test_a_crawl_that_nobody_reads_to_its_end_leaves_nothing_behind(tmp_path: Path) -> None:
    result = run_script(LEFT, temporary=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "left\n", "")
    assert not list(tmp_path.iterdir())


LEFT_WAITING = """
import sys
from crawlproject import crawl_pages
for page in crawl_pages(sys.argv[1], per_host_delay_s=0):
    print("left")
    break
"""


def test_nor_does_it_keep_its_program_waiting_for_an_answer(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {"links": ["/hang"]}, "/hang": {"hang": True}}})
    # An answer may take 30 seconds.
    result = run_script(LEFT_WAITING, server.url(), temporary=tmp_path, timeout=25)
    assert (result.returncode, result.stdout, result.stderr) == (0, "left\n", "")
    assert not list(tmp_path.iterdir())


def test_breadth_first_order_follows_the_links_of_the_page() -> None:
    pages = [
        Page("c", depth=2),
        Page("a", depth=1, links=["c"]),
        Page("z", depth=1, links=["moved"]),
        Page("start", depth=0, links=["z", "a"]),
        Page("d", depth=2, redirected_from=["moved"]),
    ]
    assert [page.url for page in breadth_first(pages)] == ["start", "z", "a", "d", "c"]
