"""``python -m crawlproject.service.runner``: a job, in a process of its own.

scrapyd's runner puts an egg behind all that is installed. Here this package is installed,
since the service is part of it, and so an egg of it, or of a team's version of it, would
never be run. So an egg comes first, and has its own settings. A project without an egg is one
that ``[settings]`` in scrapyd.conf names, whatever the environment says.

A job is a process group of its own: a Ctrl-C is for the service, which has its jobs end in
peace. When the service is gone, a job ends in peace by itself, and the next service goes on.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapyd.config import Config

from crawlproject.frontier.engine import is_asked_to_stop

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
    os.environ.pop(_SETTINGS, None)
    before = list(sys.path)
    with project_environment(project):
        eggs = [path for path in sys.path if path not in before]
        if eggs:
            sys.path[:] = [*eggs, *(path for path in sys.path if path not in eggs)]
            _forget_what_is_installed()
        else:
            installed = dict(Config().items("settings", default=[]))
            if project not in installed:
                sys.exit(f"there is no project {project!r}: deploy it")
            os.environ[_SETTINGS] = installed[project]
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
    if not is_asked_to_stop():
        # Asked once more, Scrapy would stop at once, and write no output.
        os.kill(os.getpid(), signal.SIGTERM)


def have_a_home() -> None:
    """Scrapy looks for its configuration there, and in a container there may be none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(Path.cwd())


def main() -> None:
    have_a_home()
    with suppress(PermissionError):  # it is one already
        os.setpgrp()
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
