"""``python -m crawlproject.service.runner``: a job, in a process of its own.

scrapyd's runner puts an egg behind all that is installed. Here this package is installed,
since the service is part of it, and so an egg of it, or of a team's version of it, would
never be run. So an egg comes first, and has its own settings. A project without an egg is one
that ``[settings]`` in scrapyd.conf names, whatever the environment says.

The options of a job come by standard input, as a JSON list: a password among them is not for the
list of processes.

A job is a process group of its own: a Ctrl-C is for the service, which has its jobs end in
peace. When the service is gone, a job ends in peace by itself, and the next service goes on.
"""

from __future__ import annotations

import json
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

from crawlproject.redaction import protect
from crawlproject.service import OPTIONS_ON_STDIN, SERVICE_PID

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
    # Not before: what is imported here delays the moment from which a signal is handled.
    from crawlproject.frontier.engine import is_asked_to_stop

    if not is_asked_to_stop():
        # Asked once more, Scrapy would stop at once, and write no output.
        os.kill(os.getpid(), signal.SIGTERM)


def read_command() -> list[str]:
    """The command line, with the options that the service writes to standard input. Exits if the
    service has gone before that.
    """
    if not os.environ.pop(OPTIONS_ON_STDIN, None):
        return sys.argv
    try:
        options: list[str] = json.loads(sys.stdin.buffer.read())
    except ValueError:
        sys.exit("the service has ended before this job had its options")
    # Also for a project that knows nothing of this package.
    protect(dict(option.split("=", 1) for option in options if "=" in option))
    # The program, crawl, and the spider's name.
    return [*sys.argv[:3], *options]


def have_a_home() -> None:
    """Scrapy looks for its configuration there, and in a container there may be none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(Path.cwd())


def main() -> None:
    have_a_home()
    os.umask(0o077)
    with suppress(PermissionError):  # it is one already
        os.setpgrp()
    if parent := os.environ.pop(SERVICE_PID, None):
        threading.Thread(target=end_with, args=(int(parent),), daemon=True).start()
    try:
        command = read_command()
        with egg_first(os.environ["SCRAPY_PROJECT"]):
            from scrapy.cmdline import execute

            execute(command)
    except KeyboardInterrupt:
        # Before Scrapy could hear of it.
        sys.exit(130)


if __name__ == "__main__":
    main()
