"""The process of a job, as scrapyd watches it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from scrapyd.launcher import ScrapyProcessProtocol
from twisted.internet.error import ProcessExitedAlready
from twisted.logger import Logger

from crawlproject.printable import visible
from crawlproject.redaction import Redactor

if TYPE_CHECKING:
    from twisted.python.failure import Failure

log = Logger()

# Characters of a line that a job has written.
_LONGEST = 2000


class Process(ScrapyProcessProtocol):
    """A job that runs. What it says last tells why it failed.

    What it says may have been said by a site, and so is never taken for a format, as scrapyd
    would. Its options come by standard input, because a command line is no place for a password.
    """

    exit_status: int | None = None
    # Scrapy ends at once, and without outputs, when it is asked twice.
    was_asked_to_end = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._said: deque[str] = deque(maxlen=5)
        self._options = ""
        self._secrets = Redactor()

    def tell(self, options: str, secrets: Redactor) -> None:
        """What the process is told when it has started. What it says is shown without secrets."""
        self._options, self._secrets = options, secrets

    def connectionMade(self) -> None:
        super().connectionMade()
        self.transport.write(self._options.encode())
        self.transport.closeStdin()

    @property
    def last_words(self) -> str | None:
        return self._said[-1] if self._said else None

    def ask_to_end(self) -> None:
        if not self.was_asked_to_end:
            self.was_asked_to_end = True
            self.signal("INT")

    def signal(self, name: str) -> None:
        try:
            self.transport.signalProcess(name)
        except ProcessExitedAlready:
            log.debug("Job {job} has ended already", job=self.job)

    def outReceived(self, data: bytes) -> None:
        self._note(data, "stdout")

    def errReceived(self, data: bytes) -> None:
        self._said += self._note(data, "stderr")

    def processEnded(self, status: Failure) -> None:
        number = getattr(status.value, "signal", None)
        self.exit_status = -number if number else getattr(status.value, "exitCode", 0)
        super().processEnded(status)

    def log(self, level: str, action: str) -> None:
        log.info(
            "{action} project={project!r} spider={spider!r} job={job!r} pid={pid!r}",
            action=action,
            project=self.project,
            spider=self.spider,
            job=self.job,
            pid=self.pid,
        )

    def _note(self, data: bytes, stream: str) -> list[str]:
        text = self._secrets.clean(data.decode("utf-8", "replace"))
        lines = [visible(line.strip()[:_LONGEST]) for line in text.splitlines() if line.strip()]
        for line in lines:
            log.info("{line}", line=line, log_system=f"Launcher,{self.pid}/{stream}")
        return lines
