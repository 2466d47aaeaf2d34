from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawlproject.commands.duplicates import count
from crawlproject.frontier.database import DATABASE
from crawlproject.items import Content
from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from tests.commands.inquiring import SITE, Crawl, ask

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

TEXT = [f"word{number}" for number in range(500)]


def content(body: str, words: list[str]) -> Content:
    return Content(body.encode(), SignatureParameters().sign_text(" ".join(words)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page, a copy of it, one that is near, and one that is a little like it."""
    crawl = Crawl(tmp_path)
    crawl.frontier.remember(NOTE, SignatureParameters().note())
    crawl.fetch("/", "/copy", "/near", "/far", "/=odd", content=content("a", TEXT))
    crawl.fetch("/copy", content=content("a", TEXT))
    crawl.fetch("/near", content=content("b", ["new", *TEXT[1:]]))
    crawl.fetch("/far", content=content("c", TEXT[150:] + [f"x{n}" for n in range(150)]))
    crawl.fetch("/=odd", content=content("d", [f"other{n}" for n in range(500)]))
    crawl.frontier.close()
    return tmp_path


def test_clusters_are_told_in_a_table(folder: Path, capfd: Capture) -> None:
    told = ask(capfd, "duplicates", folder)
    assert told.status == 0
    assert told.out.splitlines() == [
        "1 cluster: 1 page with the body of another, 1 with almost the text of one "
        "(threshold 0.85).",
        "",
        f"{SITE}/",
        f"    same  {SITE}/copy",
        f"  99.4 %  {SITE}/near",
    ]


@pytest.mark.parametrize(
    ("exact", "near", "said"),
    [
        (0, 2, "2 pages with almost the text of another"),
        (1, 0, "1 page with the body of another"),
        (3, 1, "3 pages with the body of another, 1 with almost the text of one"),
    ],
)
def test_what_there_is_none_of_is_not_said(exact: int, near: int, said: str) -> None:
    assert count(exact, near) == said


def test_another_threshold_needs_no_request(folder: Path, capfd: Capture) -> None:
    clusters = json.loads(ask(capfd, "duplicates", folder, "--json", "--threshold", "0.5").out)
    assert clusters["threshold"] == 0.5
    (cluster,) = clusters["clusters"]
    assert cluster["first"] == f"{SITE}/"
    kinds = [(one["url"].removeprefix(SITE), one["kind"]) for one in cluster["duplicates"]]
    assert kinds == [("/copy", "exact"), ("/far", "near"), ("/near", "near")]


def test_clusters_are_told_in_csv(folder: Path, capfd: Capture) -> None:
    rows = list(csv.DictReader(io.StringIO(ask(capfd, "duplicates", folder, "--csv").out)))
    assert [(row["first"], row["url"], row["kind"]) for row in rows] == [
        (f"{SITE}/", f"{SITE}/copy", "exact"),
        (f"{SITE}/", f"{SITE}/near", "near"),
    ]


def test_a_crawl_without_duplicates_says_so(tmp_path: Path, capfd: Capture) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", content=content("a", TEXT))
    crawl.frontier.close()
    assert "were not compared" in ask(capfd, "duplicates", tmp_path).out
    crawl = Crawl(tmp_path / "other")
    crawl.frontier.remember(NOTE, SignatureParameters().note())
    crawl.fetch("/", content=content("a", TEXT))
    crawl.frontier.close()
    assert "No page is a duplicate" in ask(capfd, "duplicates", tmp_path / "other").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--threshold", "2"], "'2' is not a number from 0.1 to 1"),
        (["--threshold", "nan"], "'nan' is not a number from 0.1 to 1"),
        (["--json", "--csv"], "goes not together with --json"),
        (["--tresh", "1"], "unknown option '--tresh'; did you mean --threshold?"),
    ],
)
def test_bad_options_are_one_line(
    folder: Path, options: list[str], words: str, capfd: Capture
) -> None:
    told = ask(capfd, "duplicates", folder, *options)
    assert told.status == 2
    assert words in told.err
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE notes SET value = '{' WHERE name = 'signatures'",
        "UPDATE notes SET value = 'null' WHERE name = 'signatures'",
        "UPDATE notes SET value = '[128, 3, 30, 4]' WHERE name = 'signatures'",
        "UPDATE notes SET value = '[128, 3, 30, \"simhash\"]' WHERE name = 'signatures'",
        "UPDATE notes SET value = '[128, 3, 30, \"builtin\", 1]' WHERE name = 'signatures'",
        "UPDATE notes SET value = '[\"a\", 3, 30]' WHERE name = 'signatures'",
        "UPDATE notes SET value = '[9999999999, 3, 30]' WHERE name = 'signatures'",
    ],
)
def test_a_note_of_a_stranger_is_told_in_one_line(
    folder: Path, capfd: Capture, damage: str
) -> None:
    change(folder, damage)
    told = ask(capfd, "duplicates", folder)
    assert (told.status, told.out) == (2, "")
    assert "the note 'signatures' is not one of ours" in told.err
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    "signature",
    ["x''", "x'00'", "zeroblob(512)", "zeroblob(513)", "zeroblob(1025)", "zeroblob(100000)"],
)
def test_signatures_of_a_stranger_are_not_compared_or_harmless(
    folder: Path, capfd: Capture, signature: str
) -> None:
    change(folder, f"UPDATE contents SET signature = {signature} WHERE hash <> x'61'")  # noqa: S608
    told = ask(capfd, "duplicates", folder, "--json", "--threshold", "0.1")
    assert (told.status, told.err) == (0, "")
    (cluster,) = json.loads(told.out)["clusters"]
    assert [one["kind"] for one in cluster["duplicates"]] == ["exact"]


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute(statement)
        database.commit()
