"""What a crawl has stored of one URL: its page, and its response if bodies are stored.

For ``scrapy page``, and for the service's ``/storage/get-page``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.frontier.reading import Reader
from crawlproject.pipelines.blobs import MissingBody
from crawlproject.pipelines.stored import checked

if TYPE_CHECKING:
    from crawlproject.frontier.questions import Questions
    from crawlproject.pipelines.places import Shelves
    from crawlproject.records import Record

    Leaf = dict[str, Any]

HOW_TO_STORE = "-s STORE_BODIES=True keeps the bodies of the pages that are fetched from then on"

_COMPARED = frozenset({"duplicate_of", "near_duplicate_of", "similarity"})


def leaf_of(questions: Questions, asked: str, url: str) -> Leaf:
    """All that is known of a canonical URL; ``asked`` is how the user spelled it."""
    known = questions.find(url)
    answer = None if known is None else Reader(questions.database).answer(known.id)
    stored = None if answer is None or answer.stored is None else checked(answer.stored)
    return {
        "asked": asked,
        "url": url,
        "state": None if known is None else known.state,
        "page": None if answer is None else _told(answer.record),
        "redirects_to": None if answer is None else answer.target,
        "stored": stored,
        "body": None,
        "near": [one._asdict() for one in questions.near(url)] if known is None else [],
    }


def body_of(leaf: Leaf, shelves: Shelves) -> bytes:
    """Raises MissingBody with the reason, and StoreError."""
    stored = leaf["stored"]
    if leaf["state"] is None:
        raise MissingBody("it was never seen")
    if leaf["redirects_to"] is not None:
        raise MissingBody(f"it redirects to {leaf['redirects_to']}")
    if leaf["page"] is None or leaf["page"].get("status_code") is None:
        raise MissingBody("there was no answer; scrapy why says more")
    if stored is None:
        raise MissingBody(f"it is not stored; {HOW_TO_STORE}")
    return shelves.blobs(stored["store"]).get(stored["content_hash"], stored["body_bytes"])


def _told(record: Record) -> Record:
    """Without the fields that are decided when outputs are written: null would be wrong."""
    return {name: value for name, value in record.items() if name not in _COMPARED}
