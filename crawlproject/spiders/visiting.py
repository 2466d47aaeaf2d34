"""What an answer says of the next visit, noted on its lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED
from crawlproject.recrawl.headers import visit_of
from crawlproject.recrawl.visit import Visit
from crawlproject.render import RENDERED

if TYPE_CHECKING:
    from scrapy.http import Response

    from crawlproject.frontier.base import Lease

# 'Not Modified': the answer to a request that was made on condition.
_UNCHANGED = 304
_GONE = frozenset({404, 410})


def note_visit(lease: Lease, response: Response | None) -> bool:
    """Whether there is more to it: not if the server says that nothing has changed. Without a
    response it could not be had.
    """
    if response is None:
        lease.visit = Visit(now())
        return True
    lease.is_gone = response.status in _GONE
    visit = visit_of(response.headers, response.meta.get(FETCH_ENDED) or now())
    if RENDERED in response.flags:
        # What it says of itself it says of the page before its scripts.
        visit = visit._replace(etag=None, last_modified=None, modified_at=None)
    if response.status == _UNCHANGED and (lease.etag or lease.last_modified):
        # It need not say again what it has said before.
        visit = visit._replace(
            etag=visit.etag or lease.etag,
            last_modified=visit.last_modified or lease.last_modified,
        )
        lease.is_unchanged = lease.is_reported = True
    lease.visit = visit
    return not lease.is_unchanged
