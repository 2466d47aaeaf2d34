"""The book of jobs: what was ordered, and what became of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from scrapyd.config import Config

from crawlproject.errors import BadInput
from crawlproject.service.app import check
from crawlproject.service.book import FILE, Book, Status
from crawlproject.service.queue import BookedQueue, SturdyPoller

if TYPE_CHECKING:
    from pathlib import Path


def book_in(folder: Path) -> Book:
    return Book(sqlite3.connect(folder / FILE, isolation_level=None))


def queue_in(folder: Path) -> BookedQueue:
    return BookedQueue(Config({"dbs_dir": str(folder)}), "p")


def test_what_is_written_is_there_again(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    one = book.order("a", "p", "site", {"seed": "x", "_job": "a"}, priority=1.0, now=5.0)
    one.status, one.started_at, one.runs = Status.RUNNING, 6.0, 1
    book.write(one)
    book.order("b", "p", "site", {}, priority=0.0, now=7.0)
    book.database.close()
    again = book_in(tmp_path)
    with closing(again.database):
        found = again.find("a")
        assert found is not None
        assert (found.status, found.started_at, found.runs) == (Status.RUNNING, 6.0, 1)
        assert found.arguments == {"seed": "x"}
        assert [job.id for job in again.jobs.values()] == ["a", "b"]


def test_an_id_may_be_in_several_projects(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    with closing(book.database):
        first = book.order("a", "p", "site", {}, priority=0.0, now=1.0)
        second = book.order("a", "q", "site", {}, priority=0.0, now=2.0)
        assert book.find("a") is second
        assert book.find("a", "p") is first
        book.remove(second)
        assert book.find("a") is first
        book.remove(first)
        assert book.find("a") is None


def test_one_that_is_ordered_again_is_the_same_job(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    with closing(book.database):
        job = book.order("a", "p", "site", {"depth": "1"}, priority=0.0, now=1.0)
        job.status, job.ended_at, job.exit_status, job.problem = Status.FAILED, 3.0, 1, "no"
        book.write(job)
        again = book.order("a", "p", "site", {"depth": "2"}, priority=0.0, now=4.0)
        assert again is job
        assert str(again.status) == "queued"
        assert (again.ended_at or again.exit_status or again.problem) is None
        assert again.arguments == {"depth": "2"}


def test_the_oldest_ended_ones_are_beyond_what_is_kept(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    with closing(book.database):
        for number in range(5):
            job = book.order(str(number), "p", "site", {}, priority=0.0, now=number)
            if number != 2:
                job.status, job.ended_at = Status.FINISHED, 10.0 - number
                book.write(job)
        assert [job.id for job in book.open.values()] == ["2"]
        assert [job.id for job in book.ended_beyond(2)] == ["4", "3"]
        assert book.ended_beyond(4) == []
        assert book.ended_beyond(0) == []


def test_what_is_taken_from_the_queue_unstarted_is_stopped(tmp_path: Path) -> None:
    queue = queue_in(tmp_path)
    for name in ("a", "b"):
        queue.add("site", _job=name, seed="x")
    assert queue.remove(lambda message: message["_job"] == "a") == 1
    assert [message["_job"] for message in queue.list()] == ["b"]
    book = book_in(tmp_path)
    with closing(book.database):
        assert [str(job.status) for job in book.jobs.values()] == ["stopped", "queued"]


def test_what_cannot_be_written_was_not_ordered(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    with closing(book.database):
        job = book.order("a", "p", "site", {"depth": "1"}, priority=0.0, now=1.0)
        job.status, job.ended_at = Status.STOPPED, 2.0
        book.write(job)
        book.database.execute("PRAGMA query_only = ON")
        for name in ("a", "b"):
            with pytest.raises(sqlite3.OperationalError):
                book.order(name, "p", "site", {"depth": "2"}, priority=0.0, now=3.0)
        assert [one.id for one in book.jobs.values()] == ["a"]
        assert (str(job.status), job.arguments, book.open) == ("stopped", {"depth": "1"}, {})


def test_an_order_that_the_queue_does_not_take_is_not_in_the_book(tmp_path: Path) -> None:
    queue = queue_in(tmp_path)
    queue.q.conn.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError):
        queue.add("site", _job="a", seed="x")
    book = book_in(tmp_path)
    with closing(book.database):
        assert book.jobs == {}


def test_a_look_into_a_broken_queue_is_not_the_last(tmp_path: Path) -> None:
    (tmp_path / "eggs" / "p").mkdir(parents=True)
    config = Config({"dbs_dir": str(tmp_path), "eggs_dir": str(tmp_path / "eggs")})
    config.cp.set("scrapyd", "spiderqueue", "crawlproject.service.queue.BookedQueue")
    poller = SturdyPoller(config)
    (queue,) = poller.queues.values()
    queue.q.conn.close()
    looks: list[None] = []
    poller.poll().addBoth(looks.append)
    assert looks == [None]


@pytest.mark.parametrize("content", [b"", b"no database at all, but longer than its header" * 9])
def test_a_book_that_cannot_be_read_is_said_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    config = Config({"dbs_dir": str(tmp_path), "jobs_dir": "jobs", "items_dir": ""})
    if not content:
        check(config)
        return
    with pytest.raises(BadInput, match="the book of jobs in dbs_dir can't be used: file is not a"):
        check(config)
