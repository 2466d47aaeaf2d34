"""The service does what its OpenAPI document says: schemathesis asks, with made-up values."""

from __future__ import annotations

import os
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.service.serving import Service
from tests.service.test_api import GARDEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# More of them, by hand: SCHEMATHESIS_EXAMPLES=500 ./scripts/test tests/service/test_openapi.py
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "4")

# What a schema can't say: whether a host has a good name, an expression is one of Python's, there
# is such a job, a megabyte is enough.
CONFIG = """
[[operations]]
include-path = "/crawler/seeds"
# Arrays of ten thousand URLs, many times.
phases.coverage.enabled = false

[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 404, 409, 413, 429]

[checks.negative_data_rejection]
expected-statuses = [400, 404, 405, 409, 413, 415, 429]
"""


@pytest.fixture
def waiting(site: SiteFactory, tmp_path: Path) -> Iterator[tuple[Service, str]]:
    """A service that has crawled once, and starts nothing any more."""
    server = site(GARDEN)
    with Service(tmp_path, max_pending="100000") as service:
        job = service.order(server.url())
        service.until_ended(job)
        service.stop()
        config = ConfigParser()
        config.read(tmp_path / "scrapyd.conf")
        config["scrapyd"]["poller"] = "tests.service.never.NeverPoller"
        config["crawlproject"]["allow_internal"] = "no"
        with (tmp_path / "scrapyd.conf").open("w") as file:
            config.write(file)
        service.start()
        yield service, job


@pytest.mark.parametrize("writes", [False, True], ids=["reading", "writing"])
def test_the_service_does_what_its_document_says(
    waiting: tuple[Service, str], tmp_path: Path, writes: bool
) -> None:
    service, job = waiting
    config = tmp_path / "schemathesis.toml"
    known = f"""
    [parameters]
    "path.id" = ["{job}", "unknown"]
    "path.name" = ["sitemap.json", "nothing.json"]
    """
    # Who writes also deletes.
    config.write_text(CONFIG if writes else known + CONFIG)
    methods = ("POST", "DELETE") if writes else ("GET",)
    result = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={config}",
            "run",
            f"{service.url}/openapi.json",
            "--checks=all",
            # A job that is deleted while it waits is stopped first.
            "--exclude-checks=use_after_free",
            *(f"--include-method={method}" for method in methods),
            f"--max-examples={EXAMPLES}",
            "--generation-deterministic",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-10_000:]
    assert " failed: " not in service.log()
    assert "Traceback" not in service.log()


def test_every_route_is_in_the_document_and_every_path_has_a_route(service: Service) -> None:
    document = service.get("/openapi.json").json
    for path, operations in document["paths"].items():
        allowed = service.ask("OPTIONS", path.format(id="x", name="y")).headers["allow"]
        methods = {method.upper() for method in operations if method != "parameters"}
        assert set(allowed.split(", ")) - {"HEAD", "OPTIONS"} == methods, path
