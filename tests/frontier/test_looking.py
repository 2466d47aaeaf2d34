"""Who looks into a crawl directory sees what is there, and leaves no trace."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlproject.errors import BadCrawlDirectory
from crawlproject.frontier.database import DATABASE, LOCK, Claim, connect
from crawlproject.frontier.looking import reading
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A directory that another user may look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def noted(folder: Path, name: str) -> sqlite3.Connection:
    """A connection of a crawl, which has written a note."""
    folder.mkdir(exist_ok=True)
    connection = connect(folder)
    note(connection, name)
    return connection


def note(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("INSERT INTO notes VALUES (?, '')", (name,))


def notes(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM notes")}


def read(folder: Path) -> set[str]:
    with reading(folder) as connection:
        return notes(connection)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """When they were changed, and what is in them."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def killed(folder: Path) -> Path:
    """What a crawl leaves that is killed after its second note, the first being in the file."""
    alive = folder.with_name("alive")
    connection = noted(alive, "first")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    note(connection, "second")
    shutil.copytree(alive, folder)
    connection.close()
    return folder


def test_a_reader_leaves_a_crawl_that_has_ended_as_it_was(tmp_path: Path) -> None:
    noted(tmp_path, "first").close()
    before = files(tmp_path)
    with reading(tmp_path) as connection:
        assert notes(connection) == {"first"}
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            note(connection, "reader")
    assert files(tmp_path) == before
    assert list(before) == [DATABASE]


def test_a_reader_takes_away_what_an_earlier_one_has_left(tmp_path: Path) -> None:
    noted(tmp_path, "first").close()
    path = tmp_path / DATABASE
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        notes(connection)
    assert len(files(tmp_path)) == 3
    assert read(tmp_path) == {"first"}
    assert list(files(tmp_path)) == [DATABASE]


@pytest.mark.parametrize("is_known", [True, False])
def test_what_a_crawl_has_left_that_was_killed_is_read_and_left_there(
    tmp_path: Path, is_known: bool
) -> None:
    folder = killed(tmp_path / "killed")
    if is_known:
        (folder / LOCK).write_text("123\n")
    kept = [path for path in files(folder) if not path.endswith("-shm")]
    before = files(folder)
    assert read(folder) == {"first", "second"}
    assert {name: files(folder)[name] for name in kept} == {name: before[name] for name in kept}
    assert files(folder).keys() == before.keys()


def test_a_reader_sees_what_a_running_crawl_has_committed_and_takes_nothing_away(
    tmp_path: Path,
) -> None:
    claim = Claim(tmp_path)
    crawl = connect(tmp_path)
    assert read(tmp_path) == set()
    note(crawl, "first")
    assert read(tmp_path) == {"first"}
    note(crawl, "second")
    assert read(tmp_path) == {"first", "second"}
    crawl.close()
    claim.release()
    assert read(tmp_path) == {"first", "second"}


BEGINNING = """
import sys
from pathlib import Path
from crawlproject.frontier.database import connect
crawl = connect(Path(sys.argv[1]))
crawl.execute("PRAGMA wal_autocheckpoint = 1")
for number in range(300):
    crawl.execute("INSERT INTO notes VALUES (?, ?)", (f"new {number}", "x" * 1000))
"""


def begin(folder: Path) -> None:
    """A crawl begins and ends, in a process of its own."""
    subprocess.run([sys.executable, "-c", BEGINNING, str(folder)], cwd=PROJECT, check=True)


def test_a_crawl_that_begins_meanwhile_is_neither_misread_nor_disturbed(tmp_path: Path) -> None:
    noted(tmp_path, "first").close()
    with reading(tmp_path) as connection:
        connection.execute("BEGIN")
        assert notes(connection) == {"first"}
        begin(tmp_path)
        assert notes(connection) == {"first"}
    assert list(files(tmp_path)) == [DATABASE]
    assert len(read(tmp_path)) == 301


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A directory that nobody may write in: root neither, who is somebody else for a while."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("ended", {"first"}),
        ("killed", {"first", "second"}),
        # As after a copy of what looks important.
        ("killed, without -shm", {"first", "second"}),
    ],
)
def test_a_directory_that_can_not_be_written_is_read(
    public_path: Path, state: str, expected: set[str]
) -> None:
    folder = public_path / "job"
    if state == "ended":
        noted(folder, "first").close()
    else:
        killed(folder)
    if state.endswith("-shm"):
        (folder / f"{DATABASE}-shm").unlink()
    before = files(folder)
    with read_only(folder):
        assert read(folder) == expected
    assert files(folder) == before


def test_where_a_reader_can_not_be_seen_a_crawl_that_begins_makes_it_ask_again(
    public_path: Path,
) -> None:
    folder = public_path / "job"
    noted(folder, "first").close()
    look = ExitStack()
    with read_only(folder):
        assert notes(look.enter_context(reading(folder))) == {"first"}
    (folder / DATABASE).chmod(0o644)
    begin(folder)
    with pytest.raises(BadCrawlDirectory, match="was changed by a crawl while it was read"):
        look.close()
