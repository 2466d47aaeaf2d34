"""A stored page as a sheet: what ``scrapy page`` shows to readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.commands.meant import draw_near
from crawlproject.commands.sheet import Sheet
from crawlproject.commands.times import clock, moment_of
from crawlproject.exports.warc_text import request_line, status_line
from crawlproject.failures import explain
from crawlproject.frontier import clock as now
from crawlproject.records import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.records import Record

# Fields of a page that have a line of their own, or are said otherwise.
_SAID = frozenset(
    {"url", "status_code", "error", "content_type", "bytes", "fetch_ms", "fetched_at"}
    | {"content_hash", "redirected_from", "depth"}
)
# Characters of a field.
_LONGEST = 400


def draw(leaf: dict[str, Any], problem: str | None, how_to_store: str) -> None:
    """``problem``: why a body that was stored can't be had."""
    sheet = Sheet()
    sheet.say(leaf["url"], _summary(leaf))
    if (page := leaf["page"]) is not None:
        sheet.pairs("", _facts(page, leaf["stored"], problem, how_to_store))
        sheet.table("Redirected from", "l", (), [(url,) for url in page["redirected_from"]])
    if (stored := leaf["stored"]) is not None:
        sheet.pairs(request_line(stored), _pairs(stored["request_headers"]))
        sheet.pairs(" ".join(status_line(stored)), _pairs(stored["response_headers"]))
    draw_near(sheet, leaf["near"])
    sheet.write()


def _summary(leaf: dict[str, Any]) -> str:
    page, state = leaf["page"], leaf["state"]
    if state is None:
        return "It was never seen: no page that was fetched links to it."
    if page is None:
        return f"There is no page of it: it is {state}. scrapy why says more."
    if leaf["redirects_to"] is not None:
        return f"It redirects to {leaf['redirects_to']}."
    if page.get("status_code") is None:
        return f"It could not be had: {explain(str(page.get('error')))}."
    kind = page.get("content_type") or "of no content type"
    return f"It answered {page['status_code']}: {kind}, {page.get('bytes') or 0:,} bytes."


def _facts(
    page: Record, stored: Record | None, problem: str | None, how_to_store: str
) -> Iterator[tuple[str, str]]:
    fetched = moment_of(page.get("fetched_at"))
    if fetched is not None:
        took = "" if page.get("fetch_ms") is None else f", {page['fetch_ms']:,} ms"
        yield "fetched", f"{clock(fetched, now.now())}{took}"
    if stored is not None and stored["ip_address"] is not None:
        yield "answered by", stored["ip_address"]
    if page.get("error"):
        yield "error", explain(page["error"])
    if page.get("status_code") is not None:
        yield "body", _body(stored, problem, how_to_store)
    yield "depth", str(page["depth"])
    for name, value in page.items():
        if name in _SAID or value in (None, [], {}, "", False):
            continue
        if name == "headings":
            yield from map(_heading, value if isinstance(value, list) else [value])
        else:
            yield name.replace("_", " "), _short(_text(value))


def _heading(one: Any) -> tuple[str, str]:
    # A pipeline may have made something else of them.
    if isinstance(one, dict) and one.keys() >= {"level", "text"}:
        return f"h{one['level']}", _text(one["text"])
    return "heading", _text(one)


def _body(stored: Record | None, problem: str | None, how_to_store: str) -> str:
    if stored is None:
        return f"not stored; {how_to_store}"
    if stored["content_hash"] is None:
        return f"{stored['body_bytes']:,} bytes, not stored, as of all redirects"
    if problem is not None:
        return f"stored, but {problem}"
    where = "" if stored["store"] is None else f" in {stored['store']}"
    return (
        f"{stored['body_bytes']:,} bytes, stored as {stored['stored_bytes']:,}{where}; "
        f"SHA-256 {stored['content_hash']}"
    )


def _pairs(headers: list[list[str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers]


def _short(text: str) -> str:
    """A main text, or what a page says for machines, may be longer than all the rest."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} … ({len(text):,} characters; --json has them all)"


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    # Nested as it is in the outputs.
    return str(value) if isinstance(value, int | float | str) else to_text(value)
