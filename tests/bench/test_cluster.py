"""One small run of ``bench cluster``. No figure is judged, but what can't be otherwise is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.__main__ import main
from bench.cluster_bytes import measure_bytes

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_fleets_and_scrapy_redis_crawl_the_same_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "bench.json"
    options = ("--pages", "40", "--repeat", "1", "--urls", "500", "--server", "python")
    assert main(["cluster", *options, "--output", str(output)]) == 0
    said = capsys.readouterr().out
    assert "2 workers / 1: " in said
    assert "ours / scrapy-redis: " in said
    figures = json.loads(output.read_text())
    assert figures["same_pages"] is True
    assert [fleet["workers"] for fleet in figures["fleets"]] == [1, 2]
    for fleet in figures["fleets"]:
        assert fleet["pages"] == 40
        assert fleet["round_trips"] > 0
        assert fleet["workers_cpu_seconds"] > 0
        assert fleet["redis_bytes_a_page"] > 0
    assert figures["stock"]["scrapy-redis"]["pages"] == 40


def test_a_queued_url_takes_more_than_a_seen_one(redis_url: str) -> None:
    sizes = measure_bytes(redis_url, 2000)
    assert 0 < sizes.bytes_a_seen_url < sizes.bytes_a_queued_url
    assert sizes.allocator


def test_bad_arguments_get_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing" / "bench.json"
    assert main(["cluster", "--output", str(missing)]) == 2
    assert capsys.readouterr().err.startswith("bench cluster: error: --output: ")
