"""The command, as a user runs it: exit status, messages, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.spiders.arguments import ARGUMENTS
from tests.crawling import command_environment, fresh_scrapy, scrapy
from tests.forking import Forked
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def error_line(stderr: str) -> str:
    lines = stderr.strip().splitlines()
    assert len(lines) == 1, stderr
    return lines[0]


def test_a_crawl_writes_several_outputs_and_ends_with_0(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"generated": {"kind": "tree", "fan": 3, "depth": 2}})
    outputs = ["-O", "a.json", "-O", "b.csv", "-O", "sub/c.xml", "-o", "d.jsonl"]
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *outputs, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["seed"] == server.url()
    assert len(document["pages"]) == 13
    assert (tmp_path / "b.csv").read_text().startswith("url,status_code,bytes,fetch_ms,outlinks")
    assert (tmp_path / "sub/c.xml").read_text().count("<loc>") == 13
    assert len((tmp_path / "d.jsonl").read_text().splitlines()) == 13
    assert "Crawled 13 pages" in result.stderr
    assert "Traceback" not in result.stderr
    assert "a.json" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "seed: missing: give a URL, as in -a seed=https://example.com"),
        (["-a", "seed=ftp://x"], "seed: not a crawlable URL: 'ftp://x'"),
        (["-a", "seed=not a url"], "seed: not a crawlable URL: 'not'"),
        (["-a", "seed=http://x", "-a", "depth=-1"], "depth: '-1' is not a number of links"),
        (["-a", "seed=http://x", "-a", "dept=1"], "dept: no such argument; did you mean depth?"),
        (["-a", "seed"], "Invalid -a value, use -a NAME=VALUE"),
        (["-a", "seed=http://x", "-O", "missing.txt/x.json"], "can't write"),
        (["-a", "seed=http://x", "-O", "x.unknown"], "Unrecognized output format 'unknown': give"),
        (["-a", "seed=http://x", "-O", "s3://x/y.json"], "can't write 's3://x/y.json': missing"),
        (["-a", "seed=http://x", "-O", "gopher://x/y.json"], "can't write 'gopher://x/y.json': "),
        (["-a", "seed=http://x", "-o", "old.json"], "'old.json' exists, and nothing can be"),
        (["-a", "seed=http://x", "--depth=2"], "unknown option '--depth=2'; did you mean -a depth"),
        (["-a", "seed=http://x", "depth=2"], "unknown argument 'depth=2'; did you mean -a depth"),
        (
            ["-a", "seed=http://x", "-s", "FRONTIER_GATEKEEPER=a.B"],
            "FRONTIER_GATEKEEPER: can't load",
        ),
        (
            ["-a", "seed=http://x", "-s", 'ITEM_PIPELINES={"a.B": 1}'],
            "ITEM_PIPELINES: can't load 'a.B': No module named 'a'",
        ),
        (
            ["-a", "seed=http://x http://y", "-s", "HTTPAUTH_USER=me"],
            "HTTPAUTH_DOMAIN: missing: which of the seeds' hosts gets the password?",
        ),
        (["-a", "seed=http://x", "-s", "DOWNLOAD_DELAY=x"], "DOWNLOAD_DELAY: 'x' is not"),
        (
            ["-a", "seed=http://x", "-s", "JOBIDR=x"],
            "unknown setting 'JOBIDR'; did you mean -s JOBDIR",
        ),
        (
            ["-a", "seed=http://x", "-s", "jobdir=x"],
            "unknown setting 'jobdir'; did you mean -s JOBDIR",
        ),
        (
            ["-a", "seed=http://x", "-s", "SCOPE_MAXPAGES=3"],
            "unknown setting 'SCOPE_MAXPAGES'; did you mean -s SCOPE_MAX_PAGES=…?",
        ),
        (["-a", "seed=http://x", "-s", "FRONTIER_COMMIT_PAGES=0"], "FRONTIER_COMMIT_PAGES: '0'"),
        (["-a", "seed=http://x", "-L", "LOUD"], "LOG_LEVEL: 'LOUD' is not DEBUG"),
        (["-a", "seed=http://x", "-s", "ROBOTSTXT_OBEY=maybe"], "ROBOTSTXT_OBEY: 'maybe' is not"),
        (["-a", "seed=http://x", "-a", "timeout=0"], "timeout: '0' is not a time"),
        (["-a", "seed=http://x", "-a", f"depth={'9' * 5000}"], "depth: '99999"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "missing.txt").write_text("a file, not a folder")
    (tmp_path / "old.json").write_text("{}")
    result = scrapy("crawl", "site", *options, cwd=tmp_path)
    assert result.returncode == 2
    assert error_line(result.stderr).startswith(f"scrapy crawl: error: {message}")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("CONCURRENT_ITEMS=0", "CONCURRENT_ITEMS: '0' is not a whole number of 1 or more"),
        ("DOWNLOAD_TIMEOUT=0", "DOWNLOAD_TIMEOUT: 0 is no time at all"),
        ("RETRY_HTTP_CODES=503,x", "RETRY_HTTP_CODES: 'x' is not a status such as 503"),
        ("RETRY_EXCEPTIONS=foo", "RETRY_EXCEPTIONS: can't load 'foo'"),
        ("FEED_EXPORT_ENCODING=klingon", "FEED_EXPORT_ENCODING: 'klingon' is not an encoding"),
        ("LOG_ENCODING=klingon", "LOG_ENCODING: 'klingon' is not an encoding"),
        ("LOG_STDOUT=x", "LOG_STDOUT: 'x' is not 'yes' or 'no'"),
        ("LOG_FILE=missing/log", "LOG_FILE: can't write 'missing/log': No such file"),
        ("TWISTED_REACTOR=x", "TWISTED_REACTOR: can't load 'x'"),
        ("SPIDER_MODULES=nope", "SPIDER_MODULES: can't load 'nope'"),
        ("STATS_CLASS=x.y", "STATS_CLASS: can't load 'x.y'"),
        ("SCHEDULER=scrapy.core.scheduler.Scheduler", "SCHEDULER: 'scrapy.core.scheduler.Sch"),
        ("JOBDIR=", "JOBDIR is empty: name a directory"),
        ("EXTENSIONS=3", "EXTENSIONS: '3' is not a JSON object such as"),
        ("ITEM_PIPELINES={", "ITEM_PIPELINES: '{' is not a JSON object such as"),
        ("FEEDS=x", "FEEDS: 'x' is not a JSON object such as"),
        ('FEEDS={"a.json": 3}', "FEEDS: 'a.json' has 3, not options in an object"),
    ],
)
def test_a_bad_setting_gets_one_line_before_anything_is_fetched(
    site: SiteFactory, tmp_path: Path, setting: str, message: str
) -> None:
    server = site({"pages": {"/": {}}})
    options = ["-a", f"seed={server.url()}", "-s", setting]
    result = scrapy("crawl", "site", *options, cwd=tmp_path)
    assert result.returncode == 2
    assert error_line(result.stderr).startswith(f"scrapy crawl: error: {message}")
    assert server.log() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "name", "value", "message"),
    [
        (["crawl", "site"], "FEEDS", "x", "FEEDS: 'x' is not a JSON object such as"),
        (["crawl", "site"], "LOG_LEVEL", "loud", "LOG_LEVEL: 'loud' is not DEBUG"),
        (["fetch", "http://x"], "EXTENSIONS", "[]", "EXTENSIONS: '[]' is not a JSON object"),
        (["frontier", "job"], "ITEM_PIPELINES", "{", "ITEM_PIPELINES: '{' is not a JSON object"),
    ],
)
def test_so_does_one_in_the_environment(
    tmp_path: Path, command: list[str], name: str, value: str, message: str
) -> None:
    environment: dict[str, Any] = {f"CRAWLPROJECT_{name}": value}
    result = scrapy(*command, cwd=tmp_path, **environment)
    assert result.returncode == 2
    assert error_line(result.stderr).startswith(f"scrapy {command[0]}: error: {message}")


@pytest.mark.parametrize("option", ["-s", "-L", "the environment"])
def test_a_log_level_may_be_in_lower_case(site: SiteFactory, tmp_path: Path, option: str) -> None:
    server = site({"pages": {"/": {}}})
    given = {"-s": ["-s", "LOG_LEVEL=info"], "-L": ["-L", "info"]}.get(option, [])
    environment: dict[str, Any] = {} if given else {"CRAWLPROJECT_LOG_LEVEL": "info"}
    seed = f"seed={server.url()}"
    result = scrapy("crawl", "site", "-a", seed, *given, cwd=tmp_path, **environment)
    assert result.returncode == 0, result.stderr
    assert "INFO: Spider opened" in result.stderr


@pytest.mark.parametrize("place", ["-s", "the environment"])
def test_headers_and_cookies_of_settings_are_written_as_those_of_arguments(
    site: SiteFactory, tmp_path: Path, place: str
) -> None:
    server = site({"pages": {"/": {}}})
    settings = {"FETCHING_HEADERS": "X-Env: staging", "FETCHING_COOKIES": "a=b; c=d"}
    options: list[str] = []
    environment: dict[str, Any] = {}
    for name, value in settings.items():
        if place == "-s":
            options += ["-s", f"{name}={value}"]
        else:
            environment[f"CRAWLPROJECT_{name}"] = value
    seed = f"seed={server.url()}"
    result = scrapy("crawl", "site", "-a", seed, *options, cwd=tmp_path, **environment)
    assert result.returncode == 0, result.stderr
    (entry,) = [entry for entry in server.log() if entry["path"] == "/"]
    assert entry["headers"]["x-env"] == "staging"
    assert entry["headers"]["cookie"] == "a=b; c=d"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('{"format": "pdf"}', "can't write 'a.json': its format 'pdf' is not one of csv"),
        (
            '{"format": "json", "encoding": "klingon"}',
            "can't write 'a.json': 'klingon' is not an encoding such as utf-8",
        ),
    ],
)
def test_so_does_an_output_that_can_not_be_written_as_it_is_wanted(
    tmp_path: Path, options: str, message: str
) -> None:
    feeds = f'FEEDS={{"a.json": {options}}}'
    result = scrapy("crawl", "site", "-a", "seed=http://x", "-s", feeds, cwd=tmp_path)
    assert result.returncode == 2
    assert error_line(result.stderr).startswith(f"scrapy crawl: error: {message}")


@pytest.mark.parametrize(
    "command",
    [
        ["crawl"],
        ["crawl", "nope"],
        ["crawl", "site", "-s", "DOWNLOAD_DELAY=x"],
        ["cluster", "nope"],
        ["export", "missing", "-O", "x.json"],
        ["fetch", "http://127.0.0.1:1/", "--spider=nope"],
    ],
)
def test_nothing_follows_the_line(tmp_path: Path, command: list[str]) -> None:
    # Whether an event loop that never ran complains at the exit depends on where it is in memory:
    # the warning tells that it is taken apart.
    result = fresh_scrapy(*command, cwd=tmp_path, PYTHONWARNINGS="always:unclosed <socket")
    assert result.returncode == 2
    assert result.stderr == error_line(result.stderr) + "\n"


def test_an_unknown_spider_is_named(tmp_path: Path) -> None:
    result = scrapy("crawl", "stie", cwd=tmp_path)
    assert result.returncode == 2
    assert error_line(result.stderr) == "scrapy crawl: error: spider: 'stie' is not one of site"


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        ("http://does-not-exist.invalid/", "dns (its name has no address)"),
        ("http://127.0.0.1:9/", "connection refused (nobody listens there)"),
    ],
)
def test_a_seed_that_can_not_be_reached_is_said_and_gives_1(
    tmp_path: Path, seed: str, error: str
) -> None:
    options = ["-s", "RETRY_TIMES=0", "-s", "MONITORING_SUMMARY=False", "-O", "x.json"]
    # Its robots.txt is tried again.
    options += ["-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01"]
    result = scrapy("crawl", "site", "-a", f"seed={seed}", *options, cwd=tmp_path)
    assert result.returncode == 1
    assert error_line(result.stderr) == (
        f"scrapy crawl: error: the seed {seed} could not be fetched: {error}"
    )
    pages = json.loads((tmp_path / "x.json").read_text())["pages"]
    assert [(page["url"], page["status_code"], page["error"]) for page in pages] == [
        (seed, None, error.partition(" (")[0])
    ]


DUMMY = ("-s", "STATS_CLASS=scrapy.statscollectors.DummyStatsCollector")


def test_the_summary_and_the_exit_status_need_no_stats(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    options = ("-a", f"seed={server.url()}", "-O", "out.json", *DUMMY)
    result = scrapy("crawl", "site", *options, cwd=tmp_path)
    assert result.returncode == 0
    assert "Crawled 2 pages of" in result.stderr
    assert "out.json (2 pages)" in result.stderr
    assert "nothing was written" not in result.stderr
    assert len(json.loads((tmp_path / "out.json").read_text())["pages"]) == 2


def test_nor_does_a_seed_that_can_not_be_reached(tmp_path: Path) -> None:
    quick = ["-s", "RETRY_TIMES=0", "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01"]
    quick += ["-s", "MONITORING_SUMMARY=False"]
    options = ("-a", "seed=http://127.0.0.1:9/", *quick, *DUMMY)
    result = scrapy("crawl", "site", *options, cwd=tmp_path)
    assert result.returncode == 1
    assert "the seed http://127.0.0.1:9/ could not be fetched" in error_line(result.stderr)


@pytest.mark.parametrize("stats", [(), DUMMY])
def test_an_output_that_its_storage_does_not_take_gives_1(
    site: SiteFactory, tmp_path: Path, stats: tuple[str, ...]
) -> None:
    server = site({"pages": {"/": {}}})
    # Nobody listens there.
    outputs = ("-O", "ftp://127.0.0.1:9/out.jsonl", "-O", "fine.jsonl")
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *outputs, *stats, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.endswith("an output could not be stored: the log says which\n")
    assert "ftp://127.0.0.1:9/out.jsonl (not complete: see the log)" in result.stderr
    assert "fine.jsonl (1 page)" in result.stderr


def test_a_seed_that_answers_500_is_said_and_gives_1(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"status": 500}}})
    options = ["-s", "RETRY_TIMES=0", "-s", "MONITORING_SUMMARY=False"]
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert result.returncode == 1
    assert "could not be fetched: unexpected status 500" in error_line(result.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
@pytest.mark.parametrize("format_", ["json", "jsonl", "csv", "xml"])
def test_a_full_disk_costs_that_output_alone_and_gives_1(
    site: SiteFactory, tmp_path: Path, format_: str
) -> None:
    server = site({"generated": {"kind": "tree", "fan": 2, "depth": 1}})
    options = ["-O", f"/dev/full:{format_}", "-O", "fine.json", "-s", "MONITORING_SUMMARY=False"]
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert result.returncode == 1
    assert error_line(result.stderr) == (
        "scrapy crawl: error: can't write '/dev/full': No space left on device"
    )
    assert len(json.loads((tmp_path / "fine.json").read_text())["pages"]) == 3


def start(
    server: Site, cwd: Path, *options: str, stdout: int | None = None
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seed={server.url()}"]
    return Forked(
        [*command, *options],
        cwd=cwd,
        env=command_environment(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_ctrl_c_finishes_what_is_in_flight_and_completes_the_outputs(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"generated": {"kind": "wide", "pages": 500}, "random_delay": [0.2, 0.3]})
    crawl = start(server, tmp_path, "-O", "out.json", "-O", "out.csv", "-O", "out.xml")
    wait_for(lambda: len(server.log()) > 20)
    os.killpg(crawl.pid, signal.SIGINT)
    _, stderr = crawl.communicate(timeout=30)
    assert crawl.returncode == 0, stderr
    assert "Stopped by a signal" in stderr
    assert "Traceback" not in stderr
    pages = json.loads((tmp_path / "out.json").read_text())["pages"]
    fetched = {server.url(path) for path in server.paths()}
    assert {page["url"] for page in pages} == fetched
    assert all(page.get("error") is None for page in pages)
    assert not any(entry.get("aborted") for entry in server.log())


RESULT = ("-O", "out.json", "-s", "JOBDIR=job")


def command(server: Site) -> list[str]:
    return ["crawl", "site", "-a", f"seed={server.url()}", *RESULT]


def test_ctrl_c_twice_ends_at_once(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"hang": True}}})
    log = tmp_path / "log.txt"
    crawl = start(server, tmp_path, *RESULT, "-L", "INFO", "--logfile", str(log))
    wait_for(lambda: any(entry["path"] == "/" for entry in server.open()))
    os.killpg(crawl.pid, signal.SIGINT)
    # The first must have been taken before the second is sent.
    wait_for(lambda: "Received SIGINT" in log.read_text())
    os.killpg(crawl.pid, signal.SIGINT)
    _, stderr = crawl.communicate(timeout=10)
    assert "Traceback" not in stderr
    assert "leaked" not in stderr
    assert crawl.returncode == 130
    assert "Stopped at once: no output was written. What was fetched is in job" in stderr
    assert not (tmp_path / "out.json").exists()
    # Nothing is lost by that.
    server.set({"pages": {"/": {}}})
    again = scrapy(*command(server), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(json.loads((tmp_path / "out.json").read_text())["pages"]) == 1


def test_a_crawl_directory_of_another_spider_is_refused(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    assert scrapy(*command(server), cwd=tmp_path).returncode == 0
    (tmp_path / "acme.py").write_text(
        "from crawlproject.spiders.site import SiteSpider\n\n\n"
        'class Other(SiteSpider):\n    name = "other"\n'
    )
    result = scrapy("runspider", "acme.py", *command(server)[2:], cwd=tmp_path)
    assert (result.returncode, error_line(result.stderr)) == (
        2,
        "scrapy runspider: error: the crawl in 'job' is that of the spider 'site': give 'other' a "
        "JOBDIR of its own",
    )


def test_the_time_limit_ends_a_crawl_with_its_outputs(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"generated": {"kind": "wide", "pages": 500}, "random_delay": [0.1, 0.1]})
    options = ["-a", "timeout=1s", "-a", "concurrency=2", "-O", "out.json"]
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert result.returncode == 0
    pages = json.loads((tmp_path / "out.json").read_text())["pages"]
    assert 0 < len(pages) < 501
    assert "time limit" in result.stderr


def test_the_time_limit_does_not_wait_for_a_server_that_never_answers(
    site: SiteFactory, tmp_path: Path
) -> None:
    pages = {"/": {"links": ["/hang"]}, "/hang": {"hang": True}}
    server = site({"pages": pages})
    options = ["-a", "timeout=1", "-s", "DOWNLOAD_TIMEOUT=600", "-O", "out.json"]
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert result.returncode == 0
    pages = json.loads((tmp_path / "out.json").read_text())["pages"]
    # It was not answered in our time, which is no fault of the page.
    assert [page["url"] for page in pages] == [server.url("/")]


def test_help_lists_the_arguments(tmp_path: Path) -> None:
    result = scrapy("crawl", "--help", cwd=tmp_path)
    assert result.returncode == 0
    for name in ARGUMENTS:
        assert f"-a {name}=" in result.stdout
    assert "-s JOBDIR=DIR; the same command goes on where it stopped" in result.stdout


def test_standard_output_can_be_an_output(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", "-O", "-:json", cwd=tmp_path)
    assert len(json.loads(result.stdout)["pages"]) == 1
    assert "WARNING" not in result.stderr


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_a_reader_of_standard_output_who_has_seen_enough_costs_one_line(
    site: SiteFactory, tmp_path: Path, kind: str
) -> None:
    server = site({"generated": {"kind": "chain", "pages": 12}})
    crawl = start(server, tmp_path, "-O", f"-:{kind}", "-s", "JOBDIR=job", stdout=subprocess.PIPE)
    assert crawl.stdout
    crawl.stdout.close()
    _, stderr = crawl.communicate(timeout=30)
    assert crawl.returncode == 1
    assert stderr.endswith(
        "scrapy crawl: error: standard output was closed before all was written\n"
    )
    assert "Traceback" not in stderr
    if kind == "jsonl":
        # Nobody would see the rest.
        assert "Stopped early (standard output was closed)" in stderr
        assert len(server.paths()) < 12
    # Nothing is lost, and nothing fetched twice.
    result = scrapy(*command(server), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert len(json.loads((tmp_path / "out.json").read_text())["pages"]) == 12
    assert len(server.paths()) == 12


def test_a_crawl_with_another_output_goes_on_when_standard_output_is_closed(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"generated": {"kind": "chain", "pages": 12}})
    crawl = start(
        server, tmp_path, "-O", "-:jsonl", "-O", "all.jsonl", "--nolog", stdout=subprocess.PIPE
    )
    assert crawl.stdout
    crawl.stdout.close()
    _, stderr = crawl.communicate(timeout=30)
    assert crawl.returncode == 1
    assert error_line(stderr).endswith("standard output was closed before all was written")
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 12


def test_lines_on_standard_output_begin_with_those_of_earlier_runs(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"generated": {"kind": "chain", "pages": 6}})
    crawl = ("crawl", "site", "-a", f"seed={server.url()}", "-s", "JOBDIR=job", "-o", "own.jsonl")
    for limit in ("2", "4"):
        result = scrapy(*crawl, "-a", f"max_pages={limit}", "-O", "-:jsonl", cwd=tmp_path)
        assert result.returncode == 0
        assert "Traceback" not in result.stderr
        assert len(result.stdout.splitlines()) == int(limit)
    assert len((tmp_path / "own.jsonl").read_text().splitlines()) == 4


def test_the_file_of_yesterday_stays_until_the_new_one_is_complete(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {"links": ["/hang"]}, "/hang": {"hang": True}}})
    output = tmp_path / "s.json"
    output.write_text("yesterday")
    crawl = start(server, tmp_path, "-O", "s.json")
    wait_for(lambda: any(entry["path"] == "/hang" for entry in server.open()))
    assert output.read_text() == "yesterday"
    os.killpg(crawl.pid, signal.SIGKILL)
    crawl.communicate()
    assert output.read_text() == "yesterday"
