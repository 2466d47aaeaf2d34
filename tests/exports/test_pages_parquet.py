"""The pages as a table with types."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.exports import pages_parquet
from crawlproject.exports.columns import KINDS, Kind, value_of
from crawlproject.exports.pages_parquet import PagesParquetExporter
from crawlproject.items import Page
from tests.crawling import PROJECT, crawl_site, fresh_scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def export(path: Path, *items: Any, **options: Any) -> pyarrow.Table:
    with path.open("wb") as file:
        exporter = PagesParquetExporter(file, **options)
        exporter.start_exporting()
        for item in items:
            exporter.export_item(item)
        exporter.finish_exporting()
    return pyarrow.parquet.read_table(path)


def test_columns_have_types(tmp_path: Path) -> None:
    page = Page(
        "https://x.example/b",
        200,
        depth=1,
        links=["https://x.example/"],
        fetched_at="2026-11-16T02:23:31.500+00:00",
        similarity=0.5,
        open_graph={"title": "T"},
    )
    table = export(tmp_path / "p.parquet", page, Page("https://x.example/a"))
    types = {field.name: str(field.type) for field in table.schema}
    assert list(types)[:4] == ["url", "status_code", "depth", "links"]
    assert types["url"] == types["error"] == types["open_graph"] == "string"
    assert types["status_code"] == types["fetch_ms"] == "int64"
    assert types["links"] == types["redirected_from"] == "list<element: string>"
    assert types["noindex"] == "bool"
    assert types["similarity"] == "double"
    assert types["fetched_at"] == "timestamp[ms, tz=UTC]"
    first, second = table.to_pylist()
    assert (first["url"], first["status_code"], first["links"]) == ("https://x.example/a", None, [])
    assert second["links"] == ["https://x.example/"]
    assert second["fetched_at"] == datetime(2026, 11, 16, 2, 23, 31, 500_000, tzinfo=UTC)
    assert json.loads(second["open_graph"]) == {"title": "T"}


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None, 3], "int64", [1, None, 3]),
        ([1, 2.5, None], "double", [1.0, 2.5, None]),
        (["a", None, "b"], "string", ["a", None, "b"]),
        ([True, None, False], "bool", [True, None, False]),
        ([["a"], None, []], "list<element: string>", [["a"], None, []]),
        ([1, "a", None], "string", ["1", '"a"', None]),
        ([{"a": 1}, [1], None], "string", ['{"a":1}', "[1]", None]),
        ([2**70, None, 1], "string", [str(2**70), None, "1"]),
        (["\udc80", None, None], "string", ["\ufffd", None, None]),
        ([None, None, None], "string", [None, None, None]),
    ],
)
def test_a_field_that_a_team_adds_has_the_type_of_its_values(
    tmp_path: Path, values: list[Any], kind: str, expected: list[Any]
) -> None:
    pages = [
        Page(f"https://x.example/{number}", 200, extra={"added": value})
        for number, value in enumerate(values)
    ]
    column = export(tmp_path / "p.parquet", *pages)["added"]
    assert (str(column.type), column.to_pylist()) == (kind, expected)


def test_chosen_fields_are_the_columns(tmp_path: Path) -> None:
    page = Page("https://x.example/", 200, title="T", extra={"rating": 3})
    fields = {"title": "headline", "url": "url", "rating": "rating", "nothing": "nothing"}
    table = export(tmp_path / "p.parquet", page, fields_to_export=fields)
    assert table.to_pylist() == [
        {"url": "https://x.example/", "headline": "T", "rating": 3, "nothing": None}
    ]


def test_what_a_pipeline_has_made_of_a_field_costs_that_value_only() -> None:
    assert value_of(Kind.WHOLE, "many") is None
    assert value_of(Kind.TEXT, 3) == "3"
    assert value_of(Kind.TEXTS, "no list") is None
    assert value_of(Kind.TIME, "yesterday") is None
    assert value_of(Kind.TIME, "2026-11-16T02:23:31") is None
    assert value_of(Kind.BOOLEAN, 1) is None
    assert KINDS["url"] is Kind.TEXT


def test_other_items_are_not_rows_and_no_page_is_an_empty_table(tmp_path: Path) -> None:
    table = export(tmp_path / "p.parquet", {"name": "a product"})
    assert table.num_rows == 0
    assert "url" in table.schema.names


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_parquet, "_ROWS", 10)
    pages = [Page(f"https://x.example/{number:03}", 200) for number in range(35)]
    table = export(tmp_path / "p.parquet", *reversed(pages))
    assert pyarrow.parquet.ParquetFile(tmp_path / "p.parquet").num_row_groups == 4
    assert table["url"].to_pylist() == [page.url for page in pages]


class Rated:
    def process_item(self, item: Any) -> Any:
        item.extra["rating"] = item.depth * 2
        return item


@deferred_f_from_coro_f
async def test_the_pages_of_all_runs_are_in_it(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"generated": {"kind": "chain", "pages": 9}})
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "ITEM_PIPELINES": {Rated: 100},
        "FEEDS": {str(tmp_path / "p.parquet"): {"overwrite": True}},
    }
    await crawl_site(server.url(), settings, max_pages="4")
    await crawl_site(server.url(), settings)
    table = pyarrow.parquet.read_table(tmp_path / "p.parquet")
    assert table["url"].to_pylist() == sorted(table["url"].to_pylist())
    assert sorted(table["depth"].to_pylist()) == list(range(9))
    assert sorted(table["rating"].to_pylist()) == list(range(0, 18, 2))
    assert str(table["rating"].type) == "int64"


def test_without_pyarrow_it_says_how_to_get_it(site: SiteFactory, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text('import sys\nsys.modules["pyarrow"] = None\n')
    server = site({"pages": {"/": {}}})
    done = fresh_scrapy(
        *("crawl", "site", "-a", f"seed={server.url()}", "-O", "p.parquet"),
        cwd=tmp_path,
        PYTHONPATH=f"{tmp_path}:{PROJECT}",
    )
    assert done.returncode == 2
    assert done.stderr == (
        "scrapy crawl: error: can't write 'p.parquet': pyarrow is not installed: "
        f"{sys.executable} -m pip install -c {PROJECT}/constraints.txt "
        f"-r {PROJECT}/requirements-parquet.txt\n"
    )
    assert server.log() == []
