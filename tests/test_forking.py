"""A forked process is no other than one that was started."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawling import PROJECT, command_environment, fresh_scrapy, scrapy
from tests.forking import Forked, run
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PROBE = """
import gc, json, locale, logging, os, resource, signal, socket, sys, tempfile, threading, warnings
from pathlib import Path

path = list(sys.path)
# What has changed by that has changed in both.
from tests.fork_server import load, of_commands
load(of_commands())
descriptors = Path("/proc/self/fd")
logs = {None: logging.root, **logging.root.manager.loggerDict}
print(json.dumps({
    "arguments": sys.argv,
    "collector": (gc.isenabled(), gc.get_threshold()),
    "descriptors": sorted(map(str, os.listdir(descriptors))) if descriptors.exists() else [],
    "environment": dict(os.environ),
    "flags": str(sys.flags),
    "folder": os.getcwd(),
    "hooks": list(map(repr, (sys.excepthook, sys.unraisablehook, threading.excepthook))),
    "limits": [resource.getrlimit(getattr(resource, name))
        for name in dir(resource) if name.startswith("RLIMIT_")],
    "locale": locale.setlocale(locale.LC_ALL),
    "logs": [(name, str(log.handlers), log.level, log.propagate)
        for name, log in logs.items() if isinstance(log, logging.Logger)],
    "main": (__name__, sys.modules["__main__"].__dict__ is globals()),
    "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "path": path,
    "program": sys.executable,
    "session": (os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()),
    "signals": [str(signal.getsignal(number)).split(" at ")[0]
        for number in sorted(signal.valid_signals())],
    "streams": [
        (x.name, x.fileno(), x.mode, x.encoding, x.errors, x.newlines, x.line_buffering,
            x.write_through, x.isatty(), x.seekable(), x.buffer.seekable(), type(x.buffer).__name__)
        for x in (sys.stdin, sys.stdout, sys.stderr)],
    "originals": (sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__),
    "temporary": tempfile.gettempdir(),
    "threads": threading.active_count(),
    "timeout": socket.getdefaulttimeout(),
    "umask": os.umask(0),
    "warnings": list(map(str, warnings.filters)),
}))
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", *arguments]


def write(folder: Path, code: str) -> dict[str, str]:
    """A program, and the environment that finds it."""
    (folder / "program.py").write_text(code)
    return command_environment(PYTHONPATH=f"{PROJECT}{os.pathsep}{folder}")


@pytest.mark.parametrize("has_session", [True, False])
def test_it_is_what_a_new_one_would_be(tmp_path: Path, has_session: bool) -> None:
    environment = write(tmp_path, PROBE)
    # Both ways, in an environment that tells an interpreter nothing, too.
    if has_session:
        environment = {"PYTHONPATH": environment["PYTHONPATH"], "TMPDIR": str(tmp_path)}
    (tmp_path / "in.txt").write_text("read by nobody")
    found = []
    for start in (Forked, subprocess.Popen):
        with (tmp_path / "in.txt").open() as given, (tmp_path / "err.txt").open("a") as errors:
            process = start(
                command("program", "-a", "ö"),
                cwd=tmp_path,
                env=environment,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=has_session,
            )
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, (tmp_path / "err.txt").read_text()
        found.append(json.loads(out))
    assert found[0] == found[1]
    assert found[0]["session"] == [has_session, has_session]


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('in words')",
        "raise ValueError('why')",
        "raise KeyboardInterrupt",
        "import os; os._exit(5)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import sys; sys.stdout.write('not flushed'); sys.stderr.write('nor this')",
        "import atexit; atexit.register(print, 'at the end')",
        "import threading, time; threading.Timer(0.01, print, ['later']).start()",
        "class Last:\n    def __del__(self): print('gone', flush=True)\nlast = Last()",
        "import warnings; warnings.warn('beware'); warnings.warn('soon', DeprecationWarning)",
        "import logging; logging.getLogger('x').warning('seen'); logging.getLogger('x').info('no')",
        "print(input()); print(input())",
    ],
)
def test_it_ends_as_a_new_one_would(tmp_path: Path, code: str) -> None:
    environment = write(tmp_path, code)
    found = []
    for start in (Forked, subprocess.Popen):
        pipe = subprocess.PIPE
        with start(
            command("program"), env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        ) as process:
            out, errors = process.communicate("one line\n", timeout=PATIENCE)
        # Where it came from is not the same.
        said = [line for line in errors.splitlines() if not line.startswith("  File ")]
        frames = [line for line in errors.splitlines() if str(tmp_path) in line]
        found.append((process.returncode, out, said[:1], said[-1:], frames))
    assert found[0] == found[1]


def test_a_crawl_says_and_writes_the_same(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"generated": {"kind": "tree", "fan": 3, "depth": 2}})
    options = ["-a", f"seed={server.url()}", "-O", "-:json", "-L", "INFO", "-s", "JOBDIR=job"]
    # They depend on how quick the site was.
    options += ["-s", "STATS_DUMP=False", "-s", "MONITORING_SUMMARY=False"]
    found = []
    for start in (scrapy, fresh_scrapy):
        done = start("crawl", "site", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(re.sub(r"0x[0-9a-f]+|[\d.]+", "0", done.stdout + done.stderr))
        shutil.rmtree(tmp_path / "job")
    assert found[0] == found[1]
    assert "http://0:0/tree/0" in found[0]
    assert "Overridden settings" in found[0]


def test_it_can_be_waited_for_and_killed(tmp_path: Path) -> None:
    environment = write(tmp_path, "import signal\nprint('ready', flush=True)\nsignal.pause()")
    with Forked[str](
        command("program"), env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.01)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(PATIENCE) == process.poll() == -signal.SIGKILL
        # To nobody, and to nobody else.
        process.send_signal(signal.SIGKILL)


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    environment = write(tmp_path, "import signal; signal.pause()")
    with pytest.raises(subprocess.TimeoutExpired):
        run(command("program"), cwd=tmp_path, env=environment, timeout=0.01)


def test_no_two_have_the_same_luck(tmp_path: Path) -> None:
    code = "import random, numpy.random; print(hash(''.join('ab')), random.random(), end=' ')\n"
    environment = write(tmp_path, f"{code}print(numpy.random.random())")
    environment.pop("PYTHONHASHSEED", None)
    one, other = (
        run(command("program"), cwd=tmp_path, env=environment, timeout=PATIENCE).stdout.split()
        for _ in range(2)
    )
    assert len(one) == 3
    assert not set(one) & set(other)


def test_nothing_is_left_of_it_when_the_tests_are_killed(tmp_path: Path) -> None:
    environment = write(
        tmp_path, "import os, signal\nprint(os.getppid(), os.getpid(), flush=True)\nsignal.pause()"
    )
    tests = "import sys; from tests.forking import Forked; "
    tests += "Forked([sys.executable, '-m', 'program']).wait()"
    process = subprocess.Popen(
        [sys.executable, "-c", tests], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    left = process.stdout.readline().split()
    assert len(left) == 2
    process.kill()
    process.communicate()
    wait_for(lambda: not any(map(is_there, map(int, left))))


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
