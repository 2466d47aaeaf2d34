"""The report of a crawl that others have crawled, or are crawling."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from redis import Redis

from crawlproject.frontier.redis.binary import Server
from tests.commands.inquiring import Crawl, ask
from tests.crawling import scrapy
from tests.killing import kill, start_crawl
from tests.site.fixture import Site
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    CapFd = pytest.CaptureFixture[str]
    SiteFactory = Callable[..., Site]

TEXT = "Herons stand in the reeds at dawn, and nobody knows what they are waiting for. " * 6
SITE: dict[str, Any] = {
    "pages": {
        "/": {"links": ["/a", "/old", "/gone", "/slow", "https://elsewhere.example/"]},
        "/a": {"body": f"<title>A</title><p>{TEXT}<a href=/b>b</a><a href=/copy>"},
        "/copy": {"body": f"<title>A</title><p>{TEXT}<a href=/b>b</a><a href=/copy>"},
        "/b": {"links": ["/"], "title": 'Ümläut, "quoted"'},
        "/old": {"redirect": "/new"},
        "/new": {"links": ["/b"]},
        "/slow": {"delay": 0.2, "links": ["/b"]},
    }
}
DOCUMENTS = ("json", "csv", "xml", "parquet")
FORMATS = (*DOCUMENTS, "jsonl", "warc.gz")


class Crawled(NamedTuple):
    """A crawl that has ended, and the outputs that it wrote then."""

    where: str
    folder: Path
    options: list[str]


@pytest.fixture(scope="module", params=["directory", "redis"])
def crawled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("crawled")
    outputs = [word for name in FORMATS for word in ("-O", f"own.{name}")]
    with Site(SITE) as site, Server() as server:
        seed = ["crawl", "site", "-a", f"seed={site.url()}", "-s", f"STORE_URI={folder}/bodies"]
        seed += ["-s", "STORE_BODIES=True", "-s", "MONITORING_SUMMARY=False"]
        where = server.url if request.param == "redis" else str(folder / "job")
        seed += ["-s", f"{'REDIS_URL' if request.param == 'redis' else 'JOBDIR'}={where}"]
        first = scrapy(*seed, cwd=folder)
        assert first.returncode == 0, first.stderr
        # Nothing is left to fetch: it writes what is known.
        again = scrapy(*seed, *outputs, cwd=folder)
        assert again.returncode == 0, again.stderr
        yield Crawled(where, folder, ["-s", f"STORE_URI={folder}/bodies"])


def test_the_bytes_are_those_of_the_crawls_own_outputs(crawled: Crawled, tmp_path: Path) -> None:
    outputs = [word for name in FORMATS for word in ("-O", f"out.{name}")]
    result = scrapy("export", crawled.where, *outputs, *crawled.options, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert result.stderr == "Wrote 7 pages.\n"
    for name in FORMATS:
        own = (crawled.folder / f"own.{name}").read_bytes()
        assert (tmp_path / f"out.{name}").read_bytes() == own, name
    pages = json.loads((tmp_path / "out.json").read_text())["pages"]
    assert any("duplicate_of" in page for page in pages)
    assert not [path.name for path in tmp_path.iterdir() if not path.name.startswith("out.")]


def test_items_that_are_no_pages_are_counted_too(site: SiteFactory, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(
        "import scrapy\n\n\nclass Plain(scrapy.Spider):\n    name = 'plain'\n\n"
        "    async def start(self):\n        yield scrapy.Request(self.site)\n\n"
        "    def parse(self, response):\n        yield {'n': 1}\n        yield {'n': 2}\n"
    )
    server = site({"pages": {"/": {}}})
    crawl = ("crawl", "plain", "-s", "SPIDER_MODULES=plain", "-s", "JOBDIR=job")
    done = scrapy(*crawl, "-a", f"site={server.url()}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = scrapy("export", "job", "-O", "out.json", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "Wrote 2 items.\n")
    assert json.loads((tmp_path / "out.json").read_text())["items"] == [{"n": 1}, {"n": 2}]


def test_an_archive_needs_to_know_where_bodies_are(crawled: Crawled, tmp_path: Path) -> None:
    result = scrapy("export", crawled.where, "-O", "out.warc.gz", cwd=tmp_path)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert f"give -s STORE_URI={crawled.folder}/bodies" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_lines_go_behind_others_and_documents_to_standard_output(
    crawled: Crawled, tmp_path: Path
) -> None:
    (tmp_path / "out.jsonl").write_text('{"url":"before"}\n')
    result = scrapy(
        *("export", crawled.where, "-o", "out.jsonl", "-o", "-:json"),
        *crawled.options,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    own = (crawled.folder / "own.jsonl").read_text()
    assert (tmp_path / "out.jsonl").read_text() == '{"url":"before"}\n' + own
    assert result.stdout == (crawled.folder / "own.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("job",), 2, "-O: missing: give CRAWLDIR -O FILE [options]"),
        (("-O", "x.json"), 2, "CRAWLDIR: missing: give CRAWLDIR -O FILE [options]"),
        (("job", "more", "-O", "x.json"), 2, "unknown argument 'more'"),
        (("nowhere", "-O", "x.json"), 2, "there is no crawl in 'nowhere'"),
        (("job", "-O", "x.odd"), 2, "give the file the extension .json"),
        (("job", "-O", "x.warc"), 2, "no bodies are stored"),
        (("job", "-O", "job/crawl.db/x.json"), 2, "is not a folder"),
        (("job", "-o", "there.json"), 2, "nothing can be appended to such a file"),
        (("redis://127.0.0.1:1/0", "-O", "x.json"), 2, "nobody listens there"),
        (("--redis", "x", "-O", "x.json"), 2, "--redis: 'x' is no address of a Redis"),
        (("job", "-O", "/dev/full:json"), 1, "can't write '/dev/full': No space left"),
        (("job", "-O"), 2, "expected one argument"),
    ],
)
def test_bad_arguments_are_told_in_a_line(
    tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    crawl = Crawl(tmp_path / "job")
    crawl.fetch("/", "/a")
    crawl.close()
    (tmp_path / "there.json").write_text("{}")
    result = scrapy("export", *arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (status, "", 1)
    assert result.stderr.startswith("scrapy export: error: ")
    assert said in result.stderr


class Workers:
    """Workers of one crawl."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, number: int, delay: float) -> None:
        options = [*self._options, "-s", f"DOWNLOAD_DELAY={delay}"]
        for _ in range(number):
            output = f"{len(self.processes)}.json"
            self.processes.append(start_crawl(self._folder, [*options, "-O", output]))

    def end(self) -> list[str]:
        """What they have said."""
        said = [process.communicate(timeout=PATIENCE)[1] for process in self.processes]
        assert [process.returncode for process in self.processes] == [0] * len(said), said
        self.processes.clear()
        return said

    def kill(self) -> None:
        for process in self.processes:
            kill(process)


@pytest.fixture
def server(site: SiteFactory) -> Site:
    pages = {f"/{number}": {"links": [f"/{number + 1}"]} for number in range(1, 60)}
    return site({"pages": {"/": {"links": list(pages)}, **pages, "/60": {}}})


@pytest.fixture
def workers(tmp_path: Path, redis_url: str, server: Site) -> Iterator[Workers]:
    options = ("-a", f"seed={server.url()}", "-s", f"REDIS_URL={redis_url}", "-s", "LOG_LEVEL=INFO")
    found = Workers(tmp_path, *options)
    yield found
    found.kill()


def test_a_fleet_is_looked_at_stopped_and_goes_on(
    capfd: CapFd, tmp_path: Path, redis_url: str, server: Site, workers: Workers
) -> None:
    # A minute of work.
    workers.start(2, delay=1)
    client: Any = Redis.from_url(redis_url)
    wait_for(lambda: len(server.paths()) > 1 and len(client.keys("*:workers")) > 0)
    (key,) = client.keys("*:workers")
    wait_for(lambda: client.zcard(key) == 2)
    # While they work.
    values = json.loads(ask(capfd, "frontier", redis_url, "--json").out)
    names = [worker["name"] for worker in values["fleet"]["workers"]]
    assert values["running"] == names
    assert values["fleet"]["committer"] in names
    account = json.loads(ask(capfd, "why", server.url("/1"), redis_url, "--json").out)
    assert account["way"][0]["url"] == server.url()
    assert account["running"] is not None
    export = scrapy("export", redis_url, "-O", "live.json", cwd=tmp_path)
    assert export.returncode == 0, export.stderr
    assert "not yet fetched." in export.stderr
    assert 0 < len(json.loads((tmp_path / "live.json").read_text())["pages"]) < 61
    assert ask(capfd, "forget", redis_url, "--crawl", values["fleet"]["crawl"]).status == 1
    # Both end.
    assert "end within seconds." in ask(capfd, "stop", redis_url).out
    for said in workers.end():
        assert "The whole crawl is to end: stopped" in said
        assert "Stopped by scrapy stop: in-flight requests were finished" in said
    values = json.loads(ask(capfd, "frontier", redis_url, "--json").out)
    assert values["running"] is None
    assert values["urls"]["leased"] == 0
    assert 0 < values["urls"]["done"] < 61
    # And go on, to the end; no page is asked for twice.
    workers.start(1, delay=0)
    (said,) = workers.end()
    assert "Stopped" not in said
    assert sorted(server.paths()) == sorted(f"/{number or ''}" for number in range(61))
    assert ask(capfd, "forget", redis_url, "--crawl", values["fleet"]["crawl"]).status == 0
    assert Redis.from_url(redis_url).dbsize() == 0
