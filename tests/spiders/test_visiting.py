from __future__ import annotations

from typing import Any

import pytest
from scrapy.http import HtmlResponse

from crawlproject.frontier.base import Lease
from crawlproject.render import RENDERED
from crawlproject.spiders.visiting import note_visit

HEADERS = {"ETag": '"1"', "Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}


def leased(**more: Any) -> Lease:
    return Lease("https://x/", "https://x/", "x", 0, None, is_again=True, **more)


def answer(status: int = 200, *, flags: list[str] | None = None) -> HtmlResponse:
    response = HtmlResponse("https://x/", status, headers=HEADERS, flags=flags)
    response.request = response.follow("/")
    return response


def test_what_a_page_says_of_itself_is_kept_for_the_next_visit() -> None:
    lease = leased()
    assert note_visit(lease, answer())
    assert lease.visit is not None
    assert (lease.visit.etag, lease.visit.last_modified) == ('"1"', HEADERS["Last-Modified"])


def test_of_a_page_that_was_rendered_it_says_nothing() -> None:
    lease = leased()
    assert note_visit(lease, answer(flags=[RENDERED]))
    assert lease.visit is not None
    assert lease.visit[1:4] == (None, None, None)


@pytest.mark.parametrize("is_asked", [True, False])
def test_that_nothing_has_changed_is_believed_of_who_was_asked(is_asked: bool) -> None:
    lease = leased(etag='"1"') if is_asked else leased()
    assert note_visit(lease, answer(304)) is not is_asked
    assert lease.is_unchanged is is_asked
