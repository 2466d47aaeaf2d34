from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from crawlproject.exports.pages_jsonl import PagesJsonLinesExporter
from crawlproject.items import Page
from crawlproject.records import PAGE_FIELDS

if TYPE_CHECKING:
    from pathlib import Path


def exported(items: list[Any], **options: Any) -> bytes:
    file = io.BytesIO()
    exporter = PagesJsonLinesExporter(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def test_a_line_a_page_in_the_order_of_arrival() -> None:
    data = exported([Page("https://b/"), Page("https://a/"), {"price": 3}])
    lines = [json.loads(line) for line in data.splitlines()]
    assert [line.get("url") for line in lines] == ["https://b/", "https://a/", None]
    assert data.endswith(b"\n")


def test_a_line_has_all_that_is_known() -> None:
    page = Page("https://a/", 200, fetch_ms=12, fetched_at="2025-06-01T12:00:01Z", links=["z", "a"])
    line = json.loads(exported([page]))
    said = [name for name in PAGE_FIELDS if getattr(page, name) not in (None, [], {})]
    assert list(line) == [name for name in PAGE_FIELDS if name in (*said, "redirected_from")]
    assert line["fetch_ms"] == 12
    assert line["links"] == ["z", "a"]


def test_the_status_code_is_there_also_without_an_answer() -> None:
    assert json.loads(exported([Page("https://a/")]))["status_code"] is None


def test_fields_are_chosen_and_indent_is_ignored() -> None:
    data = exported([Page("https://a/", 200)], fields_to_export=["depth", "url"], indent=2)
    assert data == b'{"depth":0,"url":"https://a/"}\n'


def test_a_line_can_be_read_before_the_crawl_ends(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    with path.open("ab") as file:
        exporter = PagesJsonLinesExporter(file)
        exporter.start_exporting()
        exporter.export_item(Page("https://a/"))
        assert path.read_bytes().endswith(b"}\n")


def test_appending_after_a_crash_loses_only_the_line_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b'{"url": "https://a/"}\n{"url": "http')
    with path.open("ab") as file:
        exporter = PagesJsonLinesExporter(file)
        exporter.start_exporting()
        exporter.export_item(Page("https://b/"))
    lines = path.read_bytes().splitlines()
    assert [lines[0], lines[1]] == [b'{"url": "https://a/"}', b'{"url": "http']
    assert json.loads(lines[2])["url"] == "https://b/"


def test_hostile_text_stays_one_line() -> None:
    data = exported([Page("https://a/", title="a\n\x00\ud800\r")])
    assert data.count(b"\n") == 1
    assert json.loads(data.decode())["title"] == "a\n\x00\ufffd\r"
