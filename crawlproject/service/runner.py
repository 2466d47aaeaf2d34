"""``python -m crawlproject.service.runner``: a job, in a process of its own.

scrapyd's runner puts an egg behind all that is installed. Here this package is installed,
since the service is part of it, and so an egg of it, or of a team's version of it, would
never be run. So an egg comes first, and has its own settings.

A job ends, as with Ctrl-C, when the service is gone: the next one goes on with it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

with warnings.catch_warnings():
    # requirements-service.txt has one that scrapyd can use.
    warnings.filterwarnings("ignore", "pkg_resources is deprecated")
    from scrapyd.runner import project_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS = "SCRAPY_SETTINGS_MODULE"
# Seconds between two looks whether the service is still there.
_BREAK = 1.0


@contextmanager
def egg_first(project: str) -> Iterator[None]:
    """The environment of a project: its egg's, if it has one, else what is installed."""
    installed = os.environ.pop(_SETTINGS, None)
    before = list(sys.path)
    with project_environment(project):
        eggs = [path for path in sys.path if path not in before]
        if eggs:
            sys.path[:] = [*eggs, *(path for path in sys.path if path not in eggs)]
            _forget_what_is_installed()
        elif installed is not None:
            os.environ.setdefault(_SETTINGS, installed)
        yield


def _forget_what_is_installed() -> None:
    """What was imported to get here may be another version than the egg's."""
    assert __package__
    package = __package__.partition(".")[0]
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]


def end_with(parent: int) -> None:
    """Stop this process when its parent is gone."""
    while os.getppid() == parent:
        time.sleep(_BREAK)
    os.kill(os.getpid(), signal.SIGTERM)


def have_a_home() -> None:
    """Scrapy looks for its configuration there, and in a container there may be none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(Path.cwd())


def main() -> None:
    have_a_home()
    if parent := os.environ.pop("CRAWLPROJECT_SERVICE_PID", None):
        threading.Thread(target=end_with, args=(int(parent),), daemon=True).start()
    with egg_first(os.environ["SCRAPY_PROJECT"]):
        try:
            from scrapy.cmdline import execute

            execute()
        except KeyboardInterrupt:
            # Before Scrapy could hear of it.
            sys.exit(130)


if __name__ == "__main__":
    main()
