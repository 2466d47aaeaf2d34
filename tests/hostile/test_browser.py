"""A rendered page reaches nothing but what the crawler fetches for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import needs_browser
from tests.crawling import PROJECT, command_environment
from tests.hostile.browser_leaks import UNCONFINED_ARRIVALS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_browser

# A network with a loopback interface only, and a name server of the test's own.
SCRIPT = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
NAMESPACE = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


def what_arrives(tmp_path: Path, *options: str) -> dict[str, Any]:
    servers = tmp_path / "resolv.conf"
    servers.write_text("nameserver 127.0.0.1\n")
    leaks = [sys.executable, "-m", "tests.hostile.browser_leaks", *options]
    result = subprocess.run(
        [*NAMESPACE, "sh", "-c", SCRIPT, "sh", str(servers), *leaks],
        cwd=PROJECT,
        env=command_environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.skipif(not can_unshare(), reason="network namespaces are not allowed here")
def test_nothing_bypasses_the_crawlers_network(tmp_path: Path) -> None:
    confined = what_arrives(tmp_path)
    assert confined == {
        "arrived": [],
        "title": "ended",
        "status": 0,
        "requests": ["/", "/robots.txt", "/tick"],
    }
    # The same page in a browser without our switches.
    unconfined = what_arrives(tmp_path, "--unconfined")
    assert set(unconfined["arrived"]) >= UNCONFINED_ARRIVALS
