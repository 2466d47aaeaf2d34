"""What a plain crawl imports: what it does not use costs every start, and every worker's."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.crawling import command_environment
from tests.site.fixture import Site

# Runs Scrapy's command line and writes down what was imported when it has ended.
DRIVER = """
import atexit, json, sys
from pathlib import Path

atexit.register(lambda: Path("modules.json").write_text(json.dumps([*sys.modules])))
from scrapy.cmdline import execute

execute()
"""
# Of packages, all that is in them.
UNUSED = (
    "IPython",
    "crawlproject.demo",
    "crawlproject.frontier.redis.frontier",
    "crawlproject.report.diff.comparison",
    "crawlproject.report.document",
    "crawlproject.service",
    "datasketch",
    "extruct",
    "fsspec",
    "matplotlib",
    "playwright",
    "prometheus_client",
    "pyarrow",
    "redis",
    "scipy",
    "scrapy_playwright",
    "scrapy_redis",
    "scrapyd",
    "twisted.conch.manhole",
    "warcio",
)


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("start")
    spec = {"pages": {"/": {"body": "<title>One</title><p>A page.</p>"}}}
    with Site(spec) as server:
        command = ["crawl", "site", "-a", f"seed={server.url()}", "-O", "sitemap.json"]
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, *command],
            cwd=folder,
            env=command_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    (page,) = json.loads((folder / "sitemap.json").read_bytes())["pages"]
    assert page["title"] == "One"
    # Nothing complains that objects are alive at the end.
    assert "leak" not in done.stderr
    return {*json.loads((folder / "modules.json").read_bytes())}


@pytest.mark.parametrize("name", UNUSED)
def test_a_plain_crawl_does_not_import_what_it_does_not_use(modules: set[str], name: str) -> None:
    assert not {module for module in modules if module == name or module.startswith(f"{name}.")}
    assert "scrapy.core.engine" in modules
