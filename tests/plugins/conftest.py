"""Projects that use plugins of others, on Scrapy's own code paths and on the fast path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.stock import ADDONS, StockProject

if TYPE_CHECKING:
    from pathlib import Path

# Defaults of every project here. Tests wait for no delay.
QUICK: dict[str, Any] = {
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "FRONTIER_RETRY_BACKOFF_SECONDS": 0.01,
    "SITEMAPS_MODE": "never",
    "MONITORING_SUMMARY": False,
    "LOG_LEVEL": "INFO",
}


@pytest.fixture(params=[True, False], ids=["fastpath", "plain"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings that every project has."""
    return {**QUICK, "FASTPATH_ENABLED": request.param}


@pytest.fixture
def other_project(tmp_path: Path) -> StockProject:
    """A project of somebody else's that has the add-on."""
    return StockProject(tmp_path, preamble=f"ADDONS = {ADDONS!r}")


@pytest.fixture
def our_project(tmp_path: Path) -> StockProject:
    """A team's settings, which import ours, and a spider beside ours."""
    return StockProject(tmp_path, preamble="from crawlproject.settings import *")
