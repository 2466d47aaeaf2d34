"""How a supervisor and its workers differ from a crawl: in their settings, and at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from crawlproject import settings as ours

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from scrapy import Spider
    from scrapy.settings import BaseSettings

_BODIES = "bodies"

# What the supervisor has in place of a crawl's own.
_EXCHANGED = {
    "crawlproject.monitoring.progress.Progress": "crawlproject.cluster.showing.ClusterProgress",
    "crawlproject.monitoring.summary.Summary": "crawlproject.cluster.showing.ClusterSummary",
    "crawlproject.exports.feeds.Feeds": "crawlproject.cluster.outputs.ClusterFeeds",
    "crawlproject.monitoring.vitals.Vitals": "crawlproject.cluster.showing.ClusterVitals",
}
_ADDED = {"crawlproject.cluster.showing.NowAndThen": 210}


def without_start(spider: type[Spider]) -> type[Spider]:
    """The same spider, which begins nothing: workers do."""
    return type(spider.__name__, (spider,), {"start": _nothing, "__module__": spider.__module__})


async def _nothing(spider: Spider) -> AsyncIterator[Any]:
    return
    yield  # an asynchronous generator is what Scrapy expects


def share_bodies(settings: BaseSettings, folder: Path) -> None:
    """Have the workers' bodies in one place, in a folder unless the user has named one."""
    if settings.getbool("STORE_BODIES") and settings["STORE_URI"] is None:
        settings.set("STORE_URI", str(folder.absolute() / _BODIES), priority="cmdline")


def supervise(settings: BaseSettings, redis_url: str) -> None:
    """Make the settings of a crawl those of a supervisor."""

    def change(name: str, value: object) -> None:
        settings.set(name, value, priority="cmdline")

    extensions = settings.getdict("EXTENSIONS")
    for theirs, own in _EXCHANGED.items():
        order = ours.EXTENSIONS[theirs]
        for key in [key for key in extensions if load_object(key) is load_object(theirs)]:
            order = extensions.pop(key)
        # Named, so that nobody puts it back.
        extensions[theirs] = None
        if order is not None:
            extensions[own] = order
    change("EXTENSIONS", {**extensions, **_ADDED})
    # Items pass the pipelines of the workers.
    pipelines = {**ours.ITEM_PIPELINES, **settings.getdict("ITEM_PIPELINES")}
    change("ITEM_PIPELINES", dict.fromkeys(pipelines))
    change("SCHEDULER", "crawlproject.cluster.overseer.Overseer")
    change("REDIS_URL", redis_url)


def worker_options(spider: str, options: argparse.Namespace, settings: BaseSettings) -> list[str]:
    """The command of a worker, by the options of the supervisor's."""
    return ["crawl", spider, *_options(options, settings)]


def _options(options: argparse.Namespace, settings: BaseSettings) -> Iterator[str]:
    for name, value in options.spargs.items():
        yield from ("-a", f"{name}={value}")
    for pair in options.set:
        if pair.partition("=")[0].strip() not in ("JOBDIR", "STORE_URI"):
            yield from ("-s", pair)
    for name in ("loglevel", "logfile"):
        if value := getattr(options, name):
            yield from (f"--{name}", value)
    if options.nolog:
        yield "--nolog"
    own: dict[str, object] = {
        "REDIS_URL": settings["REDIS_URL"],
        # The supervisor draws, writes, and forgets.
        "MONITORING_PROGRESS": False,
        "MONITORING_SUMMARY": False,
        # It also tells others how it goes, for all of them.
        "MONITORING_SNAPSHOT_FILE": "",
        "METRICS_PORT": 0,
        "FEEDS": "{}",
        "SCHEDULER_FLUSH_ON_START": False,
        "SCHEDULER_PERSIST": True,
    }
    if settings.getbool("STORE_BODIES"):
        own |= {"STORE_BODIES": True, "STORE_URI": settings["STORE_URI"]}
    for name, value in own.items():
        yield from ("-s", f"{name}={value}")
