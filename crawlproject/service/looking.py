"""Looking into the crawl directories of jobs, also while they run. For threads: it reads a disk.

What has to look at every URL of a crawl takes a second for some millions of them. So such an
answer is given again for a while, the longer the more it cost.
"""

from __future__ import annotations

import sqlite3
import time
from base64 import b64encode
from collections import defaultdict
from threading import Lock
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadCrawlDirectory, BadInput
from crawlproject.frontier import clock, overview
from crawlproject.frontier.looking import reading
from crawlproject.frontier.reading import IS_PAGE, Reader
from crawlproject.frontier.source import Directory
from crawlproject.pipelines.blobs import MissingBody, StoreError
from crawlproject.pipelines.kept import body_of, leaf_of
from crawlproject.pipelines.places import Shelves

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.overview import HostFacts

    Rows = list[dict[str, Any]]

_MOST_HOSTS = 20
_MOST_SKIPS = 20
# How many times as long as it took an answer is given again, and seconds at least.
_REST = 50
_LEAST_REST = 0.9
_KEPT = 64


class Lookout:
    """Hosts and skipped URLs of crawls, looked up no more often than is good for them."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[float, Rows, Rows]] = {}
        self._locks: defaultdict[Path, Lock] = defaultdict(Lock)

    def look(self, folder: Path) -> tuple[Rows, Rows]:
        """The hosts with the longest queues, and the URLs that were skipped last."""
        began = time.monotonic()
        # One at a time for each: who waits here finds what the other has found.
        with self._locks[folder]:
            until, hosts, skips = self._known.get(folder, (float("-inf"), [], []))
            if began < until:
                return hosts, skips
            try:
                with reading(folder) as database:
                    hosts, skips = _hosts(database), _skips(database)
            except (BadInput, sqlite3.Error, OSError):
                # It has not begun, or is gone.
                hosts, skips = [], []
            ended = time.monotonic()
            if len(self._known) >= _KEPT:
                self._known.clear()
                self._locks.clear()
            rest = max(_LEAST_REST, _REST * (ended - began))
            self._known[folder] = ended + rest, hosts, skips
            return hosts, skips


def _hosts(database: sqlite3.Connection) -> Rows:
    now = clock.now()
    found = overview.longest_queues(database, _MOST_HOSTS)
    if len(found) < _MOST_HOSTS:
        names = {host.name for host in found}
        busiest = overview.busiest_hosts(database, _MOST_HOSTS)
        found += [host for host in busiest if host.name not in names]
    return [_host(facts, now) for facts in found[:_MOST_HOSTS]]


def _host(facts: HostFacts, now: float) -> dict[str, Any]:
    delay = max(facts.delay, facts.insisted, facts.throttled)
    ready_in = max(0.0, (facts.ready_at or 0.0) - now)
    return {
        "name": facts.name,
        "queued": facts.queued,
        "retries": facts.retries,
        "requests": facts.requests,
        "delay": round(delay, 3),
        "ready_in": round(ready_in, 1),
        # For longer than its delay says.
        "held": ready_in > delay,
    }


def _skips(database: sqlite3.Connection) -> Rows:
    rows = database.execute(
        "SELECT u.url, u.reason, u.rule, r.url FROM urls u LEFT JOIN urls r ON r.id = u.referrer "
        "WHERE u.state = 4 ORDER BY u.id DESC LIMIT ?",
        (_MOST_SKIPS,),
    )
    return [
        {"url": url, "reason": reason, "rule": rule, "referrer": referrer}
        for url, reason, rule, referrer in rows
    ]


_SHOWN = ("url", "status_code", "title", "depth", "error", "fetch_ms", "bytes")


def pages_after(folder: Path, after: int, limit: int) -> tuple[Rows, int | None]:
    """Some pages, in the order in which they were found, and the number to go on after."""
    pages: Rows = []
    last = None
    try:
        with reading(folder) as database:
            numbers = database.execute(
                f"SELECT id FROM pages JOIN urls USING (id) WHERE {IS_PAGE} AND id > ? "  # noqa: S608
                "ORDER BY id LIMIT ?",
                (after, limit + 1),
            ).fetchall()
            reader = Reader(database)
            for (number,) in numbers[:limit]:
                if (answer := reader.answer(number)) is not None:
                    pages.append({name: answer.record.get(name) for name in _SHOWN})
            if len(numbers) > limit:
                last = numbers[limit - 1][0]
    except BadCrawlDirectory:
        # It has not begun.
        return [], None
    return pages, last


def kept_page(folder: Path, asked: str, url: str, *, with_body: bool) -> dict[str, Any] | None:
    """What a crawl has of a canonical URL; None: it has no page of it. Raises BadInput."""
    with Directory(folder).questions() as questions:
        leaf = leaf_of(questions, asked, url)
    page, stored = leaf["page"], leaf["stored"] or {}
    if page is None:
        return None
    kept = {
        "url": leaf["url"],
        "status_code": page.get("status_code"),
        "error": page.get("error"),
        "redirects_to": leaf["redirects_to"],
        "content_hash": page.get("content_hash") or stored.get("content_hash"),
        "content_type": page.get("content_type"),
        "size": page.get("bytes"),
        "crawled_at": page.get("fetched_at"),
        "headers": stored.get("response_headers"),
        "request_headers": stored.get("request_headers"),
        "title": page.get("title"),
        "depth": page.get("depth"),
        "referrer": page.get("referrer"),
    }
    return {**kept, **_body(leaf, Shelves(folder, None))} if with_body else kept


def _body(leaf: dict[str, Any], shelves: Shelves) -> dict[str, Any]:
    try:
        body = body_of(leaf, shelves)
    except (MissingBody, StoreError) as error:
        return {"body": None, "body_encoding": None, "body_problem": str(error)}
    try:
        return {"body": body.decode("utf-8"), "body_encoding": "utf-8", "body_problem": None}
    except UnicodeDecodeError:
        return {
            "body": b64encode(body).decode("ascii"),
            "body_encoding": "base64",
            "body_problem": None,
        }


def newest_page(
    folders: list[tuple[str, Path]], asked: str, url: str, with_body: bool
) -> dict[str, Any] | None:
    """A page as the first of some jobs has it that has one."""
    for job, folder in folders:
        try:
            kept = kept_page(folder, asked, url, with_body=with_body)
        except (BadInput, sqlite3.Error, OSError):
            # It has not begun, or is damaged: another may have the page.
            continue
        if kept is not None:
            return {"job_id": job, **kept}
    return None
