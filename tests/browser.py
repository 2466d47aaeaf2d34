"""Tests with a real browser, or the reason why there are none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from crawlproject.render.install import BROWSERS

BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)

needs_browser = pytest.mark.skipif(
    BROWSER is None,
    reason=os.environ.get("CHROMIUM_MISSING")
    or "no Chromium is installed: ./scripts/test does it, as root on Debian",
)


def descendants(pid: int) -> set[int]:
    """The processes that one has started, and theirs, but for those that have ended."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may have spaces.
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            children.setdefault(int(parent), []).append(int(status.parent.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        new = set(children.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
