"""A crawl directory that can't be used gets one line, and is not touched."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawlproject.errors import BadCrawlDirectory
from crawlproject.frontier.database import (
    DATABASE,
    LOCK,
    VERSION,
    Claim,
    check,
    connect,
    holder,
)
from crawlproject.frontier.looking import check_content, reading
from tests.crawling import PROJECT, fresh_scrapy, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    connect(folder).close()
    return folder / DATABASE


def other_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def other_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE cookies (name)")


def not_sqlite(path: Path) -> None:
    path.write_text("not a database, but longer than the header of one\n" * 9)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (other_version, f"has format {VERSION + 1}, and this version of crawlproject has format"),
        (other_program, "belongs to another program"),
        (not_sqlite, "is damaged, or no crawl database"),
        (cut_off, "is damaged, or no crawl database"),
        (emptied, "is damaged, or no crawl database"),
    ],
)
def test_what_is_not_ours_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: object, problem: str
) -> None:
    path = made(tmp_path / "job")
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(BadCrawlDirectory, match=problem):
        check(path.parent)
    with pytest.raises(BadCrawlDirectory, match=problem), reading(path.parent):
        pass
    done = scrapy(
        *("crawl", "site", "-a", "seed=http://127.0.0.1:9/", "-s", f"JOBDIR={path.parent}"),
        cwd=tmp_path,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert problem in line
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [DATABASE]


@pytest.mark.parametrize("note", ["seeds", "widened", "added fields"])
@pytest.mark.parametrize("value", ["[", "{}", "[1]"])
def test_a_note_that_is_not_ours_ends_a_crawl_with_one_line(
    tmp_path: Path, note: str, value: str
) -> None:
    path = made(tmp_path / "job")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (note, value))
    with pytest.raises(
        BadCrawlDirectory, match=f"is damaged: the note '{note}' is no list of texts; move it away"
    ):
        check_content(path.parent)


def test_pages_that_are_damaged_end_a_crawl_with_one_line(tmp_path: Path) -> None:
    path = made(tmp_path / "job")
    content = path.read_bytes()
    # The header is whole, and all that follows is not.
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    output = tmp_path / "sitemap.json"
    output.write_text("of yesterday")
    done = scrapy(
        *("crawl", "site", "-a", "seed=http://127.0.0.1:9/", "-s", f"JOBDIR={path.parent}"),
        *("-O", str(output)),
        cwd=tmp_path,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"can't read '{path}': " in line
    assert output.read_text() == "of yesterday"


@pytest.mark.parametrize("kind", ["file", "forbidden"])
def test_a_jobdir_that_is_no_directory_to_write_in_gets_one_line(tmp_path: Path, kind: str) -> None:
    job = tmp_path / "job"
    if kind == "file":
        job.write_text("")
    elif os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    else:
        job.mkdir(mode=0o500)
    done = scrapy(
        *("crawl", "site", "-a", "seed=http://127.0.0.1:9/", "-s", f"JOBDIR={job}"), cwd=tmp_path
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "can't use the crawl directory" in line


def test_a_second_process_is_refused_while_the_first_lives_and_not_after(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path\n"
            "from crawlproject.frontier.database import Claim\n"
            "claim = Claim(Path(sys.argv[1])); print('held', flush=True); input()",
            str(tmp_path),
        ],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(
            BadCrawlDirectory, match=f"in use by another crawl .process {other.pid}"
        ):
            Claim(tmp_path)
        done = scrapy(
            *("crawl", "site", "-a", "seed=http://127.0.0.1:9/", "-s", f"JOBDIR={tmp_path}"),
            cwd=tmp_path,
        )
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "is in use by another crawl" in line
    finally:
        other.kill()
        other.communicate()
    claim = Claim(tmp_path)
    # Nor by the same process.
    with pytest.raises(BadCrawlDirectory):
        Claim(tmp_path)
    claim.release()
    Claim(tmp_path).release()
    assert (tmp_path / LOCK).read_text() == ""


def test_a_database_that_was_half_made_is_made_again(tmp_path: Path) -> None:
    (tmp_path / f".{DATABASE}.new").write_bytes(b"half")
    assert not check(tmp_path)
    connect(tmp_path).close()
    assert check(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [DATABASE]


def test_a_directory_without_a_crawl_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadCrawlDirectory, match="there is no crawl in"), reading(tmp_path):
        pass


def test_the_holder_of_a_directory_is_known_and_not_disturbed(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    claim = Claim(tmp_path)
    assert holder(tmp_path) == os.getpid()
    assert holder(tmp_path) == os.getpid()
    claim.release()
    assert holder(tmp_path) is None
    Claim(tmp_path).release()


@pytest.mark.parametrize("content", ["123\n", "", "not a number", "\u00b2"])
def test_a_lock_that_nobody_holds_means_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / LOCK).write_text(content, encoding="utf-8")
    assert holder(tmp_path) is None
    with (tmp_path / LOCK).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_one_file_and_the_lock_are_left(site: SiteFactory, tmp_path: Path) -> None:
    """By an interpreter of its own: how it ends decides what is closed."""
    seed = site({"default": {}}).url()
    done = fresh_scrapy("crawl", "site", "-a", f"seed={seed}", "-s", "JOBDIR=job", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "job").iterdir()} == {DATABASE, LOCK}
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = fresh_scrapy("crawl", "site", "-a", f"seed={seed}", cwd=tmp_path, TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []
