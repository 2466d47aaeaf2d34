"""One small run of ``bench service``. No figure is judged, but what can't be otherwise is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_jobs_crawl_while_the_service_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "bench.json"
    # It takes half a minute at least: no machine is fast enough to end before the benchmark.
    options = ["--pages", "600", "--delay", "0.05", "--repeat", "1", "--jobs", "1"]
    options += ["--seconds", "1.5", "--rate", "20", "--server", "python", "--output", str(output)]
    assert main(["service", *options]) == 0, capsys.readouterr().err
    figures = json.loads(output.read_text())
    (load,) = figures["loads"]
    assert (load["sent"], load["errors"]) == (30, 0)
    assert figures["ratio"] > 0
    assert "requests" in capsys.readouterr().out
