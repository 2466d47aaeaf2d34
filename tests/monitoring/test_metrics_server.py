"""Metrics over real HTTP, while real crawls run."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import asynccontextmanager, closing
from http.client import HTTPConnection, HTTPResponse
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.errors import BadArgument
from crawlproject.monitoring.counting import tally_of
from crawlproject.monitoring.listening import check_metrics_port
from crawlproject.monitoring.metrics import JOBS, METRIC_NAMES
from crawlproject.monitoring.metrics_server import MetricsServer
from crawlproject.monitoring.snapshot import Phase
from crawlproject.monitoring.vitals import Vitals
from tests.crawling import crawl_site, project_settings, scrapy
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# It does not end before the server does.
ENDLESS = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "pages": {
        "/": {"links": ["/missing", "/private", "/hang"]},
        "/hang": {"hang": True},
    },
}


@pytest.fixture
def port() -> int:
    """One that is free."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        number: int = listener.getsockname()[1]
        return number


@pytest.fixture
def taken_port() -> Iterator[int]:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield listener.getsockname()[1]


@asynccontextmanager
async def crawling(server: Site, **settings: Any) -> AsyncIterator[Vitals]:
    """A crawl that has come as far as it can."""
    patient = {"DOWNLOAD_TIMEOUT": 30, "RETRY_TIMES": 0}
    runner = AsyncCrawlerRunner(project_settings({**patient, **settings}))
    crawler = runner.create_crawler("site")
    end = runner.crawl(crawler, seed=server.url())

    def is_far() -> bool:
        return any(one["path"] == "/hang" for one in server.open()) and tally_of(crawler).pages == 3

    await asyncio.to_thread(wait_for, is_far)
    vitals = crawler.get_extension(Vitals)
    assert vitals is not None
    yield vitals
    server.stop()
    await end
    assert vitals.take().phase is Phase.ENDED


class Answer:
    def __init__(self, response: HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()


def asked(
    port: int, path: str = "/metrics", method: str = "GET", body: Any = None, **headers: str
) -> Answer:
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request(method, path, body, headers)
        return Answer(connection.getresponse())


@deferred_f_from_coro_f
async def test_metrics_of_a_crawl_are_there_while_it_runs(site: SiteFactory, port: int) -> None:
    server = site(ENDLESS)
    async with crawling(server, METRICS_PORT=port) as vitals:
        answer = await asyncio.to_thread(asked, port)
        shot = vitals.take()
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    names = {
        f"{name}_total" if family.type == "counter" else name for name, family in families.items()
    }
    assert METRIC_NAMES - {JOBS} <= names
    # And what Prometheus' own client says of a process.
    assert "process_open_fds" in names
    assert "python_info" in names
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families.values()
        for sample in family.samples
    }
    # robots.txt and /hang among them.
    assert samples["crawlproject_requests_total", "site"] == len(server.log()) == 4
    outcomes = {
        outcome: samples["crawlproject_pages_total", "site", outcome] for outcome in shot.outcomes
    }
    assert (
        outcomes
        == shot.outcomes
        == {"fine": 1, "broken": 1, "blocked": 0, "denied": 1, "refused": 0}
    )
    assert samples["crawlproject_urls", "site", "leased"] == 1
    assert samples["crawlproject_hosts", "site", "ready"] == 1
    assert samples["crawlproject_fetch_seconds_count", "site"] == 2
    assert samples["crawlproject_start_timestamp_seconds", "site"] == shot.started_at
    assert "://" not in "".join(line for line in answer.text.splitlines() if "#" not in line)


@deferred_f_from_coro_f
async def test_nothing_else_can_be_asked_for(site: SiteFactory, port: int) -> None:
    async with crawling(site(ENDLESS), METRICS_PORT=port, FRONTIER_CRAWL_ID="mine"):

        def ask_around() -> list[Answer]:
            return [
                asked(port, method="HEAD"),
                asked(port, method="POST", body=b"x" * 300_000),
                asked(port, method="POST", body=iter([b"x" * 1000] * 300)),
                asked(port, method="DELETE"),
                asked(port, method="WHATEVER"),
                asked(port, "/"),
                asked(port, "/metrics/"),
                asked(port, "/metrics?name=x"),
                asked(port, "/%2e%2e/etc/passwd"),
            ]

        answers = await asyncio.to_thread(ask_around)
    head, *others = answers
    assert (head.status, head.text) == (200, "")
    assert int(head.headers["Content-Length"]) > 1000
    assert [answer.status for answer in others] == [405, 405, 405, 405, 404, 404, 200, 404]
    assert others[0].headers["Allow"] == "GET, HEAD"
    assert 'crawl="mine"' in others[6].text


@pytest.mark.parametrize(
    ("accepted", "content_type"),
    [
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text"),
        ("text/plain;version=0.0.4", "text/plain"),
        ("application/openmetrics-text;version=banana", "text/plain"),
        ("*/*", "text/plain"),
    ],
)
@deferred_f_from_coro_f
async def test_it_is_written_as_the_client_likes_it(
    site: SiteFactory, port: int, accepted: str, content_type: str
) -> None:
    async with crawling(site(ENDLESS), METRICS_PORT=port):
        answer = await asyncio.to_thread(lambda: asked(port, Accept=accepted))
    assert answer.status == 200
    assert answer.headers["Content-Type"].partition(";")[0] == content_type
    parse: Any = text_string_to_metric_families
    if "openmetrics" in content_type:
        parse = openmetrics_families
    assert any(family.name == "crawlproject_urls" for family in parse(answer.text))


@deferred_f_from_coro_f
async def test_who_is_connected_when_the_crawl_ends_is_disconnected(
    site: SiteFactory, port: int
) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)

    def ask() -> int:
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        response.read()
        return response.status

    with closing(connection):
        async with crawling(site(ENDLESS), METRICS_PORT=port):
            assert await asyncio.to_thread(ask) == 200
            assert await asyncio.to_thread(ask) == 200
        assert connection.sock is not None
        assert await asyncio.to_thread(connection.sock.recv, 1) == b""
    with pytest.raises(ConnectionRefusedError):
        await asyncio.to_thread(asked, port)


@deferred_f_from_coro_f
async def test_the_next_crawl_may_have_the_same_port(site: SiteFactory, port: int) -> None:
    for _ in range(2):
        crawled = await crawl_site(site({"pages": {"/": {}}}).url(), {"METRICS_PORT": port})
        assert crawled.crawler.get_extension(MetricsServer) is not None


def complaint(**given: Any) -> str:
    with pytest.raises(BadArgument) as raised:
        check_metrics_port(project_settings(given))
    return str(raised.value)


def test_a_port_that_is_taken_is_found_out_before_the_crawl(taken_port: int) -> None:
    problem = complaint(METRICS_PORT=str(taken_port))
    assert problem == (
        f"METRICS_PORT: can't listen on 127.0.0.1:{taken_port}: Address already in use"
    )
    # Also where no command looks: in another project, in a program.
    with pytest.raises(BadArgument, match="Address already in use"):
        get_crawler(settings_dict=dict(project_settings({"METRICS_PORT": taken_port})))


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("203.0.113.9", "METRICS_PORT: can't listen on 203.0.113.9:{}: Cannot assign requested"),
        ("2001:db8::1", "METRICS_PORT: can't listen on 2001:db8::1:{}: "),
        ("not an address", "METRICS_ADDRESS: 'not an address' is no address such as 127.0.0.1"),
        ("a" * 70, f"METRICS_ADDRESS: '{'a' * 70}' is no address such as 127.0.0.1"),
        ("..", "METRICS_ADDRESS: '..' is no address such as 127.0.0.1"),
    ],
)
def test_an_address_that_is_not_ours_is_found_out(port: int, address: str, problem: str) -> None:
    said = complaint(METRICS_PORT=port, METRICS_ADDRESS=address)
    assert said.startswith(problem.format(port))
    assert "\n" not in said


@pytest.mark.parametrize("given", [None, 0, "0", ""])
def test_without_a_port_nobody_listens(given: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings = project_settings({"METRICS_PORT": given})
    check_metrics_port(settings)
    with pytest.raises(NotConfigured, match=r"^$"):
        build_from_crawler(MetricsServer, get_crawler(settings_dict=dict(settings)))
    assert caplog.records == []


@pytest.mark.parametrize("given", ["banana", "-1", "65536", "1.5", "9" * 5000, "٨٠", True])
def test_what_is_no_port_is_named(given: Any) -> None:
    problem = complaint(METRICS_PORT=given)
    assert "is not a port from 1 to 65535 (0: none)" in problem
    assert len(problem) < 150


@deferred_f_from_coro_f
async def test_a_port_that_is_lost_between_check_and_start_costs_a_line(
    site: SiteFactory, taken_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Late(MetricsServer):
        @classmethod
        def from_crawler(cls, crawler: Any) -> Late:
            server = cls(crawler, "127.0.0.1", taken_port)
            crawler.signals.connect(server.engine_started, signal=signals.engine_started)
            crawler.signals.connect(server.engine_stopped, signal=signals.engine_stopped)
            return server

    settings = {
        "EXTENSIONS": {Late: 220},
        # For its snapshots.
        "MONITORING_SNAPSHOT_FILE": "/dev/null/snapshot.json",
    }
    crawled = await crawl_site(site({"pages": {"/": {}}}).url(), settings)
    assert len(crawled.pages) == 1
    said = [record.getMessage() for record in caplog.records if "metrics" in record.name]
    assert said == [f"No metrics: can't listen on 127.0.0.1:{taken_port}: Address already in use"]
    assert logging.ERROR not in {record.levelno for record in caplog.records}


def test_the_command_says_it_in_one_line(tmp_path: Path, taken_port: int) -> None:
    for name, value, problem in (
        ("METRICS_PORT", "banana", "'banana' is not a port from 1 to 65535 (0: none)"),
        (
            "METRICS_PORT",
            str(taken_port),
            f"can't listen on 127.0.0.1:{taken_port}: Address already in use",
        ),
    ):
        result = scrapy(
            *("crawl", "site", "-a", "seed=http://127.0.0.1:9/", "-s", f"{name}={value}"),
            cwd=tmp_path,
        )
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == f"scrapy crawl: error: {name}: {problem}\n"
