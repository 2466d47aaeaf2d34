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
    from collections.abc import Mapping

    from twisted.python.failure import Failure

log = Logger()

# Characters of a line that a job has written.
_LONGEST = 2000
# Bytes of a line that is waited for.
_MOST_BEGUN = 64 * 1024


# What a job is not to know.
SECRETS = ("SCRAPYD_USERNAME", "SCRAPYD_PASSWORD")
# Settings of whoever started the service (``commands/environment.py``): a password among them is
# for that user's crawls, not for whatever site a job names.
_SETTINGS = "CRAWLPROJECT_"


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the service, for a process that it starts."""
    return {
        name: value
        for name, value in environment.items()
        if name not in SECRETS and not name.startswith(_SETTINGS)
    }


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
        # Of lines that have not ended, by stream.
        self._begun: dict[str, bytes] = {}

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
        self._note(b"\n", "stdout")
        self._said += self._note(b"\n", "stderr")
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
        """Whole lines: a secret may come in two pieces."""
        data = self._begun.pop(stream, b"") + data
        whole, end, begun = data.rpartition(b"\n")
        if len(begun) > _MOST_BEGUN:
            whole, begun = data, b""
        self._begun[stream] = begun
        text = self._secrets.clean((whole + end).decode("utf-8", "replace"))
        lines = [visible(line.strip()[:_LONGEST]) for line in text.splitlines() if line.strip()]
        for line in lines:
            log.info("{line}", line=line, log_system=f"Launcher,{self.pid}/{stream}")
        return lines
