"""One reactor for all crawls of a process, in a thread of its own.

A Twisted reactor can't be started twice, and a notebook's event loop already runs. So the
first crawl starts an asyncio reactor in a background thread, where it stays. A reactor
that runs already (in a Scrapy or Twisted program) is used as it is.
"""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any

from scrapy.utils.reactor import is_asyncio_reactor_installed, is_reactor_installed
from twisted.internet import asyncioreactor
from twisted.python.threadable import isInIOThread

if TYPE_CHECKING:
    from collections.abc import Callable

# What stops each crawl that has not ended. The reactor's thread alone touches it.
running: set[Callable[[], None]] = set()

_IDLE_SECONDS = 0.02
# How long the end of a program waits for its crawls: as long as one answer may take is too long.
_END_SECONDS = 2.0
_lock = threading.Lock()
_process = os.getpid()
# Threads that are there for the reactor and its crawls; all others are the program's.
_OURS = ("reactor", "PoolThread", "crawl_")


def installed() -> Any:
    from twisted.internet import reactor

    return reactor


def require_other_thread() -> None:
    """A crawl waits for its results, so the thread that produces them must be another."""
    if os.getpid() != _process:
        raise RuntimeError("crawl() can't be used after a fork: start the process with 'spawn'")
    if is_reactor_installed() and installed().running and isInIOThread():
        raise RuntimeError(
            "crawl() waits for its result, so it can't be called in the reactor's thread: "
            "use `await asyncio.to_thread(crawl, …)` or deferToThread(crawl, …)"
        )


def call(function: Callable[[], None]) -> None:
    """Call a function in the reactor's thread, which is started when there is none."""
    with _lock:
        if not is_reactor_installed() or not installed().running:
            _start()
    installed().callFromThread(function)


def _start() -> None:
    if is_reactor_installed() and not is_asyncio_reactor_installed():
        raise RuntimeError(
            f"crawl() needs Twisted's asyncio reactor, and {type(installed()).__name__} is "
            "installed: import crawlproject first, or install the asyncio reactor"
        )
    started = threading.Event()
    failures: list[Exception] = []
    # Not a daemon: the interpreter waits for it to end, so that nothing runs while it goes
    # down. The other one sees to it that there is nothing to wait for.
    threading.Thread(target=_run, args=(started, failures), name="reactor").start()
    threading.Thread(
        target=_stop_at_last, args=(started,), name="reactor-stop", daemon=True
    ).start()
    started.wait()
    if failures:
        raise RuntimeError(
            "crawl() can't run in this process any more: its reactor has been used and stopped"
        ) from failures[0]


def _run(started: threading.Event, failures: list[Exception]) -> None:
    loop = None
    if not is_reactor_installed():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        asyncioreactor.install(loop)
    reactor = installed()
    reactor.callWhenRunning(started.set)
    try:
        reactor.run(installSignalHandlers=False)
    except Exception as error:
        failures.append(error)
    finally:
        started.set()
        if loop is not None:
            loop.close()


def _stop_at_last(started: threading.Event) -> None:
    """When all threads of the program have ended: any of them may still want to crawl."""
    started.wait()
    if not is_reactor_installed():
        # It did not start.
        return
    threading.main_thread().join()
    while others := [
        thread
        for thread in threading.enumerate()
        if not thread.daemon and thread.is_alive() and not thread.name.startswith(_OURS)
    ]:
        others[0].join()
    installed().callFromThread(_stop_all)


def _stop_all() -> None:
    _stop_when_idle(installed().seconds() + _END_SECONDS)
    for stop in tuple(running):
        stop()


def _stop_when_idle(deadline: float) -> None:
    """Crawls that nobody reads any more end first: their temporary directories go with them."""
    if running and installed().seconds() < deadline:
        installed().callLater(_IDLE_SECONDS, _stop_when_idle, deadline)
    else:
        installed().stop()
