"""Snapshots as Prometheus has them: the same names for one crawl and for all of a service.

The label ``crawl`` says which one it is. No label has a value that a site can choose, so the
number of time series has a bound: skipped URLs are counted by at most 50 reasons, responses by
the class of their status.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from crawlproject.monitoring.snapshot import bounded
from crawlproject.monitoring.tally import OTHER, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client import Metric

    from crawlproject.monitoring.snapshot import Snapshot

    # Values by the label that tells them apart, or one value; None: there is none.
    Values = dict[str, int] | float | None

_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx", OTHER)
_URL_STATES = ("queued", "leased", "done", "failed", "skipped")
_HOST_STATES = ("ready", "waiting", "held", "idle")

# Name, help, the label besides ``crawl``, and what is told of a snapshot.
_Told = tuple[str, str, str | None, "Callable[[Snapshot], Values]"]

_COUNTERS: tuple[_Told, ...] = (
    (
        "crawlproject_pages_total",
        "Pages of this run by how they turned out.",
        "outcome",
        lambda shot: _of(shot.outcomes, OUTCOMES),
    ),
    (
        "crawlproject_requests_total",
        "Requests sent, those for robots.txt and retries among them.",
        None,
        lambda shot: shot.requests,
    ),
    (
        "crawlproject_responses_total",
        "Answers by the class of their status.",
        "class",
        lambda shot: _by_class(shot.responses),
    ),
    (
        "crawlproject_response_bytes_total",
        "Bytes of bodies, as they were sent.",
        None,
        lambda shot: shot.bytes,
    ),
    (
        "crawlproject_robots_denied_total",
        "URLs that robots.txt denied.",
        None,
        lambda shot: shot.robots_denied,
    ),
    (
        "crawlproject_timeouts_total",
        "Requests that had no complete answer in time.",
        None,
        lambda shot: shot.timeouts,
    ),
    (
        "crawlproject_retries_total",
        "Requests that were tried again.",
        None,
        lambda shot: shot.retries,
    ),
    (
        "crawlproject_overloads_total",
        "Times that a host was left alone because it answered 429 or 503.",
        None,
        lambda shot: shot.overloads,
    ),
    (
        "crawlproject_duplicates_total",
        "Pages whose body came before in this run, about.",
        None,
        lambda shot: shot.duplicates,
    ),
    ("crawlproject_links_total", "Links found on pages.", None, lambda shot: shot.links),
    (
        "crawlproject_links_known_total",
        "Links found on pages to URLs that were known.",
        None,
        lambda shot: shot.links_known,
    ),
    (
        "crawlproject_cpu_seconds_total",
        "Processor time of the crawl's process, user and system.",
        None,
        lambda shot: shot.cpu_seconds,
    ),
)

_GAUGES: tuple[_Told, ...] = (
    (
        "crawlproject_urls",
        "Known URLs by their state, of all runs.",
        "state",
        lambda shot: _of(shot.urls, _URL_STATES),
    ),
    (
        "crawlproject_skipped_urls",
        "Skipped URLs by the reason, of all runs.",
        "reason",
        lambda shot: bounded(shot.skipped),
    ),
    (
        "crawlproject_hosts",
        "Hosts by what may be done with them now.",
        "state",
        lambda shot: {state: getattr(shot.hosts, state) for state in _HOST_STATES},
    ),
    (
        "crawlproject_mean_host_delay_seconds",
        "Mean time that is left between two requests to a host.",
        None,
        lambda shot: shot.hosts.mean_delay,
    ),
    (
        "crawlproject_longest_host_delay_seconds",
        "Longest time that is left between two requests to a host.",
        None,
        lambda shot: shot.hosts.longest_delay,
    ),
    (
        "crawlproject_busiest_host_requests_per_second",
        "Requests a second to the host that got most of them lately.",
        None,
        lambda shot: shot.hosts.busiest_per_second,
    ),
    (
        "crawlproject_oldest_page_timestamp_seconds",
        "When the first page was fetched, in all runs.",
        None,
        lambda shot: shot.oldest_page_at,
    ),
    (
        "crawlproject_newest_page_timestamp_seconds",
        "When the latest page was fetched.",
        None,
        lambda shot: shot.newest_page_at,
    ),
    (
        "crawlproject_resident_memory_bytes",
        "Memory of the crawl's process.",
        None,
        lambda shot: shot.memory_bytes,
    ),
    (
        "crawlproject_start_timestamp_seconds",
        "When this run began.",
        None,
        lambda shot: shot.started_at,
    ),
)
_FETCHES = "crawlproject_fetch_seconds"
# Of a service: how many jobs are in which state. It has them, and no snapshot does.
JOBS = "crawlproject_jobs"

METRIC_NAMES = frozenset({*(told[0] for told in (*_COUNTERS, *_GAUGES)), _FETCHES, JOBS})


def collect(snapshots: Iterable[tuple[str, Snapshot]]) -> Iterator[Metric]:
    """The metrics of several crawls, each with its name: one family of each, for all of them."""
    crawls = list(snapshots)
    for families, family in ((_COUNTERS, CounterMetricFamily), (_GAUGES, GaugeMetricFamily)):
        for name, text, label, tell in families:
            labels = ["crawl"] if label is None else ["crawl", label]
            metric = family(name, text, labels=labels)
            for crawl, snapshot in crawls:
                _add(metric, crawl, tell(snapshot))
            yield metric
    fetches = HistogramMetricFamily(
        _FETCHES, "Time from a request to its answer.", labels=["crawl"]
    )
    for crawl, snapshot in crawls:
        took = snapshot.fetch_seconds
        bounds = [*map(str, took.bounds), "+Inf"]
        fetches.add_metric(
            [crawl], list(zip(bounds, accumulate(took.counts), strict=True)), took.sum
        )
    yield fetches


def _add(metric: Any, crawl: str, values: Values) -> None:
    if isinstance(values, dict):
        for label, value in values.items():
            metric.add_metric([crawl, label], value)
    elif values is not None:
        metric.add_metric([crawl], values)


def _of(counts: dict[str, int], words: Iterable[str]) -> dict[str, int]:
    """Each of the words, also those that nothing was counted for, and no other."""
    return {word: counts.get(word, 0) for word in words}


def _by_class(responses: dict[str, int]) -> dict[str, int]:
    classes: Counter[str] = Counter()
    for status, count in responses.items():
        name = f"{status[:1]}xx"
        is_known = len(status) == 3 and status.isascii() and status.isdigit() and name in _CLASSES
        classes[name if is_known else OTHER] += count
    return _of(classes, _CLASSES)
