"""A stored page, as a user sees it."""

from __future__ import annotations

import base64
import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import zstandard
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.database import DATABASE
from tests.commands.inquiring import Crawl, ask, url
from tests.crawling import command_environment, crawl_site
from tests.forking import Forked
from tests.killing import CrawlProcess
from tests.site.spec import Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    CapFd = pytest.CaptureFixture[str]
    SiteFactory = Callable[..., Site]

BINARY = random.Random(4).randbytes(300_000)
PAGES: dict[str, dict[str, Any]] = {
    "/": {"links": ["/old", "/gone", "/binary"], "headers": {"X-Mark": "here"}, "title": "Home"},
    "/old": {"redirect": "/new"},
    "/new": {},
    "/gone": {"status": 404, "body": "nothing here"},
    "/binary": {"body": "", "content_type": "application/octet-stream"},
}


async def crawled(server: Site, job: Path, **settings: object) -> None:
    await crawl_site(server.url(), {"JOBDIR": str(job), "STORE_BODIES": True, **settings})


@deferred_f_from_coro_f
async def test_a_page_is_shown_with_the_headers_of_both_sides(
    site: SiteFactory, tmp_path: Path, capfd: CapFd
) -> None:
    server, job = site({"pages": PAGES}), tmp_path / "job"
    await crawled(server, job)
    size = len(Page("/", PAGES["/"]).body)
    answer = ask(capfd, "page", job, server.url())
    assert answer.status == 0
    lines = answer.out.splitlines()
    assert lines[:2] == [server.url(), f"It answered 200: text/html, {size} bytes."]
    assert "GET / HTTP/1.1" in lines
    assert "HTTP/1.1 200 OK" in lines
    said = [line.split() for line in lines]
    assert ["Host", f"127.0.0.1:{server.port}"] in said
    assert ["X-Mark", "here"] in said
    assert ["title", "Home"] in said
    assert f"  body         {size} bytes, stored as " in answer.out
    # The other order, and a path alone.
    for operands in ((server.url(), job), (job, "/"), ("/", job)):
        assert ask(capfd, "page", *operands).out.splitlines()[0] == server.url()


@deferred_f_from_coro_f
async def test_errors_and_redirects_are_stored_pages_too(
    site: SiteFactory, tmp_path: Path, capfd: CapFd
) -> None:
    server, job = site({"pages": PAGES}), tmp_path / "job"
    await crawled(server, job)
    answer = ask(capfd, "page", job, "/gone")
    assert (answer.status, "error        unexpected status 404" in answer.out) == (0, True)
    assert ask(capfd, "page", job, "/gone", "--body").out == "nothing here"
    answer = ask(capfd, "page", job, "/old")
    assert answer.status == 0
    assert f"It redirects to {server.url('/new')}." in answer.out
    assert "HTTP/1.1 301 Moved Permanently" in answer.out
    answer = ask(capfd, "page", job, "/old", "--body")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err == (
        f"scrapy page: error: there is no body of {server.url('/old')}: "
        f"it redirects to {server.url('/new')}\n"
    )


def run(job: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return Forked(
        [sys.executable, "-m", "scrapy", "page", str(job), *arguments],
        cwd=job.parent,
        env=command_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@deferred_f_from_coro_f
async def test_a_body_comes_byte_by_byte_and_may_be_read_in_part(
    site: SiteFactory, tmp_path: Path
) -> None:
    body = base64.b64encode(BINARY).decode()
    pages = {"/": {"body_base64": body, "content_type": "application/octet-stream"}}
    server, job = site({"pages": pages}), tmp_path / "job"
    await crawled(server, job)
    whole = run(job, "/", "--body")
    assert whole.communicate() == (BINARY, b"")
    assert whole.returncode == 0
    part = run(job, "/", "--body")
    assert part.stdout is not None
    assert part.stderr is not None
    assert part.stdout.read(10) == BINARY[:10]
    part.stdout.close()
    with part.stderr as errors:
        assert errors.read() == b""
    assert part.wait() == 0


@deferred_f_from_coro_f
async def test_programs_get_all_of_it(site: SiteFactory, tmp_path: Path, capfd: CapFd) -> None:
    server, job = site({"pages": PAGES}), tmp_path / "job"
    await crawled(server, job)
    leaf = json.loads(ask(capfd, "page", job, "/gone", "--json").out)
    assert list(leaf) == [
        "asked",
        "url",
        "state",
        "page",
        "redirects_to",
        "stored",
        "body",
        "near",
    ]
    assert (leaf["state"], leaf["body"], leaf["redirects_to"]) == ("failed", "stored", None)
    assert leaf["page"]["referrer"] == server.url()
    # scrapy duplicates tells: that there is none is not known here.
    assert not {"duplicate_of", "near_duplicate_of", "similarity"} & leaf["page"].keys()
    assert leaf["stored"]["status"] == 404
    assert list(leaf["stored"]) == [
        "url",
        "method",
        "status",
        "reason",
        "http_version",
        "request_headers",
        "response_headers",
        "content_hash",
        "content_type",
        "etag",
        "last_modified",
        "content_encoding",
        "body_bytes",
        "stored_bytes",
        "store",
        "crawled_at",
        "ip_address",
        "error",
    ]


@deferred_f_from_coro_f
async def test_a_body_that_is_damaged_is_not_shown(
    site: SiteFactory, tmp_path: Path, capfd: CapFd
) -> None:
    server, job = site({"pages": PAGES}), tmp_path / "job"
    await crawled(server, job)
    key = json.loads(ask(capfd, "page", job, "/gone", "--json").out)["stored"]["content_hash"]
    (job / "bodies" / key[:2] / f"{key}.zst").write_bytes(b"half")
    shown = ask(capfd, "page", job, "/gone").out
    assert "body         stored, but it is gone, or damaged\n" in shown
    answer = ask(capfd, "page", job, "/gone", "--body")
    assert (answer.status, answer.out) == (1, "")
    assert f"{job}/bodies has no whole body {key}" in answer.err


@deferred_f_from_coro_f
async def test_a_body_that_unpacks_to_more_than_it_had_is_not_shown(
    site: SiteFactory, tmp_path: Path, capfd: CapFd
) -> None:
    server, job = site({"pages": PAGES}), tmp_path / "job"
    await crawled(server, job)
    key = json.loads(ask(capfd, "page", job, "/gone", "--json").out)["stored"]["content_hash"]
    bomb = zstandard.ZstdCompressor().compress(bytes(10_000_000))
    (job / "bodies" / key[:2] / f"{key}.zst").write_bytes(bomb)
    problem = f"{job}/bodies has {key}, but it unpacks to 10,000,000 bytes, and may have 12"
    assert f"body         stored, but {problem}\n" in ask(capfd, "page", job, "/gone").out
    answer = ask(capfd, "page", job, "/gone", "--body")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.endswith(f": {problem}\n")
    # More than a body may have now.
    answer = ask(capfd, "page", job, "/gone", "--body", "-s", "DOWNLOAD_MAXSIZE=11")
    assert answer.err.endswith("it has 12 bytes, more than DOWNLOAD_MAXSIZE=11\n")


@deferred_f_from_coro_f
async def test_a_body_that_is_elsewhere_is_read_when_it_is_said_where(
    site: SiteFactory, tmp_path: Path, capfd: CapFd
) -> None:
    server, job = site({"pages": PAGES}), tmp_path / "job"
    uri = f"memory://{uuid4()}/x"
    await crawled(server, job, STORE_URI=uri)
    answer = ask(capfd, "page", job, "/gone", "--body")
    assert answer.status == 1
    assert answer.err.endswith(f": it is in {uri}: -s STORE_URI={uri} reads it\n")
    named = ("-s", f"STORE_URI={uri}")
    assert ask(capfd, "page", job, "/gone", "--body", *named).out == "nothing here"


def test_a_page_without_a_stored_answer_says_how_to_store_it(tmp_path: Path, capfd: CapFd) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/waiting")
    crawl.close()
    answer = ask(capfd, "page", tmp_path, url("/"))
    assert answer.status == 0
    assert "It answered 200: text/html, 7,936 bytes." in answer.out
    assert "body      not stored; -s STORE_BODIES=True keeps the bodies" in answer.out
    answer = ask(capfd, "page", tmp_path, url("/"), "--body")
    assert answer.status == 1
    assert "it is not stored; -s STORE_BODIES=True keeps the bodies" in answer.err
    answer = ask(capfd, "page", tmp_path, url("/waiting"))
    assert answer.status == 1
    assert "There is no page of it: it is queued. scrapy why says more." in answer.out


def test_of_a_url_never_seen_it_says_which_come_near(tmp_path: Path, capfd: CapFd) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/events/")
    crawl.fetch("/events/")
    crawl.close()
    answer = ask(capfd, "page", tmp_path, url("/evnts/"))
    assert answer.status == 1
    assert "It was never seen" in answer.out
    assert f"done  {url('/events/')}  spelled almost the same" in answer.out
    assert "never seen" in ask(capfd, "page", tmp_path, url("/evnts/"), "--body").err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["@"], "URL: missing: give CRAWLDIR URL [options]"),
        ([], "URL: missing: give CRAWLDIR URL [options]"),
        (["@/none", "http://x.example/"], "there is no crawl in '@/none'"),
        (["@", "http://x.example/", "--bdy"], "unknown option '--bdy'; did you mean --body?"),
        (["@", "http://x.example/", "--body", "--json"], "--body: is the body alone"),
        (["@", "mailto:me"], "URL: "),
        (["@", "a", "b"], "unknown argument 'b'; give CRAWLDIR URL [options]"),
    ],
)
def test_bad_arguments_are_one_line(
    tmp_path: Path, capfd: CapFd, arguments: list[str], complaint: str
) -> None:
    Crawl(tmp_path).close()
    answer = ask(capfd, "page", *(part.replace("@", str(tmp_path)) for part in arguments))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"scrapy page: error: {complaint.replace('@', str(tmp_path))}")
    assert answer.err.count("\n") == 1


def test_it_works_while_the_crawl_runs(site: SiteFactory, tmp_path: Path, capfd: CapFd) -> None:
    server = site({"pages": {"/": {"body": "<a href=/slow>"}, "/slow": {"hang": True}}})
    options = ("-a", f"seed={server.url()}", "-s", "STORE_BODIES=True")
    with CrawlProcess(tmp_path, *options) as crawl:
        crawl.until(lambda: any(entry["path"] == "/slow" for entry in server.open()))
        crawl.until(lambda: ask(capfd, "page", tmp_path / "job", "/", "--body").status == 0)
        assert ask(capfd, "page", tmp_path / "job", "/", "--body").out == "<a href=/slow>"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("{", "a record is no JSON"),
        ("[]", "a record is no JSON object"),
        ("{}", "url of a stored answer is not one of ours"),
        ("store", "store of a stored answer is not one of ours"),
        ("status", "status of a stored answer is not one of ours"),
        ("response_headers", "response_headers of a stored answer"),
    ],
)
def test_what_a_stranger_has_stored_is_told_in_one_line(
    tmp_path: Path, capfd: CapFd, answer: str, problem: str
) -> None:
    stored: dict[str, Any] = {
        **dict.fromkeys(("url", "method", "reason", "http_version", "content_hash", "store"), ""),
        "status": 200,
        "body_bytes": 0,
        "request_headers": [],
        "response_headers": [],
    }
    if answer in stored:
        stored[answer] = ["", [["a"]]]
        answer = json.dumps(stored)
    crawl = Crawl(tmp_path)
    crawl.fetch("/", stored={})
    crawl.close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("UPDATE stored SET answer = ?", (answer,))
        database.commit()
    for options in ((), ("--body",), ("--json",)):
        told = ask(capfd, "page", tmp_path, url("/"), *options)
        assert (told.status, told.out) == (2, "")
        assert problem in told.err
        assert len(told.err.splitlines()) == 1


def test_headings_that_a_pipeline_has_changed_are_shown(tmp_path: Path, capfd: CapFd) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", headings=["Tulips", {"level": 2, "text": "Red"}])
    crawl.close()
    told = ask(capfd, "page", tmp_path, url("/"))
    assert (told.status, told.err) == (0, "")
    said = [line.split() for line in told.out.splitlines()]
    assert ["heading", "Tulips"] in said
    assert ["h2", "Red"] in said


def test_long_fields_are_shown_in_part(tmp_path: Path, capfd: CapFd) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", description="word " * 200)
    crawl.close()
    told = ask(capfd, "page", tmp_path, url("/"))
    assert "… (1,000 characters; --json has them all)" in " ".join(told.out.split())
    assert told.out.count("word") == 80
    page = json.loads(ask(capfd, "page", tmp_path, url("/"), "--json").out)["page"]
    assert page["description"] == "word " * 200
