from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families

from crawlproject.monitoring.metrics import JOBS, METRIC_NAMES, collect
from crawlproject.monitoring.snapshot import FetchSeconds, Snapshot
from tests.crawling import PROJECT
from tests.monitoring.test_snapshot import FULL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Metric

EMPTY = Snapshot(2.0, 1.0)


class Crawls:
    def __init__(self, *crawls: tuple[str, Snapshot]) -> None:
        self._crawls = crawls

    def collect(self) -> Iterable[Metric]:
        return collect(self._crawls)


def written(*crawls: tuple[str, Snapshot]) -> str:
    registry = CollectorRegistry()
    registry.register(Crawls(*crawls))
    return generate_latest(registry).decode()


def samples(*crawls: tuple[str, Snapshot]) -> dict[tuple[str, frozenset[str]], float]:
    """Values by name and the values of the labels."""
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(written(*crawls))
        for sample in family.samples
    }


def test_every_metric_is_there_and_no_other() -> None:
    names = {
        family.name + "_total" if family.type == "counter" else family.name
        for family in text_string_to_metric_families(written(("x", FULL)))
    }
    assert names == METRIC_NAMES - {JOBS}


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("pages_total", ["fine"], 3),
        ("pages_total", ["refused"], 0),
        ("requests_total", [], 9),
        ("responses_total", ["2xx"], 5),
        ("responses_total", ["4xx"], 1),
        ("responses_total", ["5xx"], 0),
        ("response_bytes_total", [], 1234),
        ("robots_denied_total", [], 1),
        ("timeouts_total", [], 2),
        ("retries_total", [], 3),
        ("overloads_total", [], 4),
        ("duplicates_total", [], 5),
        ("links_total", [], 60),
        ("links_known_total", [], 50),
        ("cpu_seconds_total", [], 1.5),
        ("urls", ["done"], 5),
        ("skipped_urls", ["offsite"], 4),
        ("hosts", ["held"], 2),
        ("mean_host_delay_seconds", [], 0.25),
        ("longest_host_delay_seconds", [], 1.5),
        ("busiest_host_requests_per_second", [], 3.9),
        ("oldest_page_timestamp_seconds", [], 3),
        ("newest_page_timestamp_seconds", [], 19),
        ("resident_memory_bytes", [], 10**8),
        ("start_timestamp_seconds", [], 10),
        ("fetch_seconds_bucket", ["0.1"], 3),
        ("fetch_seconds_bucket", ["1.0"], 4),
        ("fetch_seconds_bucket", ["+Inf"], 5),
        ("fetch_seconds_count", [], 5),
        ("fetch_seconds_sum", [], 2.5),
    ],
)
def test_a_snapshot_is_told_by_these_numbers(name: str, labels: list[str], value: float) -> None:
    assert samples(("x", FULL))[f"crawlproject_{name}", frozenset(["x", *labels])] == value


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("100", "1xx"),
        ("304", "3xx"),
        ("599", "5xx"),
        ("999", "other"),
        ("099", "other"),
        ("20", "other"),
        ("2000", "other"),
        ("٢٠٠", "other"),
        ("2xx", "other"),
        ("", "other"),
    ],
)
def test_a_status_has_a_class(status: str, name: str) -> None:
    told = samples(("x", replace(EMPTY, responses={status: 7})))
    classes = {labels: value for (name, labels), value in told.items() if "responses" in name}
    assert classes[frozenset(["x", name])] == 7
    assert sum(classes.values()) == 7


def test_several_crawls_are_in_one_family_each() -> None:
    families = list(collect([("one", FULL), ("two", EMPTY)]))
    assert len({family.name for family in families}) == len(families)
    told = samples(("one", FULL), ("two", EMPTY))
    assert told["crawlproject_requests_total", frozenset(["one"])] == 9
    assert told["crawlproject_requests_total", frozenset(["two"])] == 0


def test_what_is_not_known_yet_is_not_told() -> None:
    told = {name for name, _ in samples(("x", EMPTY))}
    assert "crawlproject_oldest_page_timestamp_seconds" not in told
    assert "crawlproject_start_timestamp_seconds" in told


def test_there_may_be_no_crawl() -> None:
    assert samples() == {}


def test_reasons_are_a_bounded_number_of_labels() -> None:
    skipped = {f"a rule of mine {number}": 1 for number in range(1000)}
    told = samples(("x", replace(EMPTY, skipped=skipped)))
    reasons = {labels: value for (name, labels), value in told.items() if "skipped" in name}
    assert len(reasons) == 50
    assert reasons[frozenset(["x", "other"])] == 951


def test_words_of_any_kind_are_written_and_read_again() -> None:
    words = {'quote " back \\ line \n end': 1, "😀 {}=,": 2, "\x1b[31m\x00": 3}
    told = samples(("x", replace(EMPTY, skipped=words)))
    for word, count in words.items():
        assert told["crawlproject_skipped_urls", frozenset(["x", word])] == count


def test_no_label_has_a_url() -> None:
    told = samples(("x", FULL))
    assert not any("://" in value for _, labels in told for value in labels)
    assert FULL.latest_pages


def test_open_metrics_are_well_formed_too() -> None:
    registry = CollectorRegistry()
    registry.register(Crawls(("one", FULL), ("two", EMPTY)))
    # Neither of the two has types.
    write: Any = openmetrics.generate_latest
    read: Any = openmetrics_families
    assert len(list(read(write(registry).decode()))) == len(METRIC_NAMES - {JOBS})


def test_a_histogram_of_another_version_has_its_own_bounds() -> None:
    told = samples(("x", replace(EMPTY, fetch_seconds=FetchSeconds([], [4], 1.0))))
    assert told["crawlproject_fetch_seconds_bucket", frozenset(["x", "+Inf"])] == 4


@pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason=os.environ.get("PROMETHEUS_MISSING") or "no promtool: apt-get install prometheus",
)
@pytest.mark.parametrize("crawls", [[], [("x", FULL)], [("one", FULL), ("two", EMPTY)]])
def test_promtool_has_nothing_to_say(crawls: list[tuple[str, Snapshot]]) -> None:
    check = subprocess.run(
        ["promtool", "check", "metrics"],
        input=written(*crawls),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (check.returncode, check.stdout + check.stderr) == (0, "")


def test_nobody_loads_the_client_who_wants_no_metrics() -> None:
    loaded = (
        "import sys, crawlproject.monitoring.metrics_server, crawlproject.commands.crawl; "
        "sys.exit('prometheus_client' in sys.modules)"
    )
    command = [sys.executable, "-c", loaded]
    assert subprocess.run(command, cwd=PROJECT, check=False).returncode == 0
