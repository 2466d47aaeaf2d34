"""What has changed between two crawls, as a user gets it."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.exports import spill
from crawlproject.frontier.database import DATABASE
from crawlproject.frontier.notes import ROUND, STARTED_AT
from crawlproject.items import Content
from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from crawlproject.report.diff import comparison, findings
from tests.commands.inquiring import SITE, Crawl, SharedCrawl, ask, url
from tests.crawling import PROJECT, command_environment, crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    CapFd = pytest.CaptureFixture[str]
    SiteFactory = Callable[..., Site]

WORDS = [f"word{number}" for number in range(500)]


def body(name: str, words: list[str] = WORDS) -> dict[str, Any]:
    """What is told of a page by its body."""
    signature = SignatureParameters().sign_text(" ".join(words))
    return {"content_hash": name, "content": Content(name.encode(), signature)}


LONG = {"content_hash": "long", "bytes": 5000}
BROKEN = {"url": url("/gone"), "status_code": 404, "error": "unexpected status 404"}
ALL = "1 added (1 dead), 1 removed, 4 changed (1 broke, 1 mended), 1 moved (1 lost); 0 the same"


def fill(crawl: Crawl) -> None:
    crawl.frontier.remember(NOTE, SignatureParameters().note())
    crawl.fetch("/", "/a", "/b", "/c", "/gone", "/old", content_hash="home")
    crawl.fetch("/a", **body("a"))
    crawl.fetch("/b", error="timeout", status_code=None)
    crawl.fetch("/c")
    crawl.fetch("/gone", content_hash="gone")
    crawl.fetch("/old", content_hash="moved")


def fill_later(crawl: Crawl) -> None:
    crawl.frontier.remember(NOTE, SignatureParameters().note())
    crawl.fetch("/", "/a", "/b", "/c", "/dead", "/new", content_hash="home")
    crawl.fetch("/a", "/b", title="Another", **body("b", ["new", *WORDS[1:]]))
    crawl.fetch("/b")
    crawl.fetch("/c", error="unexpected status 500", status_code=500)
    crawl.fetch("/dead", error="unexpected status 404", status_code=404)
    crawl.fetch("/new", content_hash="moved")


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """A crawl, and another one a week later."""
    folders = tmp_path / "monday", tmp_path / "later"
    for folder, made in zip(folders, (fill, fill_later), strict=True):
        crawl = Crawl(folder)
        made(crawl)
        crawl.close()
    return folders


def sitemap(path: Path, *pages: dict[str, Any], **options: Any) -> Path:
    path.write_text(json.dumps({"seed": None, "started_at": None, "pages": pages}, **options))
    return path


def test_what_matters_most_comes_first(capfd: CapFd, two: tuple[Path, Path]) -> None:
    told = ask(capfd, "diff", *two)
    assert (told.status, told.err) == (1, "")
    assert told.out.splitlines() == [
        f"{ALL}.",
        "",
        f"  before  {two[0]}  6 pages, last fetched 2026-11-16T02:23:31Z",
        f"  after   {two[1]}   6 pages, last fetched 2026-11-16T02:23:31Z",
        "",
        "Broke",
        f"  unexpected status 500  {SITE}/c",
        "",
        "Mended",
        f"  was: timeout  {SITE}/b",
        "",
        "Moved",
        f"  {SITE}/old  →  {SITE}/new  no redirect",
        "",
        "Changed, by field",
        "  status code  2",
        "  error        2",
        "  links        2",
        "  title        1",
        "  content      1",
        "",
        "Added",
        f"  404  {SITE}/dead",
        "",
        "Removed",
        f"  200  {SITE}/gone",
        "",
        f"{SITE}/",
        "  links  +2 −2",
        "",
        f"{SITE}/a",
        "  title    Page /a → Another",
        "  content  99.4 % of the text is the same (cosmetic)",
        "  links    +1",
    ]


def test_nothing_has_changed_is_status_0(capfd: CapFd, two: tuple[Path, Path]) -> None:
    told = ask(capfd, "diff", two[0], two[0])
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("No differences; 6 the same.\n")


def test_long_lists_are_cut_and_say_so(capfd: CapFd, tmp_path: Path) -> None:
    pages = [{"url": url(f"/{number:02}"), "title": "A"} for number in range(50)]
    other = [{**page, "title": "B"} for page in pages[:25]]
    more = [{"url": url(f"/new/{number}"), "error": "dns"} for number in range(22)]
    told = ask(
        capfd,
        *("diff", sitemap(tmp_path / "a.json", *pages)),
        sitemap(tmp_path / "b.json", *other, *more),
    )
    assert "  and 5 more\n" in told.out
    assert "  and 2 more\n" in told.out
    assert "And 5 more changed: -o FILE.html shows them, --csv and --json have all." in told.out


@pytest.mark.parametrize(
    ("options", "status", "headline"),
    [
        (["--only", "mended"], 1, "1 mended; 0 the same; 6 of other kinds left aside."),
        (["--only", "added,removed"], 1, "1 added (1 dead), 1 removed, 1 lost; 0 the same; 4 of"),
        (["--only", "broke,dead,removed"], 1, "1 dead, 1 removed, 1 broke, 1 lost; 0 the same;"),
        (["--ignore", "title,content", "--ignore=links"], 1, "2 changed (1 broke, 1 mended)"),
        (["--ignore", "status,error", "--only", "broke"], 0, "No differences of these kinds in"),
        (["--only", "changed", "--ignore", "title,links,cosmetic,status,error"], 0, "No diff"),
    ],
)
def test_what_is_not_asked_for_does_not_count(
    capfd: CapFd, two: tuple[Path, Path], options: list[str], status: int, headline: str
) -> None:
    told = ask(capfd, "diff", *two, *options)
    assert (told.status, told.err) == (status, "")
    assert headline in told.out.splitlines()[0]


@pytest.mark.parametrize(
    ("after", "status", "told"),
    [
        ([{"url": url("/a"), "title": "New"}, {"url": url("/b")}], 0, "No differences of these"),
        ([BROKEN | {"redirected_from": [url("/a")]}], 1, f"404  {SITE}/a  →  {SITE}/gone"),
        ([{"url": url("/a-new"), **LONG}], 1, f"{SITE}/a  →  {SITE}/a-new  no redirect"),
        ([{"url": url("/a"), **LONG}, BROKEN], 1, f"404  {SITE}/gone"),
        ([], 1, f"200  {SITE}/a"),
    ],
)
def test_the_recipe_for_a_deployment_finds_what_visitors_would(
    capfd: CapFd, tmp_path: Path, after: list[dict[str, Any]], status: int, told: str
) -> None:
    text = (PROJECT / "docs/usage.md").read_text()
    (only,) = set(re.findall(r"diff before\.json \w+\.json (--only [\w,]+)", text))
    files = (
        sitemap(tmp_path / "before.json", {"url": url("/a"), "status_code": 200, **LONG}),
        sitemap(tmp_path / "after.json", *after),
    )
    answer = ask(capfd, "diff", *files, *only.split())
    assert (answer.status, answer.err) == (status, "")
    assert told in answer.out


def test_programs_get_json_and_spreadsheets_csv(capfd: CapFd, two: tuple[Path, Path]) -> None:
    told = ask(capfd, "diff", *two, "--json")
    document = json.loads(told.out)
    assert (told.status, document["counts"]["broke"]) == (1, 1)
    assert document["changed"][1]["fields"]["content"]["cosmetic"] is True
    told = ask(capfd, "diff", *two, "--csv", "--only", "removed")
    rows = list(csv.reader(io.StringIO(told.out, newline="")))
    assert rows[1:] == [
        [f"{SITE}/old", "moved", "lost", "url", f"{SITE}/old", f"{SITE}/new"],
        [f"{SITE}/gone", "removed", "", "status_code", "200", ""],
    ]


def test_files_are_written_by_their_extension(
    capfd: CapFd, two: tuple[Path, Path], tmp_path: Path
) -> None:
    names = ("d.json", "sub/d.CSV", "d.html")
    (tmp_path / "d.json").write_text("yesterday")
    told = ask(capfd, "diff", *two, *(word for name in names for word in ("-o", tmp_path / name)))
    assert (told.status, told.out) == (1, "")
    assert told.err == f"{ALL}.\n"
    assert json.loads((tmp_path / "d.json").read_text())["counts"]["moved"] == 1
    assert (tmp_path / "sub/d.CSV").read_text().startswith("url,kind,verdict,field,before,after\n")
    assert (tmp_path / "d.html").read_text().startswith("<!doctype html>")
    assert not list(tmp_path.rglob(".*"))


def test_a_crawl_that_is_not_over_is_compared_and_said_to_be_so(
    capfd: CapFd, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "job")
    crawl.fetch("/", "/a", "/b")
    crawl.frontier.commit()
    told = ask(capfd, "diff", tmp_path / "job", tmp_path / "job")
    crawl.close()
    assert told.status == 0
    assert f"{tmp_path / 'job'}: 2 URLs are not yet fetched." in told.out


def test_rounds_of_one_crawl_are_told_apart_by_when_they_were(capfd: CapFd, tmp_path: Path) -> None:
    folders = tmp_path / "first", tmp_path / "second"
    for folder, round_ in zip(folders, (None, {"number": 2, "began_at": 1794990000}), strict=True):
        crawl = Crawl(folder)
        crawl.frontier.remember(STARTED_AT, "2026-11-16T02:20:00+00:00")
        if round_:
            crawl.frontier.remember(ROUND, json.dumps({**round_, "mode": "all", "is_open": False}))
        # It was not changed since, so its page is the old one.
        crawl.fetch("/")
        crawl.close()
    told = ask(capfd, "diff", *folders, "--json")
    sides = [json.loads(told.out)[side] for side in ("before", "after")]
    assert {side["started_at"] for side in sides} == {"2026-11-16T02:20:00Z"}
    assert [side["last_fetched_at"] for side in sides] == [
        "2026-11-16T02:23:31Z",
        "2026-11-18T08:20:00Z",
    ]


def test_a_shared_crawl_is_compared_with_a_directory(
    capfd: CapFd, two: tuple[Path, Path], redis_url: str
) -> None:
    for name, made in (("monday", fill), ("later", fill_later)):
        crawl = SharedCrawl(redis_url, crawl=name)
        made(crawl)
        crawl.close()
    for name, folder in zip(("monday", "later"), two, strict=True):
        told = ask(capfd, "diff", redis_url, folder, "--crawl", name)
        assert told.status == 0, told
    told = ask(capfd, "diff", redis_url, redis_url, "--crawl=monday", "--crawl=later", "--json")
    assert json.loads(told.out)["counts"]["changed"] == 4
    told = ask(capfd, "diff", redis_url, two[0])
    assert (told.status, told.err.count("\n")) == (2, 1)


def test_pages_that_outputs_leave_out_are_left_out(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "job")
    crawl.frontier.remember(NOTE, SignatureParameters().note())
    crawl.fetch("/", "/copy", **body("same"))
    crawl.fetch("/copy", **body("same"))
    crawl.close()
    alone = sitemap(
        tmp_path / "a.json",
        {"url": url("/"), "links": [url("/copy")], "depth": 0, "content_hash": "same"},
    )
    options = ("--ignore", "title,status,content_type")
    assert ask(capfd, "diff", alone, tmp_path / "job", *options).status == 1
    drop = ("-s", "DUPLICATES_ACTION=drop")
    assert ask(capfd, "diff", alone, tmp_path / "job", *options, *drop).status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "A: missing: give A B [options]"),
        (["@/a.json"], "B: missing: give A B [options]"),
        (["@/a.json", "@/a.json", "more"], "unknown argument 'more'; give A B [options]"),
        (["@/a.json", "@/none.json"], "there is no '@/none.json': give a crawl directory, a site"),
        (["@/a.json", "x" * 5000], "File name too long"),
        (["@/a.json", "@"], "there is no crawl in '@': give the JOBDIR"),
        (["@/a.json", "redis://127.0.0.1:1/0"], "nobody listens there"),
        (["@/a.json", "@/cut.json"], "'@/cut.json', line 1: it ends in the middle"),
        (["@/a.json", "@/cut.json", "-o", "@/x.json"], "'@/cut.json', line 1: it ends in"),
        (["@/a.json", "@/a.json", "--ignore", "x"], "--ignore: 'x' is unknown; there are status"),
        (["@/a.json", "@/a.json", "--only", "broken"], "--only: 'broken' is unknown; did you mean"),
        (["@/a.json", "@/a.json", "--json", "--csv"], "--csv: goes not together with --json"),
        (["@/a.json", "@/a.json", "--ingore", "x"], "unknown option '--ingore'; did you mean --ig"),
        (["@/a.json", "@/a.json", "-o", "@/x.xml"], "can't write '@/x.xml': give the file the ext"),
        (["@/a.json", "@/a.json", "-o", "@/a.json"], "can't write '@/a.json': it is one of the"),
        (["@/a.json", "@/a.json", "-o", "@/a.json/x.csv"], "can't write '@/a.json/x.csv': "),
        (["@/a.json", "@/a.json", "-o"], "expected one argument"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    capfd: CapFd, tmp_path: Path, arguments: list[str], said: str
) -> None:
    sitemap(tmp_path / "a.json", {"url": "u"})
    (tmp_path / "cut.json").write_text('{"pages": [{"url": "u"')
    files = sorted(tmp_path.iterdir())
    told = ask(capfd, "diff", *(word.replace("@", str(tmp_path)) for word in arguments))
    assert (told.status, told.out, told.err.count("\n")) == (2, "", 1)
    assert told.err.startswith("scrapy diff: error: ")
    assert said.replace("@", str(tmp_path)) in told.err
    # What was begun is gone.
    assert sorted(tmp_path.iterdir()) == files


def test_a_damaged_page_of_a_crawl_directory_is_told(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", depth=1, links=[{"odd": 1}])
    crawl.close()
    told = ask(capfd, "diff", tmp_path, tmp_path)
    assert (told.status, told.err.count("\n")) == (2, 1)
    assert f"page '{SITE}/': \"links\" must be a list of texts" in told.err
    assert ask(capfd, "diff", tmp_path, tmp_path, "--ignore", "links").status == 0


@pytest.mark.parametrize("damaged", [0, 1])
def test_a_damaged_crawl_directory_is_named(
    capfd: CapFd, two: tuple[Path, Path], damaged: int
) -> None:
    with closing(sqlite3.connect(two[damaged] / DATABASE)) as database:
        database.execute("ALTER TABLE pages RENAME COLUMN record TO lost")
        database.commit()
    told = ask(capfd, "diff", *two)
    assert (told.status, told.err.count("\n")) == (2, 1)
    assert told.err.startswith(f"scrapy diff: error: can't read '{two[damaged]}': no such column")


def test_no_room_for_temporary_files_is_told(
    capfd: CapFd, two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def small() -> sqlite3.Connection:
        database = spill.scratch()
        database.execute("PRAGMA max_page_count = 6")
        return database

    monkeypatch.setattr(findings, "scratch", small)
    told = ask(capfd, "diff", *two)
    assert (told.status, told.out) == (2, "")
    assert told.err == (
        "scrapy diff: error: can't write temporary files: database or disk is full; "
        "TMPDIR=FOLDER names another place\n"
    )


def test_an_interrupted_comparison_is_status_130_and_leaves_nothing(
    capfd: CapFd, two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "compare", interrupt)
    (tmp_path / "x.csv").write_text("yesterday")
    told = ask(capfd, "diff", *two, "-o", tmp_path / "x.csv")
    assert (told.status, told.out, told.err) == (130, "", "")
    assert (tmp_path / "x.csv").read_text() == "yesterday"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
@pytest.mark.parametrize("name", ["full.json", "full.csv", "full.html"])
def test_a_full_disk_gets_one_line_and_status_2(
    capfd: CapFd, two: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    told = ask(capfd, "diff", *two, "-o", tmp_path / name)
    assert (told.status, told.out) == (2, "")
    assert told.err == (
        f"scrapy diff: error: can't write '{tmp_path / name}': No space left on device\n"
    )


@pytest.mark.parametrize(
    ("option", "first"), [("--csv", b"url,kind,verdict,field,before,after\r\n"), ("--json", b"{\n")]
)
def test_a_reader_who_has_seen_enough_ends_it_with_the_status_that_it_has(
    tmp_path: Path, option: str, first: bytes
) -> None:
    # More than a pipe holds.
    pages = [{"url": f"{SITE}/{number:0200}"} for number in range(3000)]
    files = sitemap(tmp_path / "a.json", *pages), sitemap(tmp_path / "b.json")
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "diff", *map(str, files), option],
        env=command_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == first
    # The reader leaves in the middle of a list.
    process.stdout.read(100_000)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 1


TEXT = "Herons stand in the reeds at dawn, and nobody knows what they are waiting for. " * 12
BEFORE: dict[str, Any] = {
    "/": {"links": ["/a", "/b", "/old", "/kept", "/breaks", "/ü"], "title": "Home"},
    "/a": {"text": TEXT, "title": "A"},
    "/b": {"title": "B"},
    "/old": {"body": f"<title>Moves</title><p>{TEXT}"},
    "/kept": {"redirect": "/b"},
    "/breaks": {"title": "Breaks"},
    "/ü": {"title": "Ü"},
}
AFTER: dict[str, Any] = {
    **BEFORE,
    "/": {"links": ["/a", "/b", "/old", "/kept", "/breaks", "/ü", "/fresh"], "title": "Home"},
    "/a": {"text": f"{TEXT} Still.", "title": "A", "headers": {"X-Robots-Tag": "noindex"}},
    "/b": {"redirect": "/fresh"},
    "/old": {"redirect": "/new"},
    "/new": BEFORE["/old"],
    "/breaks": {"status": 404},
    "/fresh": {"title": "Fresh"},
}


@deferred_f_from_coro_f
async def test_two_crawls_of_a_site_are_compared_in_any_form(
    site: SiteFactory, tmp_path: Path, capfd: CapFd
) -> None:
    server = site({"pages": BEFORE})
    for name, pages in (("one", BEFORE), ("two", AFTER)):
        server.set({"pages": pages})
        outputs = {
            str(tmp_path / f"{name}.json"): {"format": "json"},
            str(tmp_path / f"{name}.indented.json"): {"format": "json", "indent": 4},
        }
        await crawl_site(server.url(), {"JOBDIR": str(tmp_path / name), "FEEDS": outputs})
        lines = json.loads((tmp_path / f"{name}.json").read_text())["pages"][::-1]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    forms = [("one", "two"), ("one.indented.json", "two.json"), ("one.jsonl", "two.jsonl")]
    told = []
    for before, after in forms:
        answer = ask(capfd, "diff", tmp_path / before, tmp_path / after, "--json")
        assert (answer.status, answer.err) == (1, "")
        told.append(json.loads(answer.out))
    for document in told:
        for change in document["changed"]:
            # Only a crawl directory can tell.
            change["fields"].get("content", {}).pop("similarity", None)
            change["fields"].get("content", {}).pop("cosmetic", None)
        for key in ("changed", "moved", "added", "removed", "counts", "fields"):
            assert document[key] == told[0][key], key
    document = told[0]
    changed = {one["url"]: list(one["fields"]) for one in document["changed"]}
    assert changed == {
        server.url("/"): ["content", "links"],
        server.url("/a"): ["noindex", "content"],
        server.url("/b"): ["redirects_to"],
        server.url("/breaks"): ["status_code", "error"],
        server.url("/kept"): ["redirects_to"],
    }
    (moved,) = document["moved"]
    pair = moved["url"], moved["to"], moved["redirects"]
    assert pair == (server.url("/old"), server.url("/new"), True)
    assert [one["url"] for one in document["added"]] == [server.url("/fresh")]
    assert (document["removed"], document["counts"]["same"]) == ([], 1)
    # Each form of a crawl says the same.
    for name in ("one", "two"):
        for form in (".json", ".indented.json", ".jsonl"):
            same = ask(capfd, "diff", tmp_path / name, tmp_path / f"{name}{form}")
            assert same.status == 0, same


def test_help_says_what_can_be_ignored(capfd: CapFd) -> None:
    told = ask(capfd, "diff", "--help")
    assert told.status == 0
    assert "redirected_from" in told.out
    assert "cosmetic" in told.out
