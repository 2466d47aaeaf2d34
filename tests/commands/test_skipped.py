"""The skip ledger, as a user gets it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlproject.frontier.base import NOFOLLOW, Candidate
from tests.commands.inquiring import SITE, Crawl, ask, url
from tests.crawling import command_environment, scrapy
from tests.forking import Forked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    CapFd = pytest.CaptureFixture[str]
    SiteFactory = Callable[..., Site]

HEADER = ["url", "reason", "rule", "depth", "referrer"]
LEDGER = [
    ["https://other.example/", "offsite", "", "1", f"{SITE}/"],
    [f"{SITE}/b", "nofollow", "", "1", f"{SITE}/"],
    [f"{SITE}/private/", "excluded", "'=/private/", "1", f"{SITE}/"],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crawl = Crawl(tmp_path / "crawl")
    crawl.fetch(
        "/",
        Candidate(url("/private/"), "excluded: =/private/"),
        Candidate(url("/b"), NOFOLLOW),
        Candidate("https://other.example/", "offsite"),
        "/in",
    )
    crawl.close()
    return tmp_path / "crawl"


def rows(text: str) -> list[list[str]]:
    header, *rest = csv.reader(io.StringIO(text, newline=""))
    assert header == HEADER
    return rest


def test_the_ledger_is_a_table_sorted_by_url_and_defused(capfd: CapFd, folder: Path) -> None:
    answer = ask(capfd, "skipped", folder)
    assert (answer.status, answer.err) == (0, "")
    assert rows(answer.out) == LEDGER
    assert answer.out.count("\r\n") == 4


def test_json_lines_are_for_programs(capfd: CapFd, folder: Path) -> None:
    lines = [json.loads(line) for line in ask(capfd, "skipped", folder, "--json").out.splitlines()]
    assert [list(line) for line in lines] == [HEADER] * 3
    assert lines[2]["rule"] == "=/private/"
    assert lines[1]["rule"] is None


def test_reasons_can_be_chosen(capfd: CapFd, folder: Path) -> None:
    assert rows(ask(capfd, "skipped", folder, "--reason", "offsite").out) == LEDGER[:1]
    both = ask(capfd, "skipped", folder, "--reason=nofollow", "--reason=excluded")
    assert rows(both.out) == LEDGER[1:]


@pytest.mark.parametrize("reason", ["depth", "robots", "request not kept"])
def test_a_reason_that_nothing_was_skipped_for_gives_an_empty_table(
    capfd: CapFd, folder: Path, reason: str
) -> None:
    answer = ask(capfd, "skipped", folder, "--reason", reason)
    assert (answer.status, rows(answer.out)) == (0, [])


@pytest.mark.parametrize("name", ["l.csv", "sub/l.CSV", "l.jsonl", "l.jl"])
def test_a_file_is_replaced_when_it_is_complete(
    capfd: CapFd, folder: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("yesterday " * 1000)
    answer = ask(capfd, "skipped", folder, "-o", path)
    assert (answer.status, answer.out, answer.err) == (0, "", "")
    text = path.read_bytes().decode()
    assert len(text.splitlines()) == (4 if name.lower().endswith("csv") else 3)
    assert [one.name for one in path.parent.glob(".*")] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reason", "ofsite"], "--reason: nothing was skipped for 'ofsite'; did you mean 'off"),
        (["--reason", "xyz"], "--reason: nothing was skipped for 'xyz'; there are excluded, nof"),
        (["-o", "@/l.xml"], "can't write '@/l.xml': give the file the extension .csv or .jsonl"),
        (["more"], "unknown argument 'more'; give CRAWLDIR [options]"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    capfd: CapFd, folder: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    given = [part.replace("@", str(tmp_path)) for part in arguments]
    answer = ask(capfd, "skipped", folder, *given)
    assert (answer.status, answer.out) == (2, "")
    expected = f"scrapy skipped: error: {message.replace('@', str(tmp_path))}"
    assert answer.err.startswith(expected)
    assert answer.err.count("\n") == 1


def test_a_place_where_no_file_can_be_gets_one_line_and_status_1(
    capfd: CapFd, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "l.csv"
    answer = ask(capfd, "skipped", folder, "-o", path)
    assert (answer.status, answer.out) == (1, "")
    assert answer.err == f"scrapy skipped: error: can't write {str(path)!r}: File exists\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
def test_a_full_disk_gets_one_line_and_status_1(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full.csv").symlink_to("/dev/full")
    result = scrapy("skipped", str(folder), "-o", "full.csv", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == (
        "scrapy skipped: error: can't write 'full.csv': No space left on device\n"
    )


def test_a_reader_who_has_seen_enough_ends_it_quietly(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    # More than a pipe holds.
    links = [Candidate(url(f"/{number:0100}"), NOFOLLOW) for number in range(3000)]
    crawl.fetch("/", *links)
    crawl.close()
    process = Forked[bytes](
        [sys.executable, "-m", "scrapy", "skipped", str(tmp_path)],
        env=command_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"url,reason,rule,depth,referrer\r\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


def test_a_crawl_can_be_looked_into(site: SiteFactory, tmp_path: Path) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/a", "https://other.example/"]},
                "/a": {"title": "A", "links": ["/deep"]},
            }
        }
    )
    options = ["-a", "depth=1", "-s", "JOBDIR=job", "-s", "MONITORING_SUMMARY=False"]
    result = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    ledger = scrapy("skipped", "job", cwd=tmp_path).stdout
    assert [row[:3] for row in rows(ledger.replace("\n", "\r\n"))] == [
        [server.url("/deep"), "depth", "DEPTH_LIMIT=1"],
        ["https://other.example/", "offsite", ""],
    ]
    why = scrapy("why", server.url("/deep"), "job", cwd=tmp_path)
    assert "as are all URLs deeper than 1 link (depth=1)." in why.stdout
    overview = json.loads(scrapy("frontier", "job", "--json", cwd=tmp_path).stdout)
    assert (overview["running"], overview["urls"]["done"]) == (None, 3)
    assert overview["hosts"]["busiest"][0]["requests"] == len(server.log())
