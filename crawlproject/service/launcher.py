"""scrapyd's launcher, with what a job needs to be watched, to go on, and to be told of.

- Every job has a crawl directory, a snapshot, outputs and a log (``layout.py``), and may not crawl
  this network, unless that is allowed.
- How it ended is written in the book.
- What was open when the service ended, however that was, goes on when it starts again.
- A slot is never lost, whatever fails.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
import time
import uuid
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from scrapyd.exceptions import ScrapydError
from scrapyd.interfaces import IEnvironment, IPoller
from scrapyd.launcher import Launcher, get_crawl_args
from twisted.internet import defer, threads
from twisted.internet import reactor as twisted_reactor
from twisted.logger import Logger

from crawlproject.frontier.database import holder
from crawlproject.monitoring.snapshot import read_snapshot
from crawlproject.private_files import make_private
from crawlproject.redaction import Redactor
from crawlproject.service import OPTIONS_ON_STDIN, SERVICE_PID
from crawlproject.service.book import Status, book_of
from crawlproject.service.job_settings import settings_of
from crawlproject.service.layout import SNAPSHOT, crawl_directory, log_file, removed_folder
from crawlproject.service.options import options_from
from crawlproject.service.outcome import outcome
from crawlproject.service.process import Process, without_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from scrapyd.config import Config
    from twisted.application.service import MultiService

    from crawlproject.service.book import Job

log = Logger()
# To the type checker it is a module.
reactor: Any = twisted_reactor

# Seconds in which jobs may end before the service does: Docker gives ten.
_GRACE = 8.0
# Seconds between two looks whether a crawl directory is free, and until a process that a service
# which was killed has left there is killed, too: nothing is lost by it.
_BREAK, _PATIENCE = 0.5, 60.0
# … until the end of a job is written that could not be.
_AGAIN = 5.0
# What a full disk or a damaged file brings.
_TROUBLE = (OSError, ValueError, sqlite3.Error, ScrapydError)


class GoingOnLauncher(Launcher):
    """``launcher`` in ``scrapyd.conf``."""

    processes: dict[int, Process]

    def __init__(self, config: Config, app: MultiService) -> None:
        super().__init__(config, app)
        self._config = config
        self._options = options_from(config)
        self.book = book_of(config)
        self._is_ending = False
        # Since when jobs wait for their crawl directory, by their numbers.
        self._waiting: dict[int, float] = {}

    def startService(self) -> None:
        super().startService()
        self._queue_what_is_open()
        threads.deferToThread(
            shutil.rmtree, removed_folder(self._config), ignore_errors=True
        ).addErrback(lambda _: None)

    def stopService(self) -> defer.Deferred[Any] | None:
        """Have all jobs end in peace. In the book they stay open: they go on the next time."""
        self._is_ending = True
        ends = [process.deferred for process in self.processes.values()]
        for process in self.processes.values():
            process.ask_to_end()
        if not ends:
            return None
        ended: defer.Deferred[None] = defer.Deferred()

        def end(_: Any = None) -> None:
            if not ended.called:
                ended.callback(None)

        defer.DeferredList(ends).addCallback(end)
        reactor.callLater(_GRACE, end)
        return ended

    # --- what is asked of jobs

    def stop(self, job: Job, *, kill: bool = False) -> bool:
        """Have a job end, that waits or runs. Whether there was one."""
        queue = self._queues.get(job.project)
        if queue is not None and queue.remove(lambda message: message["_job"] == job.id):
            return True
        if (process := self.process_of(job)) is not None:
            job.status = Status.STOPPING
            self.book.write(job)
            if kill:
                process.signal("KILL")
            else:
                process.ask_to_end()
            return True
        if job.status is Status.QUEUED:
            # It waits for its crawl directory, in which somebody may have got stuck.
            if kill:
                self._kill_holder(job)
            self._end(job, Status.STOPPED)
            return True
        return False

    def process_of(self, job: Job) -> Process | None:
        for process in self.processes.values():
            if (process.project, process.job) == (job.project, job.id):
                return process
        return None

    def is_held(self, job: Job) -> bool:
        """Whether a process is still at a job that has ended."""
        return holder(self._folder(job)) is not None

    def remove(self, job: Job) -> None:
        """Forget a job that has ended, and all it has found. Raises OSError."""
        folder, place = self._folder(job), removed_folder(self._config)
        make_private(place)
        # At once out of the way: to delete it may take long, and a new job may have its name.
        target = place / uuid.uuid4().hex
        with suppress(FileNotFoundError):
            folder.rename(target)
        log_file(self._config, job.project, job.spider, job.id).unlink(missing_ok=True)
        self.book.remove(job)
        threads.deferToThread(shutil.rmtree, target, ignore_errors=True)

    def close_homeless(self) -> None:
        """End what waits, and whose project is gone."""
        for job in list(self.book.open.values()):
            if job.project not in self._queues and self.process_of(job) is None:
                self._end(job, Status.STOPPED, f"there is no project {job.project!r} any more")

    # --- the life of a process

    @property
    def _queues(self) -> dict[str, Any]:
        queues: dict[str, Any] = self.app.getComponent(IPoller).queues
        return queues

    def _queue_what_is_open(self) -> None:
        waiting = {
            (message["_job"], project)
            for project, queue in self._queues.items()
            for message in queue.list()
        }
        self.close_homeless()
        for job in list(self.book.open.values()):
            if (job.id, job.project) in waiting:
                continue
            if job.status is Status.STOPPING:
                self._end(job, Status.STOPPED)
                continue
            log.info("Job {job} goes on", job=job.id)
            job.status = Status.QUEUED
            self.book.write(job)
            self._queues[job.project].add_again(job.spider, job.priority, job.message)

    def _spawn_process(self, message: dict[str, Any], slot: int) -> None:
        if self._is_ending:
            return
        job = self.book.find(message["_job"], message["_project"])
        is_started = False
        try:
            # It may have been stopped on its way here.
            if job is not None and job.status is Status.QUEUED:
                is_started = self._start_or_wait(job, slot)
        except _TROUBLE as error:
            log.error("Job {job} can't be started: {error}", job=message["_job"], error=str(error))
            if job is not None:
                self._end(job, Status.FAILED, f"it can't be started: {error}")
        finally:
            if not is_started:
                self._get_message(slot)

    def _start_or_wait(self, job: Job, slot: int) -> bool:
        """Start a job, if its crawl directory is free. Whether it has the slot."""
        if holder(self._folder(job)) is None:
            self._waiting.pop(job.number, None)
            self._start(job, slot)
            return True
        # Of a service that was killed: it ends by itself, as a rule.
        since = self._waiting.setdefault(job.number, time.monotonic())
        if time.monotonic() - since > _PATIENCE:
            log.info("Job {job} is still at work, and is killed to go on", job=job.id)
            self._kill_holder(job)
        reactor.callLater(_BREAK, self._queue_again, job)
        return False

    def _kill_holder(self, job: Job) -> None:
        """Nothing is lost by it."""
        process = holder(self._folder(job))
        if process is not None:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def _queue_again(self, job: Job) -> None:
        queue = self._queues.get(job.project)
        if job.status is Status.QUEUED and queue is not None and not self._is_ending:
            queue.add_again(job.spider, job.priority, job.message)
            self.app.getComponent(IPoller).poll()

    def _start(self, job: Job, slot: int) -> None:
        log_of_it = log_file(self._config, job.project, job.spider, job.id)
        make_private(log_of_it.parent)
        # From the book: the queue, which others are shown, has no secrets.
        message = {**job.message, "_project": job.project, "_spider": job.spider}
        ordered = message.get("settings", {})
        settings = settings_of(ordered, self._folder(job), log_of_it, self._options)
        env = self.app.getComponent(IEnvironment).get_environment(message, slot)
        env = without_secrets(env) | {SERVICE_PID: str(os.getpid()), OPTIONS_ON_STDIN: "1"}
        spider, *options = get_crawl_args({**message, "settings": settings})
        # Everybody can read a command line: it has nothing but names.
        command = [sys.executable, "-m", self.runner, "crawl", spider, "-a", f"_job={job.id}"]
        secrets = Redactor()
        secrets.learn(env, message, settings)
        process = Process(job.project, job.spider, job.id, env, command)
        process.tell(json.dumps(options), secrets)
        # In the book first: a job that runs, and is not there, would not go on.
        job.status, job.started_at, job.ended_at = Status.RUNNING, time.time(), None
        job.runs += 1
        self.book.write(job)
        process.deferred.addBoth(self._process_finished, slot)
        self.processes[slot] = process
        try:
            reactor.spawnProcess(process, sys.executable, args=command, env=env)
        except BaseException:
            del self.processes[slot]
            raise

    def _process_finished(self, _: Any, slot: int) -> None:
        process = self.processes.pop(slot)
        process.end_time = datetime.now()
        self._note_end(process)
        if not self._is_ending:
            self._get_message(slot)
            # The next one need not wait for the poller's next look.
            self.app.getComponent(IPoller).poll()

    def _note_end(self, process: Process) -> None:
        try:
            job = self.book.find(process.job, process.project)
            if job is not None and not (self._is_ending and job.status is Status.RUNNING):
                self._close(job, process)
            self.finished.add(process)
            for old in self.book.ended_beyond(self._options.keep_jobs):
                if not self.is_held(old):
                    self.remove(old)
        except _TROUBLE as error:
            log.error(
                "The end of job {job} is not noted yet: {error}", job=process.job, error=error
            )
            reactor.callLater(_AGAIN, self._note_end, process)

    def _close(self, job: Job, process: Process) -> None:
        snapshot = read_snapshot(self._folder(job) / SNAPSHOT)
        # One of an earlier run tells nothing of this one.
        is_its_own = snapshot is not None and snapshot.at >= (job.started_at or 0.0)
        status = outcome(
            process.exit_status or 0,
            was_asked=job.status is Status.STOPPING or process.was_asked_to_end,
            reason=snapshot.reason if snapshot is not None and is_its_own else None,
        )
        problem = None
        if status is Status.FAILED:
            problem = process.last_words or f"it ended with exit status {process.exit_status}"
        job.exit_status = process.exit_status
        self._end(job, status, problem)

    def _end(self, job: Job, status: Status, problem: str | None = None) -> None:
        job.status, job.problem, job.ended_at = status, problem, time.time()
        self._waiting.pop(job.number, None)
        self.book.write(job)

    def _folder(self, job: Job) -> Path:
        return crawl_directory(self._config, job.project, job.spider, job.id)
