"""A fleet in words: the workers of a shared crawl, and how they get on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.monitoring.ending import duration, plural, size

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKERS = ("worker", "URLs", "hosts", "")


def fleet_words(fleet: dict[str, Any]) -> Iterator[str]:
    """What is to be said beside the table of the workers."""
    if fleet["stop"]:
        yield f"They are to end: {fleet['stop']}."
    if fleet["inbox"]:
        yield f"{plural(fleet['inbox'], 'message')} of workers to be committed."
    if fleet["malformed"]:
        are = "was" if fleet["malformed"] == 1 else "were"
        yield (
            f"{plural(fleet['malformed'], 'value')} in Redis {are} not ours; "
            f"the last {fleet['aside']:,} are in 'aside'."
        )
    if fleet["redis_bytes"] is not None:
        yield f"This Redis uses {size(fleet['redis_bytes'])} in all."


def worker_rows(fleet: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (worker["name"], f"{worker['urls']:,}", f"{worker['hosts']:,}", _notes(worker, fleet))
        for worker in fleet["workers"]
    ]


def _notes(worker: dict[str, Any], fleet: dict[str, Any]) -> str:
    silent = worker["silent_seconds"]
    notes = [
        "commits" if worker["name"] == fleet["committer"] else "",
        "" if silent is None else f"heard {duration(silent)} ago",
        "" if worker["is_alive"] else "lost: what it had goes to others",
    ]
    return ", ".join(filter(None, notes))
