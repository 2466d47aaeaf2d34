"""scrapyd's launcher, with what a job needs to be watched, to go on, and to be told of.

- Every job has a crawl directory, a snapshot and outputs there (``layout.py``), and may not crawl
  this network, unless that is allowed.
- How it ended is written in the book.
- What was open when the service ended, however that was, goes on when it starts again.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections import deque
from datetime import datetime
from typing import TYPE_CHECKING, Any

from scrapyd.exceptions import ScrapydError
from scrapyd.interfaces import IEnvironment, IPoller
from scrapyd.launcher import Launcher, ScrapyProcessProtocol, get_crawl_args
from twisted.internet import defer, threads
from twisted.internet import reactor as twisted_reactor
from twisted.internet.error import ProcessExitedAlready
from twisted.logger import Logger

from crawlproject.frontier.database import holder
from crawlproject.monitoring.snapshot import read_snapshot
from crawlproject.service.book import Status, book_of
from crawlproject.service.layout import SNAPSHOT, crawl_directory, feeds, log_file
from crawlproject.service.options import options_from

if TYPE_CHECKING:
    from pathlib import Path

    from scrapyd.config import Config
    from twisted.application.service import MultiService
    from twisted.python.failure import Failure

    from crawlproject.service.book import Job

log = Logger()
# To the type checker it is a module.
reactor: Any = twisted_reactor

# What a job is not to know.
_SECRETS = ("SCRAPYD_USERNAME", "SCRAPYD_PASSWORD")
# Seconds between two looks whether a crawl directory is free, and in which jobs may end
# before the service does: Docker gives ten.
_BREAK, _GRACE = 0.5, 8.0
# Scrapy's words for an end that was asked for.
_ASKED_FOR = ("shutdown", "stopped")
_CUT_SHORT = 130
# How a process ends that was asked to before it could hear of it.
_BEFORE_THE_BEGINNING = (-signal.SIGINT, _CUT_SHORT)


class Process(ScrapyProcessProtocol):
    """A job that runs. What it says last tells why it failed."""

    exit_status: int | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._said: deque[str] = deque(maxlen=5)

    @property
    def last_words(self) -> str | None:
        return self._said[-1] if self._said else None

    def errReceived(self, data: bytes) -> None:
        lines = data.decode("utf-8", "replace").splitlines()
        self._said += [line.strip() for line in lines if line.strip()]
        super().errReceived(data)

    def processEnded(self, status: Failure) -> None:
        number = getattr(status.value, "signal", None)
        self.exit_status = -number if number else getattr(status.value, "exitCode", 0)
        super().processEnded(status)


class GoingOnLauncher(Launcher):
    """``launcher`` in ``scrapyd.conf``."""

    processes: dict[int, Process]

    def __init__(self, config: Config, app: MultiService) -> None:
        super().__init__(config, app)
        self._config = config
        self._options = options_from(config)
        self.book = book_of(config)
        self._is_ending = False

    def startService(self) -> None:
        super().startService()
        self._queue_what_is_open()

    def stopService(self) -> defer.Deferred[Any] | None:
        """Have all jobs end in peace. In the book they stay open: they go on the next time."""
        self._is_ending = True
        ends = [process.deferred for process in self.processes.values()]
        for process in self.processes.values():
            self._signal(process, "INT")
        if not ends:
            return None
        ended: defer.Deferred[None] = defer.Deferred()

        def end(_: Any = None) -> None:
            if not ended.called:
                ended.callback(None)

        defer.DeferredList(ends).addCallback(end)
        reactor.callLater(_GRACE, end)
        return ended

    def stop(self, job: Job, *, kill: bool = False) -> bool:
        """Have a job end, that waits or runs. Whether there was one."""
        queue = self.app.getComponent(IPoller).queues.get(job.project)
        if queue is not None and queue.remove(lambda message: message["_job"] == job.id):
            return True
        for process in self.processes.values():
            if (process.project, process.job) == (job.project, job.id):
                # A second SIGINT would end it without its outputs.
                if kill or job.status is not Status.STOPPING:
                    job.status = Status.STOPPING
                    self.book.write(job)
                    self._signal(process, "KILL" if kill else "INT")
                return True
        if job.status is Status.QUEUED:
            # It waits for its crawl directory.
            job.status, job.ended_at = Status.STOPPED, time.time()
            self.book.write(job)
        return not job.is_open

    def remove(self, job: Job) -> None:
        """Forget a job that has ended, and all it has found."""
        self.book.remove(job)
        log_of_it = log_file(self._config, job.project, job.spider, job.id)
        threads.deferToThread(_delete, self._folder(job), log_of_it)

    def _signal(self, process: Process, name: str) -> None:
        try:
            process.transport.signalProcess(name)
        except ProcessExitedAlready:
            log.debug("Job {job} has ended already", job=process.job)

    def _queue_what_is_open(self) -> None:
        queues = self.app.getComponent(IPoller).queues
        waiting = {
            (message["_job"], project)
            for project, queue in queues.items()
            for message in queue.list()
        }
        for job in list(self.book.open.values()):
            if (job.id, job.project) in waiting or job.project not in queues:
                continue
            is_stopped = job.status is Status.STOPPING
            job.status = Status.STOPPED if is_stopped else Status.QUEUED
            self.book.write(job)
            if not is_stopped:
                log.info("Job {job} goes on", job=job.id)
                queues[job.project].add_again(job.spider, job.priority, job.message)

    # --- the life of a process

    def _spawn_process(self, message: dict[str, Any], slot: int) -> None:
        """Start a job, as soon as its crawl directory is free. A slot is never lost."""
        if self._is_ending:
            return
        job = self.book.find(message["_job"], message["_project"])
        try:
            if job is None or job.status is not Status.QUEUED:
                # It was stopped while it waited here.
                self._get_message(slot)
            elif holder(self._folder(job)) is not None:
                # Of a service that was killed: it ends by itself.
                reactor.callLater(_BREAK, self._spawn_process, message, slot)
            else:
                self._start(job, message, slot)
        except (OSError, ValueError, ScrapydError) as error:
            log.error("Job {job} can't be started: {error}", job=message["_job"], error=error)
            if job is not None:
                job.status, job.ended_at = Status.FAILED, time.time()
                job.problem = f"it can't be started: {error}"
                self.book.write(job)
            self._get_message(slot)

    def _start(self, job: Job, message: dict[str, Any], slot: int) -> None:
        folder = self._folder(job)
        environment = self.app.getComponent(IEnvironment)
        settings = self._defaults(folder) | message.get("settings", {})
        settings |= environment.get_settings(message) | self._fixed(folder)
        env = environment.get_environment(message, slot)
        env = {name: value for name, value in env.items() if name not in _SECRETS}
        env["CRAWLPROJECT_SERVICE_PID"] = str(os.getpid())
        arguments = get_crawl_args({**message, "settings": settings})
        command = [sys.executable, "-m", self.runner, "crawl", *arguments]
        process = Process(job.project, job.spider, job.id, env, command)
        process.deferred.addBoth(self._process_finished, slot)
        reactor.spawnProcess(process, sys.executable, args=command, env=env)
        self.processes[slot] = process
        job.status, job.started_at, job.ended_at = Status.RUNNING, time.time(), None
        job.runs += 1
        self.book.write(job)

    def _folder(self, job: Job) -> Path:
        return crawl_directory(self._config, job.project, job.spider, job.id)

    def _defaults(self, folder: Path) -> dict[str, str]:
        """Settings that an order may change."""
        return {
            "FEEDS": feeds(folder, ["json"]),
            "STORE_BODIES": str(self._options.store_bodies),
            # Else the log of a crawl in which nothing went wrong is empty.
            "LOG_LEVEL": "INFO",
        }

    def _fixed(self, folder: Path) -> dict[str, str]:
        """Settings that it may not."""
        return {
            "MONITORING_SNAPSHOT_FILE": str((folder / SNAPSHOT).absolute()),
            # Its log has all of it.
            "MONITORING_SUMMARY": "False",
            "MONITORING_PROGRESS": "False",
            "SCOPE_INTERNAL_SEEDS": str(self._options.allow_internal),
        }

    def _process_finished(self, _: Any, slot: int) -> None:
        process = self.processes.pop(slot)
        process.end_time = datetime.now()
        self.finished.add(process)
        job = self.book.find(process.job, process.project)
        if job is not None and not (self._is_ending and job.status is Status.RUNNING):
            self._close(job, process)
            for old in self.book.ended_beyond(self._options.keep_jobs):
                self.remove(old)
        if not self._is_ending:
            self._get_message(slot)
            # The next one need not wait for the poller's next look.
            self.app.getComponent(IPoller).poll()

    def _close(self, job: Job, process: Process) -> None:
        job.exit_status = process.exit_status
        job.ended_at = time.time()
        snapshot = read_snapshot(self._folder(job) / SNAPSHOT)
        reason = None if snapshot is None else snapshot.reason
        if job.status is Status.STOPPING and job.exit_status in _BEFORE_THE_BEGINNING:
            job.status = Status.STOPPED
        elif not job.exit_status:
            was_asked = job.status is Status.STOPPING if reason is None else reason in _ASKED_FOR
            job.status = Status.STOPPED if was_asked else Status.FINISHED
        elif job.exit_status < 0 or job.exit_status == _CUT_SHORT:
            job.status = Status.KILLED
        else:
            job.status = Status.FAILED
            job.problem = process.last_words or f"it ended with exit status {job.exit_status}"
        self.book.write(job)


def _delete(folder: Path, log_of_it: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    log_of_it.unlink(missing_ok=True)
