"""A finished lease as text, while its links wait. Not its page, which is kept at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject import records
from crawlproject.frontier.base import Candidate, Lease
from crawlproject.frontier.entry import depth_of

if TYPE_CHECKING:
    from crawlproject.frontier.entry import Entry
    from crawlproject.records import Record


def to_text(lease: Lease) -> str:
    return records.to_text(to_record(lease))


def to_record(lease: Lease, *, is_whole: bool = False) -> Record:
    """``is_whole``: with what else is kept with a page, at once."""
    return {
        "failed": lease.failed,
        "skip": lease.skip,
        "redirect": lease.redirect,
        "redirect_answer": lease.redirect_answer,
        "stored": None if lease.redirect is None and not is_whole else lease.stored,
        "found": [[url, lease.reasons.get(url)] for url in lease.links],
        "records": lease.records,
    }


def from_text(text: str, entry: Entry) -> Lease:
    return from_record(records.from_text(text), entry)


def from_record(answer: Record, entry: Entry) -> Lease:
    lease = Lease(
        url=entry.url,
        fetch_url=entry.fetch_url or entry.url,
        host="",
        depth=depth_of(entry.way.level),
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
