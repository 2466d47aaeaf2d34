"""The service, from a test's side: started as its user does, and asked over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from base64 import b64encode
from configparser import ConfigParser
from contextlib import closing, suppress
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from tests.crawling import PROJECT
from tests.forking import Forked
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from pathlib import Path

USER, PASSWORD = "ann", "s3cret"
# What is over.
ENDED = ("finished", "stopped", "failed", "killed")

Value = Any


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Value:
        return json.loads(self.content)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Service:
    """``python -m crawlproject.service`` in ``folder``, with its own scrapyd.conf there; or another
    ``program``, such as scrapyd.

    ``options`` go into the section [crawlproject], ``scrapyd`` into [scrapyd].
    """

    def __init__(
        self,
        folder: Path,
        *,
        scrapyd: dict[str, str] | None = None,
        services: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        is_protected: bool = False,
        program: str = "crawlproject.service",
        **options: str,
    ) -> None:
        self.folder = folder
        self._program = program
        self.port = free_port()
        self.is_protected, self.password = is_protected, PASSWORD
        config = ConfigParser()
        config.read(PROJECT / "scrapyd.conf")
        config["scrapyd"].update(
            {"http_port": str(self.port), "max_proc": "2", "poll_interval": "0.2"}
        )
        if is_protected:
            config["scrapyd"].update({"username": USER, "password": PASSWORD})
        config["scrapyd"].update(scrapyd or {})
        config["services"].update(services or {})
        # The sites of tests are on this machine.
        config["crawlproject"].update({"allow_internal": "yes", **options})
        with (folder / "scrapyd.conf").open("w") as file:
            config.write(file)
        # What our scripts set, others who start it have not.
        inherited = {name: x for name, x in os.environ.items() if not name.startswith("SCRAPY")}
        self.environment = {**inherited, "PYTHONPATH": str(PROJECT), **(environment or {})}
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        with (self.folder / "service.log").open("a") as log:
            self.process = Forked(
                [sys.executable, "-m", self._program],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        wait_for(self._answers)
        return self

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log()
        with suppress(OSError):
            return self.get("/daemonstatus.json").status == 200
        return False

    def log(self) -> str:
        return (self.folder / "service.log").read_text()

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the service, with SIGINT as a terminal does: whoever belongs to it gets one."""
        if self.process is not None:
            if number == signal.SIGINT:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
            self.process.wait(PATIENCE)
            self.process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        process = self.process
        if process is None:
            return
        try:
            self.stop()
        finally:
            # Whatever it has started.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    # --- over HTTP

    def ask(
        self,
        method: str,
        path: str,
        body: Value = None,
        *,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        sent = {}
        if body is not None:
            content = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        if self.is_protected:
            secret = b64encode(f"{USER}:{self.password}".encode()).decode()
            sent["Authorization"] = f"Basic {secret}"
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, content, {**sent, **(headers or {})})
            response = connection.getresponse()
            return Reply(
                response.status,
                {name.lower(): value for name, value in response.getheaders()},
                response.read(),
            )

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Value = None) -> Reply:
        return self.ask("POST", path, body)

    def form(self, path: str, **fields: str) -> Reply:
        """As scrapyd's own services have it."""
        from urllib.parse import urlencode

        return self.ask(
            "POST",
            path,
            content=urlencode(fields).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )

    def order(self, url: str, **options: Value) -> str:
        """A crawl that was accepted: its id."""
        reply = self.post("/crawl", {"url": url, **options})
        assert reply.status == 202, reply
        job: str = reply.json["id"]
        return job

    def job(self, job: str) -> Value:
        return self.get(f"/crawler/jobs/{job}/status").json

    def until(self, job: str, *statuses: str) -> Value:
        """Wait until a job is in one of some states."""
        wait_for(lambda: self.job(job)["status"] in statuses)
        return self.get(f"/crawl/{job}").json

    def until_ended(self, job: str) -> Value:
        return self.until(job, *ENDED)

    def crawl_directory(self, job: str) -> Path:
        return self.folder / "var" / "jobs" / "crawlproject" / "site" / job
