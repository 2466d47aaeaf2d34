"""Memory does not grow with the queue: it is on disk."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.crawling import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

GROWTH = """
import resource, sys
from pathlib import Path
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.database import connect
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.sqlite import SqliteFrontier
from crawlproject.urls.canonical import host_of

def peak_kib():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak

frontier = SqliteFrontier(
    connect(Path(sys.argv[1])), host_of=host_of, limits=lambda host: HostLimits(0, 9), batch=100
)
frontier.admit(Candidate(f"https://a.example/{number}") for number in range(20))

def fetch(page, links):
    lease = frontier.take(0)
    lease.found = [
        Candidate(f"https://{link % 100}.example/some/path/{page}/{link}") for link in range(links)
    ]
    frontier.landed(lease, 0)
    frontier.finish(lease)

# Caches are full after the first pages, each with twenty thousand links.
for page in range(6):
    fetch(page, 20_000)
before = peak_kib()
for page in range(6, 14):
    fetch(page, 20_000)
assert frontier.counts().queued == 280_006
print(peak_kib() - before)
"""


def test_twenty_thousand_links_a_page_are_queued_in_flat_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, str(tmp_path)], cwd=PROJECT, capture_output=True, check=True
    )
    # 160,000 URLs more, of 50 bytes each: as objects they would take a hundred megabytes.
    assert int(done.stdout) < 24 * 1024
