"""Clocks that interrupt what takes too long. ``time_cap.py`` says when.

| clock | where | what it can interrupt |
|---|---|---|
| ``SignalClock`` | the main thread | Python code, and ``re`` while it matches |
| ``ThreadClock`` | any other thread | Python code, between two bytecodes |

A single call into a C extension is interrupted by neither: its input must be bounded.

A clock knows the section that is running, and charges it with CPU time a few times a second. To
enter and to leave a section is an attribute write, because every page does so several times.
"""

from __future__ import annotations

import atexit
import ctypes
import signal
import threading
import time
from time import thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class Interrupted(BaseException):
    """Raised inside a section. No ``except Exception`` of a library stops it."""


class Section:
    """``used``: CPU seconds so far. ``is_up`` says whether so many are enough."""

    __slots__ = ("_is_up", "used")

    def __init__(self, is_up: Callable[[float], bool], used: float) -> None:
        self._is_up = is_up
        self.used = used

    def is_over(self, spent: float) -> bool:
        """Charge it, and say whether it is to be interrupted."""
        self.used += spent
        return self._is_up(self.used)


class Clock:
    """One that was not started: nothing is interrupted."""

    def __init__(self) -> None:
        self.section: Section | None = None
        # Whether an interrupt is on its way that may come too late.
        self.is_late = False
        # CPU time of the last tick, and the section that ran then.
        self._last = 0.0
        self._ticked: Section | None = None

    def start(self, user: object, interval: float) -> None:
        """Tick for ``user``, at least once in ``interval`` seconds."""

    def stop(self, user: object) -> None:
        """Undo ``start``."""

    def settle(self) -> None:
        """Call off an interrupt that has not come yet."""

    def _overdue(self, now: float, interval: float) -> Section | None:
        """Charge the section that runs ``now``; return it if it is to be interrupted.

        Ticks may be late. A section that began since the last one is charged with no more than an
        interval: most of the time may have been used before it began.
        """
        spent, self._last = now - self._last, now
        section = self.section
        before, self._ticked = self._ticked, section
        if section is None:
            return None
        if section is not before:
            spent = min(spent, interval)
        return section if section.is_over(spent) else None


class SignalClock(Clock):
    """One interval timer of CPU time for all crawls in the main thread.

    It takes a signal that nobody handles, and keeps it: a last one may be on its way.
    """

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[object, float] = {}
        self._timer: int | None = None
        self._interval = 0.0

    def has_timer(self) -> bool:
        """Whether there is a timer for it: a profiler may have them."""
        if self._timer is None and hasattr(signal, "setitimer"):
            for timer, number in (
                (signal.ITIMER_PROF, signal.SIGPROF),
                (signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
            ):
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._tick)
                    # Restart system calls: a library may not know EINTR.
                    signal.siginterrupt(number, False)
                    # Python gives signals back when it ends, and this one would end the process.
                    atexit.register(signal.setitimer, timer, 0)
                    self._timer = timer
                    break
        return self._timer is not None

    def start(self, user: object, interval: float) -> None:
        self._users[user] = interval
        self._last = thread_time()
        self._set()

    def stop(self, user: object) -> None:
        if self._users.pop(user, None) is not None:
            self._set()

    def _set(self) -> None:
        assert self._timer is not None
        self._interval = min(self._users.values(), default=0.0)
        signal.setitimer(self._timer, self._interval, self._interval)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        # At every tick until it is left: a destructor may have swallowed the last interrupt.
        if self._overdue(thread_time(), self._interval) is not None:
            raise Interrupted


class ThreadClock(Clock):
    """A thread that watches the CPU time of the thread in which the clock was made."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()
        self._cpu_time = _cpu_time_of(self._thread)
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def start(self, user: object, interval: float) -> None:
        watch, args = self._watch, (interval,)
        threading.Thread(target=watch, args=args, name="crawl_time_cap", daemon=True).start()

    def stop(self, user: object) -> None:
        self._stopped.set()

    def _watch(self, interval: float) -> None:
        while not self._stopped.wait(interval):
            try:
                now = self._cpu_time()
            except OSError:
                # The thread has ended.
                return
            section = self._overdue(now, interval)
            if section is not None:
                self._interrupt(section)

    def _interrupt(self, section: Section) -> None:
        with self._lock:
            # First: who leaves the section now sees that there is something to settle.
            self.is_late = True
            if section is self.section:
                _raise_in(self._thread, Interrupted)
            else:
                self.is_late = False

    def settle(self) -> None:
        with self._lock:
            try:
                # It is taken, not called off: CPython forgets that it has nothing to raise only by
                # raising. Until then all code is slower, and a traced function does not begin.
                _raise_in(self._thread, Interrupted)
                while True:
                    pass
            except Interrupted:
                self.is_late = False


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise in a thread, at its next bytecode, in place of what is to be raised there."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _cpu_time_of(thread: int) -> Callable[[], float]:
    """The CPU time of a thread; where the system does not tell it, that of the process."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    number = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(number)


_signal_clock = SignalClock()


def clock_here() -> Clock:
    """The clock for sections that run in this thread."""
    is_main = threading.current_thread() is threading.main_thread()
    return _signal_clock if is_main and _signal_clock.has_timer() else ThreadClock()
