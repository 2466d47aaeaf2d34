"""A scheduler that has nothing to fetch, for runs that only say or write something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler

if TYPE_CHECKING:
    from scrapy import Request


class NothingToFetch(BaseScheduler):
    def has_pending_requests(self) -> bool:
        return False

    def enqueue_request(self, request: Request) -> bool:
        return False

    def next_request(self) -> None:
        return None
