"""One small run of scrapy-redis' side. No figure is judged here, but what can't be otherwise is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.cluster_stock import measure
from bench.server import serve
from bench.site import Site

if TYPE_CHECKING:
    import pytest


def test_it_crawls_the_site_and_redis_says_what_that_cost(
    tmp_path_factory: pytest.TempPathFactory, redis_url: str
) -> None:
    folder = tmp_path_factory.mktemp("stock")
    site, root = Site(120), folder / "site"
    root.mkdir()
    site.write(root)
    with serve(root, folder / "server", "python") as served:
        side = measure(site, served.url, redis_url, folder / "runs")
    assert side.differences == []
    figures = side.figures()
    assert figures["pages"] == 120
    redis = figures["redis"]
    # A URL is asked about, put in and taken out, that with four commands at once.
    assert 3 <= redis["round_trips_a_page"] <= redis["commands_a_page"] - 3
    assert redis["cpu_ms_a_page"] > 0
    # A fingerprint is written as 40 characters, a request at least with its URL.
    assert redis["bytes_a_seen_url"] > 40
    assert redis["bytes_a_queued_url"] > len(served.url)
