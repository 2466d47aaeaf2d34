from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crawlproject.frontier.base import Candidate
from tests.commands.inquiring import SITE, Crawl, SharedCrawl, ask
from tests.crawling import scrapy
from tests.report.reading import report_in

if TYPE_CHECKING:
    from pathlib import Path

    CapFd = pytest.CaptureFixture[str]


def fetch(crawl: Crawl) -> None:
    crawl.fetch("/", "/a", "/old", "/gone", Candidate("https://other.example/", "offsite"))
    crawl.fetch("/a")
    crawl.redirect("/old", "/a", 301)
    crawl.fetch("/gone", status_code=404, error="unexpected status 404")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crawl = Crawl(tmp_path / "crawl")
    fetch(crawl)
    crawl.close()
    return tmp_path / "crawl"


def test_the_report_is_written_where_one_is(
    folder: Path, tmp_path: Path, capfd: CapFd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = ask(capfd, "report", folder)
    assert (told.status, told.out) == (0, "")
    assert told.err.startswith("Wrote report.html (")
    report = report_in((tmp_path / "report.html").read_bytes())
    assert report.pages["url"] == [f"{SITE}/", f"{SITE}/a", f"{SITE}/gone"]
    assert report.texts("broken", "sources") == [[f"{SITE}/"]]


def test_export_writes_the_same_bytes(folder: Path, tmp_path: Path, capfd: CapFd) -> None:
    assert ask(capfd, "report", folder, "-o", tmp_path / "a.html").status == 0
    assert scrapy("export", str(folder), "-O", "b.html", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_shared_crawl_has_the_same_report(
    folder: Path, tmp_path: Path, capfd: CapFd, redis_url: str
) -> None:
    crawl = SharedCrawl(redis_url)
    fetch(crawl)
    crawl.close()
    assert ask(capfd, "report", redis_url, "-o", tmp_path / "shared.html").status == 0
    assert ask(capfd, "report", folder, "-o", tmp_path / "own.html").status == 0
    shared, own = (
        report_in((tmp_path / f"{name}.html").read_bytes()) for name in ("shared", "own")
    )
    assert shared.pages == own.pages
    assert shared.texts("redirects", "way") == own.texts("redirects", "way")


def test_a_crawl_that_is_not_over_says_how_much_is_left(tmp_path: Path, capfd: CapFd) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/a", "/b")
    crawl.frontier.commit()
    told = ask(capfd, "report", tmp_path, "-o", tmp_path / "r.html")
    crawl.close()
    assert told.err.endswith("; 2 URLs not yet fetched.\n")
    assert report_in((tmp_path / "r.html").read_bytes()).head["open"] == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "CRAWLDIR: missing: give CRAWLDIR [options]"),
        (
            ("{folder}", "-o", "report.pdf"),
            "can't write 'report.pdf': give the file the extension .html",
        ),
        (("{folder}/none",), "there is no crawl in '{folder}/none'"),
        (("{folder}", "--json"), "unknown option '--json'; --help lists the options"),
    ],
)
def test_bad_arguments_are_told_in_a_line(
    arguments: tuple[str, ...], problem: str, folder: Path, capfd: CapFd
) -> None:
    told = ask(capfd, "report", *(one.format(folder=folder) for one in arguments))
    assert told.status == 2
    assert told.err.startswith(f"scrapy report: error: {problem.format(folder=folder)}")


def test_a_report_that_can_t_be_written_leaves_the_old_one(
    folder: Path, tmp_path: Path, capfd: CapFd, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("yesterday")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("crawlproject.report.document.write_report", full)
    told = ask(capfd, "report", folder, "-o", path)
    assert (told.status, told.err) == (
        1,
        f"scrapy report: error: can't write {str(path)!r}: No space left on device\n",
    )
    assert path.read_text() == "yesterday"
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["report.html"]


@pytest.mark.parametrize(
    ("output", "reason"), [("folder.html", "Is a directory"), ("file/r.html", "File exists")]
)
def test_a_place_where_no_file_can_be_is_an_output_that_can_t_be_written(
    output: str, reason: str, folder: Path, tmp_path: Path, capfd: CapFd
) -> None:
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").touch()
    path = tmp_path / output
    told = ask(capfd, "report", folder, "-o", path)
    assert told.status == 1
    assert told.err == f"scrapy report: error: can't write {str(path)!r}: {reason}\n"
