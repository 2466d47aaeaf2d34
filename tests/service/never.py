"""A service whose jobs wait for ever: what tests make up is not crawled."""

from __future__ import annotations

from typing import Any

from scrapyd.poller import QueuePoller
from twisted.internet.defer import Deferred, succeed


class NeverPoller(QueuePoller):  # type: ignore[misc]
    def poll(self) -> Deferred[Any]:
        return succeed(None)
