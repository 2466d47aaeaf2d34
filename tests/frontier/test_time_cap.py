from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from time import thread_time
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.errors import BadArgument
from crawlproject.failures import NotNow, Verdict
from crawlproject.frontier.base import LEASE, Lease
from crawlproject.frontier.deadline import Deadline
from crawlproject.frontier.time_cap import TimeCap, time_cap_of
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.crawler import Crawler

TOO_SLOW = "pages/unreadable/too_slow"
TOO_LONG = "unreadable: took longer than PAGES_MAX_SECONDS=0.1"
# The main thread has a signal, any other one has a thread that watches it.
THREADS = pytest.mark.parametrize("here", [True, False], ids=["main", "other"])


def busy(seconds: float) -> str:
    """Use so much CPU."""
    end = thread_time() + seconds
    while thread_time() < end:
        pass
    return "done"


def endless() -> None:
    while True:
        pass


def swallowing() -> None:
    while True:
        # As libraries do.
        with suppress(Exception):
            endless()


def hopeless() -> object:
    return re.search("(a+)+$", "a" * 60 + "!")


@pytest.fixture
def crawler() -> Iterator[Crawler]:
    crawler = get_crawler(settings_dict={"PAGES_MAX_SECONDS": 0.1})
    yield crawler
    time_cap_of(crawler).stop()


def started(crawler: Crawler) -> TimeCap:
    cap = time_cap_of(crawler)
    cap.start()
    return cap


def in_thread(here: bool, test: Callable[[], Any]) -> Any:
    """What a test returns, in this thread or in another one."""
    if here:
        assert threading.current_thread() is threading.main_thread()
        return test()
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(test()))
    thread.start()
    thread.join()
    return results[0]


def error_of(cap: TimeCap, meta: dict[str, Any], read: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(Verdict) as raised:
        cap.run(meta, read, *args)
    return raised.value.error


def lease() -> Lease:
    return Lease("http://a.example/", "http://a.example/", "a.example", 0, None)


@THREADS
@pytest.mark.parametrize("read", [endless, swallowing])
def test_what_never_ends_is_interrupted(
    crawler: Crawler, here: bool, read: Callable[[], None]
) -> None:
    assert in_thread(here, lambda: error_of(started(crawler), {}, read)) == TOO_LONG
    assert crawler.stats.get_value(TOO_SLOW) == 1


def test_a_regular_expression_is_interrupted_while_it_matches(crawler: Crawler) -> None:
    assert error_of(started(crawler), {}, hopeless) == TOO_LONG


@THREADS
def test_the_sections_of_a_page_share_its_time(crawler: Crawler, here: bool) -> None:
    def read_all() -> int:
        cap, meta, sections = started(crawler), {"mine": 1}, 0
        while True:
            try:
                cap.run(meta, busy, 0.03)
            except Verdict:
                return sections
            sections += 1

    # Alone, none of them takes too long.
    assert in_thread(here, read_all) > 0


@THREADS
def test_each_page_has_its_own_time(crawler: Crawler, here: bool) -> None:
    def read_all() -> list[str]:
        cap = started(crawler)
        return [cap.run({}, busy, 0.02) for _ in range(15)]

    assert in_thread(here, read_all) == ["done"] * 15


def test_a_late_tick_does_not_charge_a_page_for_what_came_before_it(crawler: Crawler) -> None:
    cap = started(crawler)
    ticks = {signal.SIGPROF, signal.SIGVTALRM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ticks)
    try:
        busy(0.2)
        # The tick that was held back comes inside the section.
        cap.run({}, signal.pthread_sigmask, signal.SIG_UNBLOCK, ticks)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ticks)
    assert crawler.stats.get_value(TOO_SLOW) is None


@THREADS
def test_nothing_is_interrupted_after_a_section(crawler: Crawler, here: bool) -> None:
    def read_all() -> list[str]:
        cap, done = started(crawler), []
        for _ in range(3):
            error_of(cap, {}, endless)
            done.append(busy(0.1))
        return done

    assert in_thread(here, read_all) == ["done"] * 3


def test_what_a_section_raises_is_raised(crawler: Crawler) -> None:
    cap = started(crawler)
    with pytest.raises(ZeroDivisionError):
        cap.run({}, divmod, 1, 0)
    assert cap.run({}, divmod, 7, 2) == (3, 1)


@deferred_f_from_coro_f
async def test_a_coroutine_is_charged_only_while_it_runs(
    crawler: Crawler,
) -> None:
    cap = started(crawler)

    async def read(others: str) -> str:
        for _ in range(10):
            await asyncio.sleep(0)
        if others == "endless":
            endless()
        return others

    async def both(others: str) -> list[Any]:
        async def burn() -> str:
            for _ in range(10):
                busy(0.03)
                await asyncio.sleep(0)
            return "burned"

        reading = _awaited(cap.wait({}, read(others)))
        return list(await asyncio.gather(reading, burn(), return_exceptions=True))

    assert await both("read") == ["read", "burned"]
    verdict, burned = await both("endless")
    assert (verdict.error, burned) == (TOO_LONG, "burned")


@deferred_f_from_coro_f
async def test_a_coroutine_is_told_of_errors_and_cancelled(crawler: Crawler) -> None:
    cap = started(crawler)

    async def read(future: asyncio.Future[None]) -> str:
        try:
            await future
        except ZeroDivisionError:
            return "caught"
        return "never"

    failed: asyncio.Future[None] = asyncio.Future()
    reading = asyncio.ensure_future(_awaited(cap.wait({}, read(failed))))
    waiting = asyncio.ensure_future(_awaited(cap.wait({}, read(asyncio.Future()))))
    await asyncio.sleep(0)
    failed.set_exception(ZeroDivisionError())
    waiting.cancel()
    ended: list[Any] = list(await asyncio.gather(reading, waiting, return_exceptions=True))
    assert ended[0] == "caught"
    assert isinstance(ended[1], asyncio.CancelledError)


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


@THREADS
def test_at_the_end_of_the_crawl_a_page_is_put_back_and_not_unreadable(here: bool) -> None:
    crawler = get_crawler()
    meta = {LEASE: lease()}

    def read() -> bool:
        # No cap: the time of the whole crawl counts all the same.
        cap = TimeCap(crawler, 0, Deadline(30, 0.01))
        cap.start()
        with pytest.raises(NotNow):
            cap.run(meta, endless)
        cap.stop()
        return meta[LEASE].is_put_back

    assert in_thread(here, read)
    assert crawler.stats.get_value(TOO_SLOW) is None


@pytest.mark.parametrize("value", ["-1", "nan", "inf"])
def test_a_cap_that_is_none_is_refused_in_another_project(value: str) -> None:
    with pytest.raises(BadArgument, match=r"PAGES_MAX_SECONDS: .* is not a number of seconds"):
        time_cap_of(get_crawler(settings_dict={"PAGES_MAX_SECONDS": value}))


PROFILED = """
import signal
from scrapy.utils.test import get_crawler
from crawlproject.failures import Verdict
from crawlproject.frontier.time_cap import time_cap_of

def mine(*_): pass

signal.signal(signal.SIGPROF, mine)
signal.signal(signal.SIGVTALRM, mine)
crawler = get_crawler(settings_dict={"PAGES_MAX_SECONDS": 0.1})
cap = time_cap_of(crawler)
cap.start()

def endless():
    while True: pass

try:
    cap.run({}, endless)
except Verdict as verdict:
    print(verdict.error)
assert signal.getsignal(signal.SIGPROF) is signal.getsignal(signal.SIGVTALRM) is mine
"""
# Python takes back its signals while the timer runs: the last tick must not end the process.
ENDING = """
from scrapy.utils.test import get_crawler
from crawlproject.frontier.time_cap import time_cap_of

crawler = get_crawler(settings_dict={"PAGES_MAX_SECONDS": 0.1})
time_cap_of(crawler).start()

class Slow:
    def __del__(self, clock=__import__("time").process_time):
        end = clock() + 0.3
        while clock() < end: pass

import sys
sys.slow = Slow()
"""


@pytest.mark.parametrize(("program", "said"), [(PROFILED, TOO_LONG), (ENDING, "")])
def test_the_signal_of_a_profiler_stays_and_ours_ends_nothing(program: str, said: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, said), ended.stderr


def test_the_timer_stops_with_the_last_crawl(crawler: Crawler) -> None:
    cap = started(crawler)
    assert signal.getitimer(signal.ITIMER_PROF)[1] > 0
    cap.stop()
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
