"""The test site, from a test's side: start it, ask what it saw.

def test_crawl(site):
    garden = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    crawl(garden.url())
    assert garden.paths() == ["/", "/a"]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.forking import Forked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT = Path(__file__).resolve().parents[2]
SERVER = Path(__file__).with_name("server.py")
Entry = dict[str, Any]


class Site:
    """A server of its own process; ``spec`` is described in spec.py.

    With ``all_loopback`` every 127.x.y.z is a host of the site. It ends with ``stop``, with
    the context, or with the process that started it.
    """

    def __init__(self, spec: dict[str, Any], *, all_loopback: bool = False, port: int = 0) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="site-")
        directory = Path(self._directory.name)
        self._log_file = directory / "log.jsonl"
        self._final_log: list[Entry] | None = None
        (directory / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        # -E -S: nothing but the standard library.
        command = [sys.executable, "-E", "-S", "-m", "tests.site.server"]
        command += ["--until-eof", f"--port={port}"]
        command += [f"--spec={directory / 'spec.json'}", f"--log={self._log_file}"]
        if all_loopback:
            command.append("--bind-all-loopback")
        self._process = Forked[str](
            command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        first_line = self._process.stdout.readline()
        if not first_line:
            self._process.communicate()
            self._directory.cleanup()
            raise RuntimeError(f"the test site ended with {self._process.returncode}; see stderr")
        self.port = int(first_line)

    @property
    def pid(self) -> int:
        return self._process.pid

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def set(self, spec: dict[str, Any]) -> None:
        """Answer by another spec from now on; its counts of requests begin anew."""
        self._control("PUT", "/__spec__", json.dumps(spec))

    def open(self) -> list[Entry]:
        """The requests that are waiting for their answer now."""
        entries: list[Entry] = json.loads(self._control("GET", "/__state__"))["open"]
        return entries

    def log(self) -> list[Entry]:
        """The requests that have ended, in the order in which they started."""
        if self._final_log is not None:
            return self._final_log
        # The server does one thing at a time: what it ended before this, it has written.
        self._control("GET", "/__state__")
        return self._read_log()

    def paths(self) -> list[str]:
        """The requested paths, in the order in which the requests started; without robots.txt, and
        without a sitemap that is not there.
        """
        return [
            entry["path"]
            for entry in self.log()
            if entry["path"] != "/robots.txt"
            and (entry["path"], entry["status"]) != ("/sitemap.xml", 404)
        ]

    def max_in_flight(self, host: str | None = None) -> int:
        """How many requests (robots.txt, too) overlapped at the worst moment."""
        changes = []
        for entry in self._of_host(host):
            changes += [(entry["start"], 1), (entry["end"], -1)]
        highest = current = 0
        for _, change in sorted(changes):  # at one moment, ends come first
            current += change
            highest = max(highest, current)
        return highest

    def gaps(self, host: str | None = None) -> list[float]:
        """For each request but the first, robots.txt too: the seconds from the latest end
        among those that started earlier to its start. Negative where they overlap.
        """
        gaps: list[float] = []
        latest_end: float | None = None
        for entry in self._of_host(host):
            if latest_end is not None:
                gaps.append(entry["start"] - latest_end)
            latest_end = max(entry["end"], latest_end or entry["end"])
        return gaps

    def pauses(self, host: str | None = None) -> list[float]:
        """For each request that started after the end of another, robots.txt too: the seconds
        since the latest of these ends, whatever else was in flight.
        """
        entries = self._of_host(host)
        pauses = []
        for entry in entries:
            ended = [other["end"] for other in entries if other["end"] <= entry["start"]]
            if ended:
                pauses.append(entry["start"] - max(ended))
        return pauses

    def stop(self) -> None:
        """End the server. What it logged stays. May be called twice."""
        if self._final_log is not None:
            return
        self._process.terminate()
        try:
            self._process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._final_log = self._read_log()
        self._directory.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _of_host(self, host: str | None) -> list[Entry]:
        return [e for e in self.log() if host is None or str(e["host"]).split(":")[0] == host]

    def _read_log(self) -> list[Entry]:
        lines = self._log_file.read_text(encoding="utf-8").splitlines()
        return sorted(map(json.loads, lines), key=lambda entry: (entry["start"], entry["id"]))

    def _control(self, method: str, path: str, body: str | None = None) -> str:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request(method, path, body.encode() if body is not None else None)
            response = connection.getresponse()
            text = response.read().decode()
        if response.status != 200:
            raise ValueError(f"{method} {path}: {text}")
        return text


@pytest.fixture
def site() -> Iterator[Callable[..., Site]]:
    """Starts sites, and stops them all after the test."""
    sites: list[Site] = []

    def start(spec: dict[str, Any], *, all_loopback: bool = False, port: int = 0) -> Site:
        sites.append(Site(spec, all_loopback=all_loopback, port=port))
        return sites[-1]

    yield start
    for one in sites:
        one.stop()
