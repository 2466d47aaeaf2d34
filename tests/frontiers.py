"""Frontiers without a crawl."""

from __future__ import annotations

from typing import Any

from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.sqlite import SqliteFrontier


def memory_frontier(**options: Any) -> SqliteFrontier:
    """A frontier whose database is no file: opened in a tenth of the time."""
    options.setdefault("host_of", lambda url: "host")
    options.setdefault("limits", lambda host: HostLimits())
    return SqliteFrontier(connect_to_memory(), **options)
