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
from bench.frontier_side import SIDES
from bench.measure import Cost, CrawlFailed, Result, best, disk_bytes, resident_mb, run
from bench.polite_limits import CASES, is_kept
from bench.polite_log import Asked, Pace, judge, pace_of
from bench.polite_server import MOST_HOSTS, address
from bench.server import serve
from bench.site import LINKS, NAVIGATION_LINKS, PAGE_BYTES, Site
from bench.workload import FEW_NEW_LINKS, Workload

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
        (
            ["crawll"],
            "'crawll' is not one of crawl, links, frontier, polite, duplicates, cluster, service, "
            "start\n",
        ),
        (["crawl", "--pages", "0"], "--pages: '0' is no whole number from 1 on\n"),
        (["--repeat", "x"], "--repeat: 'x' is no whole number from 1 on\n"),
        (["--server", "apache"], "invalid choice: 'apache'"),
        (["--output", "/no/such/folder/bench.json"], "--output: "),
        (["frontier", "--urls", "1e6"], "--urls: '1e6' is no whole number from 1 on\n"),
        (["frontier", "--only", "theirs"], "invalid choice: 'theirs'"),
        (["polite", "--delay", "-1"], "--delay: '-1' is no number of seconds\n"),
        (["polite", "--delay", "nan"], "--delay: 'nan' is no number of seconds\n"),
        (["polite", "--silent-names", "x"], "--silent-names: 'x' is no whole number from 1 on\n"),
        (["polite", "--hosts", str(MOST_HOSTS + 1)], f"are more than {MOST_HOSTS}\n"),
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


def bench(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_both_crawlers_get_the_same_pages_of_a_small_site(tmp_path: Path) -> None:
    done = bench(tmp_path, "crawl", "--pages", "30", "--repeat", "1", "--server", "python")
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
    assert list(figures["crawlers"]) == [
        "stock",
        "ours",
        "ours, FASTPATH_ENABLED=no",
        "links only",
    ]
    for crawler in figures["crawlers"].values():
        assert crawler["pages"] == 30
        assert len(crawler["runs"]) == 1
        assert crawler["runs"][0].keys() == {"wall_seconds", "cpu_seconds", "peak_rss_mb"}
        assert crawler["start_up"].keys() == crawler["runs"][0].keys()
        assert {"cpu_ms_a_page", "pages_per_cpu_second", "pages_per_second"} <= crawler.keys()


def test_the_workload_brings_every_url_once() -> None:
    workload = Workload(urls=1050, hosts=7)
    pages = list(workload.new())
    urls = [url for page in pages for url in page]
    assert [len(page) for page in pages] == [100] * 10 + [50]
    assert len(set(urls)) == 1050
    assert len({url.split("/")[2] for url in urls}) == 7


def test_the_workload_then_has_two_new_links_a_page() -> None:
    workload = Workload(urls=1000, hosts=7)
    known = {url for page in workload.new() for url in page}
    for page in workload.mostly_known(5):
        assert len(page) == 60
        new = set(page) - known
        assert len(new) == FEW_NEW_LINKS
        known |= new


def test_memory_and_disk_are_measured(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"x" * 10_000)
    assert 10_000 <= disk_bytes(tmp_path) < 1_000_000
    assert 1 < resident_mb() < 100_000


def cells(table: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in row.split("│")[1:-1]]
        for row in table.splitlines()
        if row.startswith("│")
    ]


def test_all_sides_of_the_frontier_are_measured(tmp_path: Path) -> None:
    done = bench(tmp_path, "frontier", "--urls", "500", "--hosts", "20")
    assert done.returncode == 0, done.stderr
    assert "500 URLs on 20 hosts" in done.stdout
    assert "The targets are for 1,000,000 URLs on 10,000 hosts." in done.stdout
    assert all(side in done.stdout for side in SIDES)
    rows = {what: figures for what, *figures in cells(done.stdout)}
    assert rows["taken and finished a second"][1] == "≥ 5,000"
    # Five pages were taken before five hundred links were there.
    assert rows["… URLs in it"] == ["496", "", "", "500", "500"]
    # In memory there is nothing to open again.
    assert rows["seconds to open it again"][3] == "–"
    assert list(tmp_path.iterdir()) == []


def test_one_side_of_the_frontier_can_be_measured_alone(tmp_path: Path) -> None:
    done = bench(tmp_path, "frontier", "--urls", "100", "--hosts", "5", "--only", "ours")
    assert done.returncode == 0, done.stderr
    assert "stock" not in done.stdout


def test_a_side_that_fails_is_an_error(tmp_path: Path) -> None:
    # No file may have more than 128 KiB: a database that is full.
    command = f"ulimit -f 128; exec {sys.executable} -m bench frontier --urls 5000 --only ours"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "bench frontier: error: ours: " in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_crawl_without_a_pause_too_many_is_fully_used() -> None:
    log = [
        Asked("a", "/robots.txt", 0.0, 0.5),
        Asked("a", "/", 1.5, 2.0),
        Asked("b", "/robots.txt", 0.0, 0.5),
        Asked("b", "/", 1.5, 2.0),
    ]
    found = judge(log, delay=1.0)
    assert found.requests == 4
    assert found.ideal_seconds == found.actual_seconds == 2.0
    assert found.utilisation == found.host_utilisation == 1.0
    assert (found.too_soon, found.overlapping) == (0, 0)


def test_time_in_which_nobody_was_asked_is_wasted() -> None:
    log = [Asked("a", "/", 0.0, 0.5), Asked("b", "/", 1.5, 2.0), Asked("b", "/1", 3.5, 4.0)]
    found = judge(log, delay=1.0)
    assert found.actual_seconds == 4.0
    assert found.beginning_seconds == 1.5
    assert found.utilisation == 0.5
    assert found.host_utilisation == (1.0 + 2.0 / 2.5) / 2


@pytest.mark.parametrize(
    ("starts", "too_soon", "overlapping"),
    [
        ([0.0, 2.0, 4.0], 0, 0),
        ([0.0, 1.9, 4.0], 1, 0),
        ([0.0, 0.5, 4.0], 1, 1),
        # The first is still under way when the third begins, though the second is not.
        ([0.0, 0.1, 0.6], 2, 2),
    ],
)
def test_who_is_asked_too_soon_is_counted(
    starts: list[float], too_soon: int, overlapping: int
) -> None:
    ends = [1.0, *(start + 0.2 for start in starts[1:])]
    log = [Asked("a", "/", *times) for times in zip(starts, ends, strict=True)]
    # Other hosts, and the order of the log, do not matter.
    found = judge([Asked("b", "/", 0.0, 9.0), *reversed(log)], delay=1.0)
    assert (found.too_soon, found.overlapping) == (too_soon, overlapping)


def test_an_empty_log_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing was asked"):
        judge([], delay=1.0)


def test_the_pace_of_a_host_is_that_of_its_pages() -> None:
    log = [
        Asked("a", "/robots.txt", 0.0, 0.2),
        Asked("a", "/", 1.0, 1.2),
        # In pairs, one second after the last completion, but for one of them.
        Asked("a", "/1", 2.2, 2.4),
        Asked("a", "/2", 2.3, 2.5),
        Asked("a", "/3", 3.5, 3.7),
        Asked("a", "/4", 3.8, 4.0),
    ]
    assert pace_of(reversed(log), delay=0.8) == Pace(3 / (3.8 - 2.2), 2, 1, 2)
    assert pace_of(log, delay=0.0).too_soon == 0
    with pytest.raises(ValueError, match="too few pages"):
        pace_of(log[:3], delay=1.0)


@pytest.mark.parametrize(
    ("case", "pace", "kept"),
    [
        (0, Pace(2.2, 1, 0, 3), True),
        (0, Pace(1.9, 1, 0, 3), False),
        (0, Pace(2.2, 1, 1, 3), False),
        (1, Pace(17.0, 4, 0, 20), True),
        (1, Pace(17.0, 5, 0, 20), False),
        (2, Pace(9.6, 3, 0, 10), True),
        (2, Pace(10.6, 3, 0, 11), False),
        (3, Pace(2.5, 2, 0, 4), True),
        (3, Pace(2.5, 1, 0, 4), False),
    ],
)
def test_a_limit_that_does_not_mean_what_it_says_is_an_error(
    case: int, pace: Pace, kept: bool
) -> None:
    assert is_kept(CASES[case], pace) is kept


def test_every_host_has_an_address_of_its_own_on_this_machine() -> None:
    addresses = {address(number) for number in range(MOST_HOSTS)}
    assert len(addresses) == MOST_HOSTS
    assert all(one.startswith("127.0.") for one in addresses)
    assert "127.0.0.1" not in addresses


def test_a_small_polite_crawl_asks_nobody_too_soon(tmp_path: Path) -> None:
    done = bench(
        tmp_path,
        *("polite", "--hosts", "4", "--pages", "2"),
        *("--delay", "0.05", "--answer", "0.01", "--workers", "2"),
    )
    assert done.returncode == 0, done.stderr
    rows = {what: figure for what, figure, *_ in cells(done.stdout)}
    assert rows["requests"] == "12"
    assert rows["asked too soon (0)"] == "0"
    assert rows["… while another was under way (0)"] == "0"
    assert list(tmp_path.iterdir()) == []
