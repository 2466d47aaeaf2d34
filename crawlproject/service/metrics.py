"""``/metrics``: all jobs that run, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily

from crawlproject.monitoring.metrics import JOBS, collect
from crawlproject.monitoring.metrics_site import MetricsPage
from crawlproject.service.totals import jobs, snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from crawlproject.service.site import Root
    from crawlproject.service.view import View


class Jobs:
    """A collector of prometheus_client's."""

    def __init__(self, view: View) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        yield from collect(snapshots(self._view))
        by_status = GaugeMetricFamily(JOBS, "Jobs that wait, and that run.", labels=["status"])
        for status, number in jobs(self._view).items():
            by_status.add_metric([status], number)
        yield by_status

    def describe(self) -> list[Any]:
        # Without it, all would be collected to find out their names.
        return []


class Metrics(MetricsPage):
    def __init__(self, root: Root) -> None:
        registry = CollectorRegistry()
        registry.register(Jobs(root.view))
        # Of the service itself.
        ProcessCollector(registry=registry)
        super().__init__(registry)
