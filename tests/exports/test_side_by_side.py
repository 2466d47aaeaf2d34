"""An output holds the same whatever other outputs the crawl writes.

Two crawls never take the same time, so what differs by the clock is left out of the comparison.
"""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.crawling import scrapy
from tests.report.reading import report_in
from tests.site.fixture import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXT = " ".join(f"word{number}" for number in range(60))
SPEC = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "pages": {
        "/": {
            "title": "Home",
            "links": ["/a", "/copy", "/gone", "/broken", "/old", "/private", "/file", "/empty"],
        },
        "/a": {"title": "A", "text": TEXT, "links": ["/"]},
        "/copy": {"title": "A", "text": TEXT, "links": ["/"]},
        "/broken": {"status": 500, "body": "it broke"},
        "/old": {"redirect": "/a"},
        "/file": {"body": "%PDF-", "content_type": "application/pdf"},
        "/empty": {"body": ""},
    },
}
BY_THE_CLOCK = {"fetch_ms", "fetched_at", "fetched"}


def of_json(data: bytes) -> Any:
    document = json.loads(data)
    del document["started_at"]
    return document


def of_lines(data: bytes) -> Any:
    records = [json.loads(line) for line in data.splitlines()]
    return sorted(
        ({name: record[name] for name in record.keys() - BY_THE_CLOCK} for record in records),
        key=lambda record: record["url"],
    )


def of_csv(data: bytes) -> Any:
    rows = csv.DictReader(data.decode().splitlines())
    return [{name: row[name] for name in row if name not in BY_THE_CLOCK} for row in rows]


def of_html(data: bytes) -> Any:
    report = report_in(data)
    return [
        {name: values for name, values in report.pages.items() if name not in BY_THE_CLOCK},
        sorted(report.lists),
    ]


def of_parquet(data: bytes) -> Any:
    rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return [{name: row[name] for name in row if name not in BY_THE_CLOCK} for row in rows]


def of_warc(data: bytes) -> Any:
    return [
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), _payload(record))
        for record in ArchiveIterator(io.BytesIO(data))
        if record.rec_type in {"response", "revisit", "resource"}
    ]


def _payload(record: Any) -> bytes:
    return bytes(record.content_stream().read())


FORMATS: dict[str, Callable[[bytes], Any]] = {
    "json": of_json,
    "jsonl": of_lines,
    "csv": of_csv,
    "xml": lambda data: data,
    "html": of_html,
    "parquet": of_parquet,
    "warc.gz": of_warc,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    with Site(SPEC) as one:
        yield one


def outputs(server: Site, folder: Path, *formats: str) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    options = [word for name in formats for word in ("-O", f"p.{name}")]
    quick = ("-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01", "-s", "MONITORING_SUMMARY=no")
    seed = f"seed={server.url()}"
    done = scrapy("crawl", "site", "-a", seed, *options, *quick, cwd=folder)
    assert done.returncode == 0, done.stderr
    return {name: FORMATS[name]((folder / f"p.{name}").read_bytes()) for name in formats}


@pytest.fixture(scope="module")
def alone(server: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Each format, written by a crawl that writes nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    return {name: outputs(server, folder / name, name)[name] for name in FORMATS}


@pytest.mark.parametrize("together", [*combinations(FORMATS, 2), tuple(FORMATS)], ids="+".join)
def test_an_output_does_not_depend_on_the_others(
    server: Site, tmp_path: Path, alone: dict[str, Any], together: tuple[str, ...]
) -> None:
    written = outputs(server, tmp_path, *together)
    for name in together:
        assert written[name] == alone[name], name


def test_error_pages_have_no_hash_with_and_without_an_archive(server: Site, tmp_path: Path) -> None:
    written = outputs(server, tmp_path, "json", "warc.gz")
    hashes = {page["url"]: page.get("content_hash") for page in written["json"]["pages"]}
    assert hashes[server.url("/broken")] is None
    assert hashes[server.url("/a")] is not None
