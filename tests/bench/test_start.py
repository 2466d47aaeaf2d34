"""The benchmark of start-up: one small run. Nothing is timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.__main__ import main
from bench.start import show

if TYPE_CHECKING:
    import pytest


def test_all_sides_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["start", "--repeat", "1"]) == 0
    said = capsys.readouterr().out
    for side in ("stock project: scrapy crawl", "scrapy crawl site", "./scripts/crawl"):
        assert side in said
    assert "1 runs of each" in said
    assert "Target: ./scripts/crawl ≤ 1.3 × stock" in said


def test_ratios_are_of_the_best_and_of_the_median(capsys: pytest.CaptureFixture[str]) -> None:
    show({"stock project: scrapy crawl": [1.0, 2.0, 4.0], "./scripts/crawl": [1.5, 3.0, 9.0]}, 3)
    said = capsys.readouterr().out
    (row,) = (line for line in said.splitlines() if line.startswith("│ ./scripts/crawl"))
    assert row.replace("│", " ").split() == ["./scripts/crawl", "1.50", "1.50", "3.00", "1.50"]
    assert "by the best runs: not met" in said
