"""``/metrics``: all jobs that run, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from twisted.web.resource import Resource

from crawlproject.monitoring.metrics import collect
from crawlproject.service.totals import jobs, snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric
    from twisted.web.server import Request

    from crawlproject.service.site import Root
    from crawlproject.service.view import View


class Jobs:
    """A collector of prometheus_client's."""

    def __init__(self, view: View) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        yield from collect(snapshots(self._view))
        by_status = GaugeMetricFamily(
            "crawlproject_jobs", "Jobs that wait, and that run.", labels=["status"]
        )
        for status, number in jobs(self._view).items():
            by_status.add_metric([status], number)
        yield by_status

    def describe(self) -> list[Any]:
        # Without it, all would be collected to find out their names.
        return []


class Metrics(Resource):
    isLeaf = True

    def __init__(self, root: Root) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._registry.register(Jobs(root.view))
        # Of the service itself.
        ProcessCollector(registry=self._registry)

    def render_GET(self, request: Request) -> bytes:
        write, kind = choose_encoder(request.getHeader("accept") or "")
        request.setHeader("Content-Type", kind)
        content: bytes = write(self._registry)
        return content
