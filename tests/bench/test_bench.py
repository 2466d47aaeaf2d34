"""The benchmark's site, its comparison, and one small run of it all. No figure is judged here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest

from bench.__main__ import main
from bench.crawlers import OUTPUT, differences, missing, read_pages
from bench.measure import Cost, CrawlFailed, Result, best, run
from bench.server import serve
from bench.site import LINKS, NAVIGATION_LINKS, PAGE_BYTES, Site

PROJECT = Path(__file__).resolve().parents[2]
BASE = "http://site.test"
HREF = re.compile(r'<a [^>]*href="([^"]*)"')


def links(site: Site, number: int) -> list[str]:
    return [urljoin(BASE + site.paths[number], href) for href in HREF.findall(site.html(number))]


@pytest.mark.parametrize("pages", [1, 2, 20, 21, 30, 500])
def test_every_page_is_reachable_from_the_first(pages: int) -> None:
    site = Site(pages)
    numbers = {BASE + path: number for number, path in enumerate(site.paths)}
    reached, found = {0}, [0]
    while found:
        on_site = {numbers[url] for url in links(site, found.pop()) if url.startswith(BASE)}
        found.extend(on_site - reached)
        reached |= on_site
    assert reached == set(range(pages))


@pytest.mark.parametrize("pages", [1, 2, 20, 21, 30, 59])
def test_a_page_of_a_small_site_has_60_links_too(pages: int) -> None:
    site = Site(pages)
    assert {len(links(site, number)) for number in range(pages)} == {LINKS}


def test_a_page_has_60_different_links_in_about_25_kilobytes() -> None:
    site = Site(200)
    for number in range(200):
        urls = links(site, number)
        assert len(set(urls)) == len(urls) == LINKS == 60
        assert sum(not url.startswith(BASE) for url in urls) == 2
        assert urls[:NAVIGATION_LINKS] == links(site, 0)[:NAVIGATION_LINKS]
        assert abs(len(site.html(number).encode()) - PAGE_BYTES) < 3_000


def test_the_site_is_the_same_each_time() -> None:
    first, second = Site(100), Site(100)
    assert first.paths == second.paths
    assert len(set(first.paths)) == 100
    assert [first.html(number) for number in range(100)] == [
        second.html(number) for number in range(100)
    ]


def test_a_site_without_pages_is_refused() -> None:
    with pytest.raises(ValueError, match="not 0"):
        Site(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["crawll"], "bench: error: 'crawll' is not one of crawl, links\n"),
        (["crawl", "--pages", "0"], "--pages: '0' is no whole number from 1 on\n"),
        (["--repeat", "x"], "--repeat: 'x' is no whole number from 1 on\n"),
        (["--server", "apache"], "invalid choice: 'apache'"),
        (["--output", "/no/such/folder/bench.json"], "--output: "),
    ],
)
def test_bad_arguments_get_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status: int | str | None = main(arguments)
    except SystemExit as stop:
        status = stop.code
    said = capsys.readouterr()
    assert status == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def write_output(folder: Path, document: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / OUTPUT).write_text(json.dumps(document), encoding="utf-8")
    return folder


def test_both_forms_of_output_are_read_as_the_same_pages(tmp_path: Path) -> None:
    records = [{"url": "u", "status_code": 200, "depth": 0, "links": ["b", "a", "b"]}]
    stock = read_pages(write_output(tmp_path / "stock", records))
    ours = read_pages(write_output(tmp_path / "ours", {"seed": "u", "pages": records}))
    assert stock == ours == {"u": (200, frozenset("ab"))}


@pytest.mark.parametrize("document", [3, {}, [{"url": "u"}], [1]])
def test_output_that_is_no_list_of_pages_is_an_error(tmp_path: Path, document: object) -> None:
    with pytest.raises(CrawlFailed, match="no list of pages"):
        read_pages(write_output(tmp_path, document))


def test_a_page_that_is_written_twice_is_an_error(tmp_path: Path) -> None:
    page = {"url": "u", "status_code": 200, "links": []}
    with pytest.raises(CrawlFailed, match="1 pages twice"):
        read_pages(write_output(tmp_path, [page, page]))


def test_differences_between_two_crawls_are_told_with_examples() -> None:
    same = (200, frozenset({"x"}))
    one = {"same": same, "lost": same, "status": same, "links": same}
    other = {"same": same, "new": same, "status": (500, same[1]), "links": (200, frozenset("y"))}
    assert list(differences("stock", one, "ours", other)) == [
        "only stock has lost",
        "only ours has new",
        "status differs: status",
        "links differ: links",
    ]
    assert list(differences("stock", one, "ours", one)) == []


def test_a_crawl_is_compared_with_the_site_too() -> None:
    pages = {"a": (200, frozenset[str]()), "b": (404, frozenset[str]())}
    assert list(missing("stock", pages, {"a", *"vwxyz"})) == [
        "stock has not v, w, x and 2 more",
        "not on the site, but stock has b",
        "stock failed at b",
    ]


def test_the_least_of_each_figure_counts() -> None:
    runs = [Cost(3.0, 2.0, 80.0), Cost(2.5, 4.0, 90.0)]
    assert best(runs) == Cost(2.5, 2.0, 80.0)


def test_rates_leave_start_up_out() -> None:
    result = Result(100, Cost(3.0, 2.0, 80.0), Cost(1.0, 1.0, 60.0))
    assert result.pages_per_cpu_second == 100
    assert result.cpu_ms_a_page == 10
    assert result.pages_per_second == 50
    assert result.pages_per_cpu_second_with_start_up == 50


def test_a_rate_is_unknown_when_start_up_cost_as_much() -> None:
    cost = Cost(1.0, 1.0, 60.0)
    assert Result(1, cost, cost).pages_per_cpu_second is None
    assert Result(1, cost, cost).cpu_ms_a_page is None


def test_a_failed_crawl_is_reported_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(CrawlFailed, match=r"ended with 3:\nwhat went wrong"):
        run(
            [sys.executable, "-c", "print('what went wrong'); raise SystemExit(3)"],
            cwd=tmp_path,
            environment=os.environ,
            limit_seconds=60,
        )


def test_a_crawl_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(CrawlFailed, match="after the limit of 0 s"):
        run(
            [sys.executable, "-c", "import signal; signal.pause()"],
            cwd=tmp_path,
            environment=os.environ,
            limit_seconds=0.2,
        )


def test_the_server_has_ended_when_its_block_has(tmp_path: Path) -> None:
    root = tmp_path / "site"
    root.mkdir()
    Site(1).write(root)
    with serve(root, tmp_path / "work", "python") as served:
        assert served.server.startswith("python/")
    with pytest.raises(URLError, match="refused"):
        urlopen(served.url, timeout=5)


def test_both_crawlers_get_the_same_pages_of_a_small_site(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "crawl", "--pages", "30", "--repeat", "1"]
    done = subprocess.run(
        [*command, "--server", "python"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pages per CPU-second" in done.stdout

    # The site, the outputs and the server's files are gone; the figures are here.
    assert [path.name for path in tmp_path.iterdir()] == ["bench.json"]
    figures = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert figures["same_pages"] is True
    assert figures["differences"] == []
    assert figures["site"]["pages"] == 30
    assert figures["server"].startswith("python/")
    assert figures["machine"]["cpu_count"] == os.cpu_count()
    assert figures["versions"]["Scrapy"]
    assert {"ratio", "ratio_with_start_up"} <= figures.keys()
    assert list(figures["crawlers"]) == ["stock", "ours"]
    for crawler in figures["crawlers"].values():
        assert crawler["pages"] == 30
        assert len(crawler["runs"]) == 1
        assert crawler["runs"][0].keys() == {"wall_seconds", "cpu_seconds", "peak_rss_mb"}
        assert crawler["start_up"].keys() == crawler["runs"][0].keys()
        assert {"cpu_ms_a_page", "pages_per_cpu_second", "pages_per_second"} <= crawler.keys()
