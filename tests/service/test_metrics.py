"""``/metrics``: all jobs that run, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from crawlproject.monitoring.metrics import METRIC_NAMES
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.service.serving import Service
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

ENDLESS = {"pages": {f"/{n}" if n else "/": {"links": [f"/{n + 1}"]} for n in range(3000)}}


def samples(service: Service) -> dict[tuple[str, str | None, str | None], float]:
    """Values by the name of a sample, its crawl, and what else it is told apart by."""
    found = {}
    reply = service.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=")
    for family in text_string_to_metric_families(reply.content.decode()):
        for sample in family.samples:
            labels = dict(sample.labels)
            crawl = labels.pop("crawl", None)
            found[sample.name, crawl, next(iter(labels.values()), None)] = sample.value
    return found


def test_every_job_that_runs_has_its_metrics(service: Service, site: SiteFactory) -> None:
    server = site(ENDLESS)
    jobs = [service.order(server.url(path), delay=0.05, depth="none") for path in ("/", "/1000")]
    try:
        for job in jobs:
            wait_for(lambda job=job: service.job(job)["pages"] > 2)  # type: ignore[misc]
        values = samples(service)
        for job in jobs:
            assert values["crawlproject_pages_total", job, "fine"] > 2
            assert values["crawlproject_responses_total", job, "2xx"] > 2
            assert values["crawlproject_urls", job, "done"] > 2
            assert values["crawlproject_resident_memory_bytes", job, None] > 10**7
            assert values["crawlproject_fetch_seconds_count", job, None] > 2
        assert values["crawlproject_jobs", None, "running"] >= 2
        # The service's own.
        assert values["process_resident_memory_bytes", None, None] > 10**7
        told = {name.removesuffix("_count") for name, _, _ in values}
        assert told >= METRIC_NAMES - {"crawlproject_skipped_urls"}
    finally:
        service.post("/crawler/stop", {"kill": True})
    for job in jobs:
        service.until_ended(job)
    # One that has ended has none: its last values are not of now.
    assert not {crawl for _, crawl, _ in samples(service)} & set(jobs)


def test_whatever_is_asked_of_the_metrics_is_answered(service: Service) -> None:
    odd = service.get("/metrics", Accept="application/openmetrics-text; version=banana")
    assert odd.status == 200
    assert service.ask("POST", "/metrics").status == 405
    assert service.get("/metrics/more").status == 404
