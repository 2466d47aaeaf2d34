"""The live line: what it says, and how fast the crawl is. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlproject.politeness.waits import Wait

WINDOW_SECONDS = 5.0


@dataclass(slots=True, frozen=True)
class State:
    pages: int = 0
    queued: int = 0
    failed: int = 0
    pages_per_second: float = 0.0
    depth: int = 0
    elapsed_seconds: float = 0.0
    # How many processes share the crawl; 0: it is not shared.
    workers: int = 0
    # What the crawl does instead of crawling: 'stopping', 'writing files'.
    phase: str | None = None
    # Whom it waits for, why and until when.
    waiting: str | None = None


def render(state: State, width: int = 80, *, ascii_only: bool = False) -> str:
    """One line that fits into ``width`` columns, with the last one left free."""
    ellipsis, separator = ("...", " | ") if ascii_only else ("…", " · ")
    parts = [
        _plural(state.pages, "page"),
        f"{state.queued:,} queued",
        f"{state.failed:,} failed",
        f"{_rate(state.pages_per_second)} pages/s",
        f"depth {state.depth}",
        _clock(state.elapsed_seconds),
    ]
    if state.workers:
        parts.append(_plural(state.workers, "worker"))
    if state.waiting is not None:
        # Behind the rest while pages come.
        place = len(parts) if state.pages_per_second else 0
        parts.insert(place, state.waiting)
    if state.phase is not None:
        # In front, where a narrow terminal shows it too.
        parts.insert(0, state.phase + ellipsis)
    line = separator.join(parts)
    # A character in the last column makes some terminals begin a new line.
    room = max(width - 1, 0)
    if len(line) <= room:
        return line
    return (line[: max(room - len(ellipsis), 0)].rstrip() + ellipsis)[:room]


def waiting_words(wait: Wait, others: int, now: float) -> str:
    """Whom a crawl waits for, why, and until when, by the clock on the wall."""
    left = wait.next_try_at - now
    words = f"waiting for {wait.host} ({wait.reason}): "
    words += f"next try in {_span(left)}" if left > 0 else "trying now"
    if wait.until is not None:
        words += f", until {datetime.fromtimestamp(wait.until, UTC).astimezone():%H:%M:%S}"
    return f"{words}, and {others:,} more" if others else words


class Speed:
    """Pages a second over the last few seconds. Told now and then how many there are."""

    def __init__(self, window: float = WINDOW_SECONDS) -> None:
        self._window = window
        self._samples: deque[tuple[float, int]] = deque()

    def update(self, now: float, pages: int) -> float:
        samples = self._samples
        samples.append((now, pages))
        # The oldest one kept is just outside the window, so that it is always filled.
        while len(samples) > 2 and samples[1][0] <= now - self._window:
            samples.popleft()
        then, pages_then = samples[0]
        return (pages - pages_then) / (now - then) if now > then else 0.0


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _rate(per_second: float) -> str:
    return f"{per_second:.1f}" if per_second < 9.95 else f"{per_second:,.0f}"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
