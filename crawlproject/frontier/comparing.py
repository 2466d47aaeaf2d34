"""What has changed of a URL since it was visited last. *Pure.*"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.records import PAGE
from crawlproject.recrawl.visit import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.base import Lease
    from crawlproject.records import Record

    # How much of their text two pages have in common, by their signatures; None: nobody knows.
    Similarity = Callable[[bytes, bytes], float | None]
    # Fields of a page: what they were, and what they are.
    Detail = dict[str, list[Any]]

# What is said of a page that has changed.
_TOLD = (
    *("status_code", "error", "title", "description", "canonical", "noindex", "language"),
    *("content_type", "headings"),
)
# Unless these are the same, a change is no cosmetic one, however alike the texts are.
_MEANT = (
    *("title", "description", "canonical", "noindex", "headings"),
    *("structured_data", "open_graph"),
)
# … nor unless as many of the links are the same: a list is what it links to.
_LINKS_ALIKE = 0.9
# … and these, where no text can be compared.
_ELSE = (*_MEANT, "word_count", "images", "media")


class Before(NamedTuple):
    """What was known of a URL when it was visited again."""

    # Its page, if it had one; without its links.
    record: Record | None = None
    # Of its body, and of its text.
    hash: bytes | None = None
    signature: bytes | None = None
    # Where it redirected to.
    target: str | None = None
    was_fine: bool = True
    # The part of the links of then and now that was there, and is.
    links_alike: float = 1.0
    # As the store has them.
    links: list[int] = []  # noqa: RUF012 - nobody adds to it


class Found(NamedTuple):
    change: Change
    detail: Detail


def compare(before: Before | None, lease: Lease, similarity: Similarity, cosmetic: float) -> Found:
    """``cosmetic``: how alike texts are, at least, if the change of a page was none to speak of."""
    page = _page_of(lease)
    if before is None:
        return Found(_first(lease), {})
    if lease.is_unchanged:
        return Found(Change.SAME, {})
    if lease.redirect is not None or before.target is not None:
        return _redirected(before, lease, page)
    if lease.failed or lease.skip is not None:
        return Found(_first(lease), _differences(before.record, page))
    if not before.was_fine:
        return Found(Change.BACK, _differences(before.record, page))
    return _changed(before, lease, page, similarity, cosmetic)


def _page_of(lease: Lease) -> Record | None:
    return next((record for kind, record in lease.records if kind == PAGE), None)


def _first(lease: Lease) -> Change:
    """What a visit finds, whatever was before."""
    if lease.skip is None and not lease.failed:
        return Change.NEW
    return Change.GONE if lease.is_gone else Change.FAILED


def _redirected(before: Before, lease: Lease, page: Record | None) -> Found:
    if lease.redirect == before.target:
        return Found(Change.SAME if before.was_fine else Change.BACK, {})
    detail: Detail = {"redirects_to": [before.target, lease.redirect]}
    if lease.redirect is not None:
        return Found(Change.CHANGED, detail)
    found = _first(lease)
    if found is not Change.NEW:
        # It may redirect again tomorrow.
        return Found(found, _differences(before.record, page))
    return Found(Change.CHANGED, detail)


def _changed(
    before: Before,
    lease: Lease,
    page: Record | None,
    similarity: Similarity,
    cosmetic: float,
) -> Found:
    if before.hash is not None and lease.content is not None:
        if before.hash == lease.content.hash:
            return Found(Change.SAME, {})
    elif not _differences(before.record, page, _ELSE):
        # No body is known on one of both sides, and all that is says the same.
        return Found(Change.SAME, {})
    detail = _differences(before.record, page)
    alike = _alike(before, lease, similarity)
    if alike is None:
        is_cosmetic = not _differences(before.record, page, _ELSE)
    else:
        is_cosmetic = alike >= cosmetic and not _differences(before.record, page, _MEANT)
    is_cosmetic &= before.links_alike >= _LINKS_ALIKE
    if alike is not None and alike < 1:
        detail["content"] = [None, round(alike, 3)]
    return Found(Change.COSMETIC if is_cosmetic else Change.CHANGED, detail)


def _alike(before: Before, lease: Lease, similarity: Similarity) -> float | None:
    if before.signature is None or lease.content is None:
        return None
    sign = lease.content.signature
    signature = sign() if callable(sign) else sign
    return None if signature is None else similarity(before.signature, signature)


def _differences(
    before: Record | None, after: Record | None, names: tuple[str, ...] = _TOLD
) -> Detail:
    """Nothing and an empty value are the same: what says nothing is not kept."""
    was, now = before or {}, after or {}
    pairs = ((name, was.get(name) or None, now.get(name) or None) for name in names)
    return {name: [one, other] for name, one, other in pairs if one != other}
