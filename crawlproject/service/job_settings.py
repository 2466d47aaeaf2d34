"""The settings of a job: what an order may change, and what it may not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.errors import BadArgument
from crawlproject.service.layout import SNAPSHOT, feeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlproject.service.options import Options


def settings_of(
    ordered: Mapping[str, str], folder: Path, log: Path, options: Options
) -> dict[str, str]:
    """Those of an order, completed. ``folder`` is the crawl directory, ``log`` the job's log."""
    # The workers of a shared crawl need a place for bodies that all of them can write.
    can_store = "REDIS_URL" not in ordered or "STORE_URI" in ordered
    defaults = _defaults(folder, store_bodies=options.store_bodies and can_store)
    return {**defaults, **ordered, **_fixed(folder, log, options)}


def check_changeable(names: Iterable[str], options: Options) -> None:
    """Raise BadArgument for a setting that would have no effect in an order."""
    fixed = _fixed(Path(), Path(), options)
    for name in names:
        if name in fixed:
            raise BadArgument(
                f"setting {name}",
                "the service sets it for each job, which has a crawl directory and a log of its "
                "own: an order with the same jobid goes on with it",
            )


def _defaults(folder: Path, *, store_bodies: bool) -> dict[str, str]:
    return {
        "FEEDS": feeds(folder, ["json"]),
        "STORE_BODIES": str(store_bodies),
        # Else the log of a crawl in which nothing went wrong is empty.
        "LOG_LEVEL": "INFO",
    }


def _fixed(folder: Path, log: Path, options: Options) -> dict[str, str]:
    inside = str(options.allow_internal)
    return {
        "JOBDIR": str(folder.absolute()),
        "LOG_FILE": str(log.absolute()),
        "MONITORING_SNAPSHOT_FILE": str((folder / SNAPSHOT).absolute()),
        # Its log has all of it, and the service the metrics of all.
        "MONITORING_SUMMARY": "False",
        "MONITORING_PROGRESS": "False",
        "METRICS_PORT": "0",
        "SCOPE_INTERNAL_SEEDS": inside,
        # A proxy looks up names itself.
        "HTTPPROXY_ENABLED": inside,
    }
