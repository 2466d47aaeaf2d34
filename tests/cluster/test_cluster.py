"""Several processes, one crawl: the command as a user runs it, against a real site and Redis."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Self

import pytest

from crawlproject.monitoring.snapshot import Phase, read_snapshot
from tests.crawling import scrapy
from tests.killing import kill, start_scrapy
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# Answers overtake each other, and some are no pages.
MESH: dict[str, Any] = {
    "generated": {"kind": "mesh", "pages": 60, "links": 5, "seed": 3},
    "random_delay": [0, 0.02],
    "robots": "User-agent: *\nDisallow: /mesh/13\n",
    "pages": {"/mesh/5": {"redirect": "/mesh/40"}, "/mesh/11": {"status": 404}},
}
# Long enough for somebody to come in between.
SLOW: dict[str, Any] = {
    "generated": {"kind": "mesh", "pages": 30, "links": 5, "seed": 3},
    "random_delay": [0.1, 0.15],
}


class Cluster:
    """``scrapy cluster site`` in a folder, in a session of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._errors = folder / "stderr.txt"
        with self._errors.open("w") as errors:
            self.process = start_scrapy(folder, ["cluster", "site", "-n", "2", *options], errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Its workers end when it does.
        if self.process.poll() is None:
            kill(self.process)

    def errors(self) -> str:
        return self._errors.read_text()

    def until(self, condition: Callable[[], bool]) -> None:
        def has_happened() -> bool:
            assert self.process.poll() is None or condition(), self.errors()
            return condition()

        wait_for(has_happened)

    def finish(self) -> int:
        return self.process.wait(60)

    def children(self) -> list[int]:
        """Workers, by what the system says of processes."""
        found = subprocess.run(
            ["pgrep", "-P", str(self.process.pid), "-f", "cluster.worker"],
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(word) for word in found.stdout.split()]


def comparable(output: Path) -> str:
    return re.sub(r'"started_at": "[^"]+"', "", output.read_text())


def pages_of(output: Path) -> list[str]:
    return [page["url"] for page in json.loads(output.read_text())["pages"]]


def test_the_output_is_that_of_one_process(site: SiteFactory, tmp_path: Path) -> None:
    server = site(MESH)
    seed = f"seed={server.url('/')}"
    done = scrapy("crawl", "site", "-a", seed, "-O", "one.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    outputs = ("-O", "two.json", "-O", "two.jsonl", "-O", "two.csv")
    done = scrapy("cluster", "site", "-n", "2", "-a", seed, *outputs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert comparable(tmp_path / "two.json") == comparable(tmp_path / "one.json")
    text = (tmp_path / "two.jsonl").read_text()
    lines = [json.loads(line)["url"] for line in text.splitlines()]
    assert sorted(lines) == pages_of(tmp_path / "two.json")
    # One summary, of all workers.
    assert done.stderr.count("Crawled ") == 1
    assert f"Crawled {len(lines)} pages of {server.url('/')}" in done.stderr
    assert "two.json (" in done.stderr
    assert done.stdout == ""


def test_all_workers_are_in_one_crawl(site: SiteFactory, tmp_path: Path) -> None:
    server = site(MESH)
    log = tmp_path / "log"
    options = ("-a", f"seed={server.url('/')}", "-L", "INFO", "--logfile", str(log))
    done = scrapy("cluster", "site", "-n", "3", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = log.read_text()
    assert said.count("is shared, at unix://") == 3
    # Each page is one worker's, whichever came first.
    counts = re.findall(r"'item_scraped_count': (\d+)", said)
    assert f"Crawled {sum(map(int, counts))} pages of" in done.stderr
    assert len(server.paths()) == len(set(server.paths()))


def test_the_snapshot_of_a_supervisor_has_the_pages_of_all_workers(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(MESH)
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    # The workers can't all listen there, nor write to the same file.
    watched = ("-s", "MONITORING_SNAPSHOT_FILE=snapshot.json", "-s", f"METRICS_PORT={port}")
    seed = ("-a", f"seed={server.url('/')}", "-O", "s.json")
    done = scrapy("cluster", "site", "-n", "2", *seed, *watched, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    snapshot = read_snapshot(tmp_path / "snapshot.json")
    assert snapshot is not None
    assert snapshot.phase is Phase.ENDED
    # The redirect counts, too.
    assert snapshot.pages == len(pages_of(tmp_path / "s.json")) + 1


def test_standard_output_has_the_output_alone(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    options = ("-a", f"seed={server.url()}", "-o", "-:jsonl")
    done = scrapy("cluster", "site", "-n", "2", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    urls = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    assert sorted(urls) == [server.url("/"), server.url("/a")]


def test_bodies_of_all_workers_are_in_an_archive(site: SiteFactory, tmp_path: Path) -> None:
    server = site(MESH)
    options = ("-a", f"seed={server.url('/')}", "-O", "all.warc.gz", "-O", "all.json")
    done = scrapy("cluster", "site", "-n", "2", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    from warcio.archiveiterator import ArchiveIterator

    with (tmp_path / "all.warc.gz").open("rb") as file:
        found = {
            record.rec_headers.get_header("WARC-Target-URI")
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        }
    fetched = {
        page["url"]
        for page in json.loads((tmp_path / "all.json").read_text())["pages"]
        if page["status_code"]
    }
    assert fetched <= found


def test_ctrl_c_ends_all_in_peace(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SLOW)
    with Cluster(tmp_path, "-a", f"seed={server.url('/')}", "-O", "out.json") as cluster:
        cluster.until(lambda: len(server.paths()) >= 5)
        workers = cluster.children()
        cluster.process.send_signal(signal.SIGINT)
        assert cluster.finish() == 0, cluster.errors()
    assert len(workers) == 2
    assert not any(map(is_alive, workers))
    assert "Stopped by a signal: in-flight requests were finished" in cluster.errors()
    # All that was answered is in the output.
    assert set(pages_of(tmp_path / "out.json")) == {server.url(path) for path in server.paths()}


def test_a_second_ctrl_c_ends_all_at_once(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/slow"]}, "/slow": {"delay": 60}}})
    options = ("-a", f"seed={server.url('/')}", "-O", "out.json", "-L", "INFO")
    with Cluster(tmp_path, *options) as cluster:
        cluster.until(lambda: "/slow" in [entry["path"] for entry in server.open()])
        workers = cluster.children()
        cluster.process.send_signal(signal.SIGINT)
        cluster.until(lambda: "shutting down gracefully" in cluster.errors())
        cluster.process.send_signal(signal.SIGINT)
        assert cluster.finish() == 130, cluster.errors()
    assert not any(map(is_alive, workers))
    assert "Stopped at once: no output was written" in cluster.errors()
    assert not (tmp_path / "out.json").exists()
    assert "Traceback" not in cluster.errors()


def test_a_worker_that_is_killed_is_replaced(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SLOW)
    with Cluster(tmp_path, "-a", f"seed={server.url('/')}", "-O", "out.json") as cluster:
        cluster.until(lambda: len(server.paths()) >= 5)
        os.kill(cluster.children()[0], signal.SIGKILL)
        assert cluster.finish() == 0, cluster.errors()
    assert "was ended by SIGKILL: another one takes its place" in cluster.errors()
    assert len(pages_of(tmp_path / "out.json")) == 30


def test_workers_that_die_again_and_again_end_the_crawl(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SLOW)
    with Cluster(tmp_path, "-n", "1", "-a", f"seed={server.url('/')}", "-O", "out.json") as cluster:
        killed: set[int] = set()
        while cluster.process.poll() is None:
            for worker in cluster.children():
                killed.add(worker)
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
        assert cluster.finish() == 1, cluster.errors()
    assert len(killed) == 4
    assert "too many have, so nobody takes its place" in cluster.errors()
    assert "scrapy cluster: error: all workers have died" in cluster.errors()
    assert pages_of(tmp_path / "out.json") == []


def test_a_crawl_directory_goes_on_after_a_kill_of_everything(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SLOW)
    options = ("--dir", "job", "-a", f"seed={server.url('/')}", "-O", "out.json")
    with Cluster(tmp_path, *options) as cluster:
        cluster.until(lambda: len(server.paths()) >= 10)
        workers = cluster.children()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        kill(cluster.process)
    assert not (tmp_path / "out.json").exists()
    with Cluster(tmp_path, *options) as cluster:
        assert cluster.finish() == 0, cluster.errors()
    assert "Going on with the crawl in job: " in cluster.errors()
    assert len(pages_of(tmp_path / "out.json")) == 30


def test_workers_end_when_their_supervisor_is_killed(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SLOW)
    with Cluster(tmp_path, "-a", f"seed={server.url('/')}") as cluster:
        cluster.until(lambda: len(server.paths()) >= 3)
        workers = cluster.children()
        kill(cluster.process)
    wait_for(lambda: not any(map(is_alive, workers)))


def test_a_seed_that_fails_is_told_once(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"status": 404}}})
    done = scrapy("cluster", "site", "-n", "2", "-a", f"seed={server.url()}", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("could not be fetched") == 1
    assert f"scrapy cluster: error: the seed {server.url()} could not be fetched" in done.stderr


def test_workers_of_another_redis_join(site: SiteFactory, tmp_path: Path, redis_url: str) -> None:
    server = site(MESH)
    options = ("-a", f"seed={server.url('/')}", "-s", f"REDIS_URL={redis_url}")
    done = scrapy("cluster", "site", "-n", "2", *options, "-O", "a.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = len(server.paths())
    # It is complete: another run asks nothing, and writes it again.
    done = scrapy("cluster", "site", "-n", "1", *options, "-O", "b.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(server.paths()) == asked
    assert comparable(tmp_path / "b.json") == comparable(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("-n", "0"), "-n: '0' is not a whole number from 1 to 256"),
        (("-n", "two"), "-n: 'two' is not a whole number from 1 to 256"),
        (("-a", "dpeth=2"), "dpeth: no such argument; did you mean depth?"),
        (("-O", "out.docx"), "give the file the extension"),
        (("-s", "REDIS_URL=http://x"), "REDIS_URL"),
        (("--dir", "job", "-o", "x.jsonl"), "-O x.jsonl replaces the file"),
        (("--dir", "d" * 120), "is too long for a Redis in it"),
        (("--dir", ""), "JOBDIR is empty"),
    ],
)
def test_bad_arguments_get_one_line_and_status_2(
    tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    done = scrapy("cluster", "site", "-a", "seed=http://127.0.0.1:9/", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("scrapy cluster: error: ")
    assert problem in line


def test_a_crawl_directory_of_one_process_is_refused(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    seed = ("-a", f"seed={server.url()}")
    assert scrapy("crawl", "site", *seed, "-s", "JOBDIR=job", cwd=tmp_path).returncode == 0
    done = scrapy("cluster", "site", *seed, "--dir", "job", cwd=tmp_path)
    assert done.returncode == 2
    assert "'job' holds a crawl of one process" in done.stderr


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_setting_in_words_is_understood_before_the_workers_start(
    redis_url: str, tmp_path: Path
) -> None:
    options = ("-s", "STORE_BODIES=yes", "-s", f"REDIS_URL={redis_url}")
    done = scrapy("cluster", "site", "-a", "seed=http://127.0.0.1:9/", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "scrapy cluster: error: STORE_URI: missing: the workers of a shared crawl keep bodies in "
        "one place, with -s STORE_URI=…\n"
    )
