"""scrapyd's queue of jobs, with every order in the book first; and its poller, which goes on
whatever happens to a queue.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from scrapyd.poller import QueuePoller
from scrapyd.spiderqueue import SqliteSpiderQueue
from twisted.internet.defer import maybeDeferred, succeed
from twisted.logger import Logger

from crawlproject.redaction import redacted
from crawlproject.service.book import Status, book_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapyd.config import Config
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    Message = dict[str, Any]

log = Logger()


class BookedQueue(SqliteSpiderQueue):
    """``spiderqueue`` in ``scrapyd.conf``."""

    def __init__(self, config: Config, project: str, table: str = "spider_queue") -> None:
        super().__init__(config, project, table)
        self._book = book_of(config)
        self._project = project

    def add(self, name: str, priority: float = 0.0, **spider_args: Any) -> None:
        known = self._book.find(spider_args["_job"], self._project)
        job = self._book.order(
            spider_args["_job"],
            self._project,
            name,
            spider_args,
            priority=priority,
            now=time.time(),
        )
        try:
            self.add_again(name, priority, spider_args)
        except BaseException:
            # Who ordered it is told that it was not taken.
            with suppress(sqlite3.Error):
                if known is None:
                    self._book.remove(job)
                else:
                    job.status, job.ended_at = Status.STOPPED, time.time()
                    self._book.write(job)
            raise

    def add_again(self, name: str, priority: float, message: Message) -> None:
        """Queue a job that is in the book. Its secrets are there only: scrapyd shows the queue."""
        super().add(name, priority=priority, **redacted(message))

    def remove(self, func: Callable[[Message], bool]) -> int:
        for message in self.list():
            job = self._book.find(message["_job"], self._project) if func(message) else None
            # One that has run before is as it was then: its results are there.
            if job is not None:
                job.status, job.ended_at = Status.STOPPED, time.time()
                self._book.write(job)
        removed: int = super().remove(func)
        return removed


class SturdyPoller(QueuePoller):
    """``poller`` in ``scrapyd.conf``. One look that fails would be scrapyd's last."""

    _pauses = 0

    def poll(self) -> Deferred[Any]:
        if self._pauses:
            return succeed(None)
        return maybeDeferred(super().poll).addErrback(self._note)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside this context no job starts."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    def _note(self, failure: Failure) -> None:
        log.error("The queue can't be read: {problem}", problem=failure.getErrorMessage())
