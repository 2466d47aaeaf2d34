"""The spiders of a project, found without blocking the service.

``scrapy list`` takes seconds: it imports the project. scrapyd runs it while nothing else is
served. Here it runs beside the service, once for each version of a project, and for no longer
than ``_MOST_SECONDS``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapyd.exceptions import RunnerError
from twisted.internet import error, protocol
from twisted.internet import reactor as twisted_reactor
from twisted.internet.defer import Deferred, DeferredLock

from crawlproject.service import SERVICE_PID
from crawlproject.service.process import without_secrets

if TYPE_CHECKING:
    from twisted.python.failure import Failure

# To the type checker it is a module.
reactor: Any = twisted_reactor

_MOST_SECONDS = 120.0
_MOST_BYTES = 1024 * 1024


class SpiderLists:
    """``versions(project)`` tells the deployed versions of a project, the latest last; ``runner``
    is the module that runs its commands.
    """

    def __init__(self, runner: str, versions: Any) -> None:
        self._runner = runner
        self._versions = versions
        self._known: dict[tuple[str, str | None], list[str]] = {}
        # Held while the versions of a project change, and while a list is being made.
        self.locks: defaultdict[str, DeferredLock] = defaultdict(DeferredLock)

    async def get(self, project: str, version: str | None = None) -> list[str]:
        """The names of the spiders; without a version, of the latest. Raises RunnerError."""
        async with self.locks[project]:
            key = (project, version or self._latest(project))
            if key not in self._known:
                self._known[key] = await self.make(*key)
            return self._known[key]

    async def make(self, project: str, version: str | None) -> list[str]:
        """The same, whatever is known; for who holds the lock."""
        environment = {
            **without_secrets(os.environ),
            "PYTHONIOENCODING": "UTF-8",
            "SCRAPY_PROJECT": project,
            # The process ends with the service.
            SERVICE_PID: str(os.getpid()),
        }
        if version:
            environment["SCRAPYD_EGG_VERSION"] = version
        command = [sys.executable, "-m", self._runner, "list", "-s", "LOG_STDOUT=0"]
        process = _Listing()
        reactor.spawnProcess(process, sys.executable, args=command, env=environment)
        lines = (await process.output).decode("utf-8", "replace").splitlines()
        # Where there are none, it writes an empty line.
        return [line for line in lines if line]

    def forget(self, project: str) -> None:
        """Of all versions: one of them has changed."""
        for key in [key for key in self._known if key[0] == project]:
            del self._known[key]

    def _latest(self, project: str) -> str | None:
        versions = self._versions(project)
        return versions[-1] if versions else None


class _Listing(protocol.ProcessProtocol):
    def __init__(self) -> None:
        self.output: Deferred[bytes] = Deferred()
        self._output = self._errors = b""
        self._problem: str | None = None

    def connectionMade(self) -> None:
        self._deadline = reactor.callLater(
            _MOST_SECONDS, self._end, f"scrapy list took longer than {_MOST_SECONDS:g} s"
        )

    def outReceived(self, data: bytes) -> None:
        self._output += data
        self._check_size()

    def errReceived(self, data: bytes) -> None:
        self._errors += data
        self._check_size()

    def _check_size(self) -> None:
        if len(self._output) + len(self._errors) > _MOST_BYTES and self._problem is None:
            self._end(f"scrapy list wrote more than {_MOST_BYTES:,} bytes")

    def processEnded(self, reason: Failure) -> None:
        if self._deadline.active():
            self._deadline.cancel()
        if self._problem is not None:
            return
        if reason.check(error.ProcessDone):
            self.output.callback(self._output)
            return
        said = (self._errors or self._output).decode("utf-8", "replace")
        self.output.errback(RunnerError(said or reason.getErrorMessage()))

    def _end(self, problem: str) -> None:
        """Without waiting for it: what it has started may keep its streams open for ever."""
        self._problem = problem
        transport: Any = self.transport
        with suppress(ProcessLookupError, PermissionError):
            # The runner is the leader of its group.
            os.killpg(transport.pid, signal.SIGKILL)
        with suppress(error.ProcessExitedAlready):
            transport.signalProcess("KILL")
        transport.loseConnection()
        self.output.errback(RunnerError(problem))
