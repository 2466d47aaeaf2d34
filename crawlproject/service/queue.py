"""scrapyd's queue of jobs, with every order in the book first."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapyd.spiderqueue import SqliteSpiderQueue

from crawlproject.service.book import Status, book_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapyd.config import Config

    Message = dict[str, Any]


class BookedQueue(SqliteSpiderQueue):
    """``spiderqueue`` in ``scrapyd.conf``."""

    def __init__(self, config: Config, project: str, table: str = "spider_queue") -> None:
        super().__init__(config, project, table)
        self._book = book_of(config)
        self._project = project

    def add(self, name: str, priority: float = 0.0, **spider_args: Any) -> None:
        self._book.order(
            spider_args["_job"],
            self._project,
            name,
            spider_args,
            priority=priority,
            now=time.time(),
        )
        self.add_again(name, priority, spider_args)

    def add_again(self, name: str, priority: float, message: Message) -> None:
        """Queue a job that is in the book."""
        super().add(name, priority=priority, **message)

    def remove(self, func: Callable[[Message], bool]) -> int:
        for message in self.list():
            job = self._book.find(message["_job"], self._project) if func(message) else None
            # One that has run before is as it was then: its results are there.
            if job is not None:
                job.status = Status.STOPPED
                job.ended_at = time.time()
                self._book.write(job)
        removed: int = super().remove(func)
        return removed
