"""A finished lease as text, while its links wait. Not its page, which is kept at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject import records
from crawlproject.frontier.base import Candidate, Lease

if TYPE_CHECKING:
    from crawlproject.frontier.entry import Entry


def to_text(lease: Lease) -> str:
    return records.to_text(
        {
            "failed": lease.failed,
            "skip": lease.skip,
            "redirect": lease.redirect,
            "redirect_answer": lease.redirect_answer,
            # That of a page is kept with the page, at once.
            "stored": None if lease.redirect is None else lease.stored,
            "found": [[url, lease.reasons.get(url)] for url in lease.links],
            "records": lease.records,
        }
    )


def from_text(text: str, entry: Entry) -> Lease:
    answer = records.from_text(text)
    lease = Lease(
        url=entry.url,
        fetch_url=entry.fetch_url or entry.url,
        host="",
        depth=entry.way.depth,
        referrer=entry.way.referrer or None,
        failed=answer["failed"],
        skip=answer["skip"],
        redirect=answer["redirect"],
        # Not in crawl directories that were made before this was kept.
        redirect_answer=answer.get("redirect_answer"),
        stored=answer.get("stored"),
        records=[(kind, record) for kind, record in answer["records"]],
    )
    lease.found = [Candidate(url, reason) for url, reason in answer["found"]]
    return lease
