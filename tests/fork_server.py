"""What ``tests/forking.py`` starts, and has its processes from.

Standard input is a socket. An order is one message there: four descriptors, of which three
become the standard streams of the new process. The fourth is a socket: on it come the command
and its circumstances, as JSON, and back go two numbers, the process's id and, when it has
ended, its status. With the other end of standard input, all of it ends.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PROJECT = Path(__file__).resolve().parents[1]
NUMBER = struct.Struct("!i")
# What a program imports. All others are as commands, which import all there is.
IMPORTS = {"tests.site.server": ("argparse", "asyncio", "tests.site.spec", "tests.site.wire")}
# They install a reactor (scrapyd's do), are programs, or note which process imports them.
_LATER = ("crawlproject.service", "crawlproject.demo", "crawlproject.api.")


def main(names: Iterable[str]) -> str | None:
    """In a new process: the module that it is to run. In the server, None at the end."""
    orders = socket.socket(fileno=0)
    load(names)
    # Where to tell that a process has ended.
    channels: dict[int, int] = {}

    def tell(*_: object) -> None:
        while channels:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            with socket.socket(fileno=channels.pop(process)) as channel, suppress(OSError):
                # Whoever ordered it may have lost interest.
                channel.send(NUMBER.pack(os.waitstatus_to_exitcode(status)))

    signal.signal(signal.SIGCHLD, tell)
    while True:
        _, descriptors, _, _ = socket.recv_fds(orders, 1, 4)
        if not descriptors:
            break
        # It may end before we know it.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        process = os.fork()
        if process == 0:
            orders.detach()
            return become(descriptors)
        *streams, channels[process] = descriptors
        for descriptor in streams:
            os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    # Who has ended by now keeps its number until we have.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for process in channels:
        os.kill(process, signal.SIGKILL)
    return None


def load(names: Iterable[str]) -> None:
    """No reactor, no event loop, no thread: none would survive a fork."""
    gc.disable()
    sys.path[0] = str(PROJECT)
    for name in names:
        import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    # Nobody is to look through all this for garbage again, nor to copy it for that.
    gc.collect()
    gc.freeze()
    gc.enable()


def of_commands() -> Iterator[str]:
    from scrapy.settings import default_settings

    # First: it sets what numpy reads.
    yield "crawlproject.commands"
    for package in ("scrapy.commands", "crawlproject"):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith(_LATER) and not module.name.endswith("__main__"):
                yield module.name
    for kind in ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "SPIDER_MIDDLEWARES"):
        for path in getattr(default_settings, f"{kind}_BASE"):
            yield path.rpartition(".")[0]
    # Scrapy looks for commands in all that is installed.
    entry_points(group="scrapy.commands")


def become(descriptors: list[int]) -> str:
    """What a new interpreter would be."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    *streams, channel = descriptors
    for standard, descriptor in enumerate(streams):
        os.dup2(descriptor, standard)
    with socket.socket(fileno=channel) as answers:
        order: dict[str, Any] = json.loads(answers.makefile().read())
        if order["has_session"]:
            os.setsid()
        # Before it is known, nobody can kill it.
        answers.send(NUMBER.pack(os.getpid()))
    # Those of other commands.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(order["folder"])
    # What is there is what was told or what modules have set: the server was given no more.
    os.environ.update(order["environment"])
    sys.argv = ["-m", *order["arguments"]]
    python_path = order["environment"].get("PYTHONPATH", "")
    sys.path[:1] = [str(Path.cwd()), *filter(None, python_path.split(os.pathsep))]
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reopen(stream)
    # Registered first, called last.
    atexit.register(end, gc.unfreeze)
    # What was frozen here a crawl is not to thaw, nor to look through.
    gc.freeze = gc.unfreeze = lambda: None
    if random := sys.modules.get("numpy.random"):
        random.seed()
    module: str = order["module"]
    return module


def reopen(stream: Any) -> None:
    """A stream finds out what it is about when it is opened. In place: others have it, too."""
    descriptor, is_written = stream.fileno(), stream.mode == "w"
    is_buffered = not (is_written and stream.write_through)
    buffer: Any = open(  # noqa: SIM115 - the stream closes it
        descriptor,
        "wb" if is_written else "rb",
        buffering=-1 if is_buffered else 0,
        closefd=False,
    )
    (buffer.raw if is_buffered else buffer).name = stream.name
    stream.__init__(
        buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n" if is_written else None,
        line_buffering=is_buffered and is_written and (descriptor == 2 or os.isatty(descriptor)),
        write_through=stream.write_through,
    )


def end(thaw: Callable[[], None]) -> None:
    """An interpreter lets go of all there is when it ends: files are closed, and what was not
    awaited is told. So must we, if there is a crawl that hangs on what is frozen.
    """
    for number in signal.valid_signals():
        # The first that an interpreter lets go of.
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    gc.collect()
    crawler = sys.modules.get("scrapy.crawler")
    if crawler is None or any(issubclass(type(one), crawler.Crawler) for one in gc.get_objects()):
        thaw()


if __name__ == "__main__":
    module = main(IMPORTS[sys.argv[1]] if sys.argv[1:] else of_commands())
    if module:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
