"""How leases end: what stays of one that is tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.leases import LeasesOut
from crawlproject.records import PAGE
from tests.frontier.engines import fetched, opened, take

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.sqlite import SqliteFrontier

REQUEST = Request("https://a.example/")
ITEM = ("shop.Product", {"name": "x"})


def out(folder: Path) -> tuple[SqliteFrontier, LeasesOut, Lease]:
    """A URL that is fetched, and a page and an item that have come of it."""
    frontier = opened(folder)
    frontier.admit([Candidate("a/1")])
    leases, lease = LeasesOut(frontier), take(frontier)
    leases.add(REQUEST, lease)
    lease.records = [(PAGE, {"url": "a/1", "status_code": 200, "links": []}), ITEM]
    frontier.landed(lease, 0)
    return frontier, leases, lease


def test_of_a_page_that_is_put_back_nothing_stays(tmp_path: Path) -> None:
    """As after a kill: the next run reads it from its beginning."""
    frontier, leases, lease = out(tmp_path)
    lease.is_put_back = True
    leases.end(REQUEST)
    assert leases.is_ending
    assert len(leases) == 0
    assert frontier.read().count() == 0
    frontier.close()
    frontier = opened(tmp_path)
    again = take(frontier, 1e12)
    again.records = [ITEM]
    fetched(frontier, again)
    assert list(frontier.read().others()) == [ITEM]


def test_of_a_page_that_its_callback_tries_again_the_items_stay(tmp_path: Path) -> None:
    frontier, leases, lease = out(tmp_path)
    leases.release(lease, 0.0)
    leases.end(REQUEST)
    assert not leases.is_ending
    assert list(frontier.read().others()) == [ITEM]
    assert frontier.count_pages() == 0
    assert frontier.counts().queued == 1
