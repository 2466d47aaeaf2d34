from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from crawlproject.exports.pages_csv import COLUMNS, PagesCsvExporter
from crawlproject.items import Page


def exported(items: list[Any], **options: Any) -> bytes:
    file = io.BytesIO()
    exporter = PagesCsvExporter(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def rows(items: list[Any], **options: Any) -> list[dict[str, str]]:
    text = exported(items, **options).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_the_table_to_the_byte() -> None:
    pages = [
        Page("https://b/", depth=2, error="timeout"),
        Page(
            "https://a/",
            200,
            links=["https://b/", "https://c/"],
            bytes=7,
            fetch_ms=12,
            title='Say "hi", all',
            redirected_from=["https://x/", "https://y/"],
            noindex=True,
            headings=[{"level": 2, "text": "Two"}, {"level": 1, "text": "One"}],
            word_count=3,
            sitemap={"url": "https://a/sitemap.xml", "priority": 0.5},
        ),
    ]
    assert exported(pages).decode() == (
        "url,status_code,bytes,fetch_ms,outlinks,depth,error,content_type,title,referrer,"
        "redirected_from,noindex,canonical,last_modified,fetched_at,nofollow,description,language,"
        "h1,word_count,content_hash,duplicate_of,near_duplicate_of,similarity,rendered,"
        "orphan,sitemap\r\n"
        'https://a/,200,7,12,2,0,,,"Say ""hi"", all",,https://x/ https://y/,true,,,,false,,,'
        "One,3,,,,,false,false,https://a/sitemap.xml\r\n"
        "https://b/,,,,0,2,timeout,,,,,false,,,,false,,,,,,,,,false,false,\r\n"
    )


def test_a_hostile_title_is_one_harmless_cell() -> None:
    title = "\n=cmd|' /C calc'!A0\r\n\x00\ud800\",x"
    data = exported([Page("https://a/", title=title)])
    assert data.count(b"\r\n") == 2
    assert b"\x00" not in data
    (row,) = rows([Page("https://a/", title=title)])
    assert row["title"] == "' =cmd|' /C calc'!A0 \ufffd\",x"


def test_fields_of_a_team_are_further_columns_by_name() -> None:
    items = [
        {"url": "https://a/", "status_code": 200, "zoo": ["x", 1], "nested": {"a": 1}, "nil": None},
        {"url": "https://b/", "status_code": 200, "ant": -1.5, "zoo": [["deep"]]},
    ]
    first, second = rows(items)
    assert list(first) == [*COLUMNS, "ant", "nested", "zoo"]
    assert (first["ant"], first["nested"], first["zoo"]) == ("", '{"a":1}', "x 1")
    assert (second["ant"], second["nested"], second["zoo"]) == ("-1.5", "", '[["deep"]]')


def test_nested_values_of_items_and_of_what_pipelines_add_are_json() -> None:
    item = {
        "name": "x",
        "price": {"amount": 5, "currency": "EUR"},
        "variants": [{"sku": 1}, {"sku": 2}],
        "sitemap": {"url": "u"},
    }
    page = Page("https://a/", 200, open_graph={"og:a": "b"}, extra={"offer": {"set": {3, 1}}})
    first, second = rows([item, page])
    assert list(first) == [*COLUMNS, "name", "offer", "price", "variants"]
    assert first["offer"] == '{"set":[1,3]}'
    assert second["price"] == '{"amount":5,"currency":"EUR"}'
    assert second["variants"] == '[{"sku":1},{"sku":2}]'
    assert second["sitemap"] == '{"url":"u"}'
    (row,) = rows([page], fields_to_export=["open_graph"])
    assert row == {"open_graph": '{"og:a":"b"}'}


def test_a_nested_value_is_no_formula_wherever_a_spreadsheet_splits_it() -> None:
    data = exported([{"deep": [["x", "=1+1"]]}], delimiter=";", fields_to_export=["deep"])
    assert data.splitlines()[1] == b'"[[""x"",""\'=1+1""]]"'


def test_a_column_name_cannot_be_a_formula() -> None:
    assert b",'=1+1\r\n" in exported([{"url": "https://a/", "status_code": 1, "=1+1": 1}])


def test_items_that_are_no_pages_are_rows_behind_the_pages() -> None:
    table = rows([{"title": "a product", "price": 3}, Page("https://z/", 200)])
    assert [(row["url"], row["title"], row["price"]) for row in table] == [
        ("https://z/", "", ""),
        ("", "a product", "3"),
    ]


def test_columns_can_be_chosen_and_renamed() -> None:
    page = Page("https://a/", 200, links=["https://b/", "https://c/"])
    assert exported([page], fields_to_export=["links", "outlinks", "url", "none"]) == (
        b"links,outlinks,url,none\r\nhttps://b/ https://c/,2,https://a/,\r\n"
    )
    assert exported([page], fields_to_export={"status_code": "code"}) == b"code\r\n200\r\n"


def test_options_for_the_csv_writer_are_passed_on() -> None:
    assert exported([], delimiter=";").startswith(b"url;status_code;")
    items = [{"tags": ["a", "b"], "name": "é"}]
    fields = {"fields_to_export": ["tags", "name"], "include_headers_line": False}
    assert exported(items, **fields) == "a b,é\r\n".encode()
    assert exported(items, **fields, join_multivalued="|") == "a|b,é\r\n".encode()
    named = {"encoding": "ascii", "errors": "xmlcharrefreplace"}
    assert exported(items, **fields, **named) == b"a b,&#233;\r\n"
    with pytest.raises(TypeError):
        PagesCsvExporter(io.BytesIO(), colour="red")
    with pytest.raises(TypeError, match="join_multivalued: 3 is not a text"):
        PagesCsvExporter(io.BytesIO(), join_multivalued=3)  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        PagesCsvExporter(io.BytesIO(), errors="nope")


@pytest.mark.parametrize(
    ("encoding", "start"),
    [("utf-8-sig", b"\xef\xbb\xbfurl,"), ("utf-16-le", "url,".encode("utf-16-le"))],
)
def test_the_encoding_is_obeyed_throughout(encoding: str, start: bytes) -> None:
    data = exported([Page("https://a/", title="é")], encoding=encoding)
    assert data.startswith(start)
    assert ",é," in data.decode(encoding)
    assert data.count(start) == 1


def test_what_the_encoding_lacks_is_replaced() -> None:
    assert b",? a," in exported([Page("https://a/", title="😀 a")], encoding="latin-1")


def test_headings_that_are_not_ours_are_no_reason_to_fail() -> None:
    pages = [
        Page("https://a/", 200, headings=["One"]),  # type: ignore[list-item]
        Page("https://b/", 200, headings="One"),  # type: ignore[arg-type]
        Page("https://c/", 200, headings=[{"level": 1}, {"text": "x"}]),
        {"headings": ["One", 2]},
    ]
    assert [row["h1"] for row in rows(pages)] == ["", "", "", ""]
