"""A finished lease as text, while its links wait. Not its page, which is kept at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject import records
from crawlproject.frontier.base import Candidate, Lease
from crawlproject.frontier.comparing import Before, Found
from crawlproject.frontier.entry import NOT_KEPT, depth_of
from crawlproject.recrawl.visit import Change, Visit

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
        "requests": {
            url: request if isinstance(request, str) else NOT_KEPT
            for url, request in lease.requests.items()
            if request is not None
        },
        "records": lease.records,
        "visit": None if lease.visit is None else [*lease.visit],
        "is_unchanged": lease.is_unchanged,
        "is_gone": lease.is_gone,
        "hints": lease.hints,
        "nested": lease.nested,
        # Of what was before, what is needed when it is committed.
        "before": lease.before and [lease.before.target, lease.before.links],
        "found_changed": None if lease.found_changed is None else [*lease.found_changed],
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
        is_unchanged=answer["is_unchanged"],
        is_gone=answer["is_gone"],
        hints=answer["hints"],
        nested=answer["nested"],
    )
    if answer["visit"] is not None:
        lease.visit = Visit(*answer["visit"])
    if answer["before"] is not None:
        target, links = answer["before"]
        lease.before = Before(target=target, links=links)
    if answer["found_changed"] is not None:
        change, detail = answer["found_changed"]
        lease.found_changed = Found(Change(change), detail)
    # Not in crawl directories that were made before this was kept.
    requests = answer.get("requests") or {}
    lease.found = [Candidate(url, reason, requests.get(url)) for url, reason in answer["found"]]
    return lease
