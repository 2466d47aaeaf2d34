from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from tests.commands.inquiring import SITE, Crawl, ask

if TYPE_CHECKING:
    from pathlib import Path

    CapFd = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/a", "/b", "/=c")
    crawl.fetch("/a", "/")
    crawl.fetch("/b", "/", "/a")
    crawl.fetch("/=c", "/")
    crawl.close()
    return tmp_path


def test_the_pages_that_matter_most_are_told_in_a_table(folder: Path, capfd: CapFd) -> None:
    told = ask(capfd, "rank", folder, "--top", "2")
    assert told.status == 0
    assert told.out.splitlines() == [
        "The first 2 of 4 pages by PageRank; 1 is the mean.",
        "",
        "  rank  inlinks  depth  page",
        f"  1.77        3      0  {SITE}/",
        f"  0.93        2      1  {SITE}/a",
    ]


def test_programs_get_json(folder: Path, capfd: CapFd) -> None:
    told = json.loads(ask(capfd, "rank", folder, "--json", "--top", "0").out)
    assert told["pages"] == len(told["ranked"]) == 4
    assert [page["url"] for page in told["ranked"][:2]] == [f"{SITE}/", f"{SITE}/a"]
    assert sum(page["rank"] for page in told["ranked"]) == pytest.approx(4)
    assert {*told["ranked"][0]} == {"url", "rank", "inlinks", "depth"}


def test_spreadsheets_get_csv(folder: Path, capfd: CapFd) -> None:
    header, *rows = csv.reader(io.StringIO(ask(capfd, "rank", folder, "--csv").out))
    assert header == ["url", "rank", "inlinks", "depth"]
    assert [row[0] for row in rows[:2]] == [f"{SITE}/", f"{SITE}/a"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--top", "many"), "--top: 'many' is not a number of pages such as 20"),
        (("--top", "-1"), "--top: '-1' is not a number of pages such as 20"),
        (("--csv", "--json"), "--csv: goes not together with --json: give one of them"),
    ],
)
def test_bad_arguments_are_told_in_a_line(
    arguments: tuple[str, ...], problem: str, folder: Path, capfd: CapFd
) -> None:
    told = ask(capfd, "rank", folder, *arguments)
    assert (told.status, told.err) == (2, f"scrapy rank: error: {problem}\n")


def test_a_crawl_without_pages_has_none(tmp_path: Path, capfd: CapFd) -> None:
    Crawl(tmp_path).close()
    assert ask(capfd, "rank", tmp_path).out == "There are no pages.\n"
