from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from crawlproject.exports.sitemap_json import KEY_ORDER, SitemapJsonExporter
from crawlproject.items import Page

STARTED = datetime(2025, 6, 1, 12, 0, 0, 999_999, tzinfo=UTC)

FULL = Page(
    "https://a.example/",
    status_code=200,
    depth=0,
    links=["https://a.example/c", "https://a.example/b"],
    error="odd",
    content_type="text/html",
    bytes=0,
    fetch_ms=12,
    title="",
    fetched_at="2025-06-01T12:00:01Z",
    referrer="https://a.example/r",
    redirected_from=["https://a.example/old"],
    noindex=True,
    canonical="https://a.example/c",
    last_modified="Sun, 06 Nov 1994 08:49:37 GMT",
    nofollow=True,
    rendered=True,
    description="All of it",
    language="en",
    alternates={"de": "https://a.example/de"},
    headings=[{"level": 1, "text": "One"}],
    word_count=0,
    images=["https://a.example/i.png"],
    media=["https://a.example/v.mp4"],
    open_graph={"type": "article"},
    structured_data=[{"type": "Article", "properties": {}}],
    content_hash="ab",
    duplicate_of="https://a.example/d",
    near_duplicate_of="https://a.example/n",
    similarity=0.95,
    orphan=True,
    sitemap={"url": "https://a.example/sitemap.xml", "lastmod": "2025-06-01"},
    links_left_out=7,
)


def exported(items: list[Any], **options: Any) -> bytes:
    file = io.BytesIO()
    exporter = SitemapJsonExporter(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def pages_of(items: list[Any], **options: Any) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = json.loads(exported(items, **options))["pages"]
    return pages


def test_the_document_to_the_byte() -> None:
    pages = [
        Page("https://a.example/é", status_code=None, depth=1, error="timeout"),
        Page("https://a.example/", status_code=200, links=["https://b.example/", "https://a/"]),
    ]
    text = exported(pages, seeds=["https://a.example/"], started_at=STARTED).decode()
    assert text == (
        "{\n"
        '"seed": "https://a.example/",\n'
        '"started_at": "2025-06-01T12:00:00Z",\n'
        '"pages": [\n'
        '{"url":"https://a.example/","status_code":200,"depth":0,'
        '"links":["https://a/","https://b.example/"]},\n'
        '{"url":"https://a.example/é","status_code":null,"depth":1,'
        '"links":[],"error":"timeout"}\n'
        "]\n"
        "}\n"
    )


def test_an_empty_document_to_the_byte() -> None:
    assert exported([]) == b'{\n"seed": null,\n"started_at": null,\n"pages": []\n}\n'


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [([], None), (["https://a/"], "https://a/"), (["https://b/", "https://a/"],) * 2],
)
def test_seed_is_null_one_or_a_list(seeds: list[str], expected: object) -> None:
    assert json.loads(exported([], seeds=seeds))["seed"] == expected


def test_start_time_is_told_in_utc() -> None:
    moment = STARTED.astimezone(timezone(timedelta(hours=5)))
    assert json.loads(exported([], started_at=moment))["started_at"] == "2025-06-01T12:00:00Z"
    moment = STARTED.replace(tzinfo=None)
    assert json.loads(exported([], started_at=moment))["started_at"] == "2025-06-01T12:00:00Z"


def test_keys_have_a_fixed_order_without_what_differs_each_time() -> None:
    (page,) = pages_of([FULL])
    assert tuple(page) == KEY_ORDER
    assert page["bytes"] == 0
    assert page["title"] == ""


def test_the_links_of_the_item_itself_keep_their_order() -> None:
    exported([FULL])
    assert FULL.links == ["https://a.example/c", "https://a.example/b"]


def test_what_says_nothing_is_left_out_but_the_status_code() -> None:
    (page,) = pages_of([Page("https://a.example/")])
    assert page == {"url": "https://a.example/", "status_code": None, "depth": 0, "links": []}


def test_chosen_fields_are_all_there_in_the_chosen_order() -> None:
    pages = pages_of([FULL, Page("https://b/")], fields_to_export=["fetch_ms", "error", "url"])
    assert [list(page.items()) for page in pages] == [
        [("fetch_ms", 12), ("error", "odd"), ("url", "https://a.example/")],
        [("fetch_ms", None), ("error", None), ("url", "https://b/")],
    ]


def test_chosen_fields_can_be_renamed() -> None:
    assert pages_of([FULL], fields_to_export={"url": "address", "bytes": "size"}) == [
        {"address": "https://a.example/", "size": 0}
    ]


def test_fields_of_a_team_come_last_by_name() -> None:
    extra = {"zoo": [1], "ant": {"b": 1}, "nil": None}
    (page,) = pages_of([Page("https://a/", 200, extra=extra)])
    assert list(page) == ["url", "status_code", "depth", "links", "ant", "zoo"]


def test_items_that_are_no_pages_have_a_list_of_their_own() -> None:
    product = {"url": FULL.url, "price": 3}
    document = json.loads(exported([product, product, FULL, "text"]))
    assert len(document["pages"]) == 1
    assert document["items"] == [product, product, {"value": "text"}]


def test_an_item_with_the_fields_of_a_page_is_none_and_stays_as_it_is() -> None:
    check = {"url": FULL.url, "status_code": 200, "links": ["z", "a"], "title": None}
    document = json.loads(exported([check, FULL, check]))
    assert [page["bytes"] for page in document["pages"]] == [0]
    assert document["items"] == [check, check]


def test_chosen_fields_hold_for_items_that_are_no_pages() -> None:
    document = json.loads(exported([{"price": 3, "x": 1}], fields_to_export=["url", "price"]))
    assert document["items"] == [{"price": 3}]


@pytest.mark.parametrize("indent", [2, 4])
def test_indented_the_document_is_laid_out_as_json_does_it(indent: int) -> None:
    items: list[Any] = [FULL, Page("https://b/", links=["x\ny"]), {"price": 3}]
    text = exported(items, seeds=["https://a/", "https://b/"], indent=indent).decode()
    document = json.loads(text)
    assert text == json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    assert document == json.loads(exported(items, seeds=["https://a/", "https://b/"]))


def test_indent_zero_is_a_page_a_line() -> None:
    assert exported([FULL], indent=0) == exported([FULL])


def test_hostile_text_stays_one_line_of_valid_utf8() -> None:
    title = 'a"\n\r\x00\\\ud800</script>😀'
    data = exported([Page("https://a/\udfff", title=title), Page("https://b/")])
    assert len(data.split(b"\n")) == 9
    (first, second) = json.loads(data.decode())["pages"]
    assert first["title"] == 'a"\n\r\x00\\\ufffd</script>😀'
    assert second["url"] == "https://b/"


def test_links_of_another_kind_are_kept_as_they_are() -> None:
    links: list[Any] = [{"to": "https://b/"}, {"to": "https://a/"}]
    (page,) = pages_of([Page("https://a/", 200, links=links)])
    assert page["links"] == links
