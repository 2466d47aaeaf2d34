"""How a crawl has gone, in few points, however long it goes. Pure."""

from __future__ import annotations

from crawlproject.monitoring.snapshot import MAX_POINTS


class History:
    """Pages over time: points that are an interval apart, and the newest one.

    When there are too many, every second one goes, and the interval doubles. So the points are
    as far apart from each other at the beginning of a crawl as at its end.
    """

    def __init__(self, most: int = MAX_POINTS, interval: float = 1.0) -> None:
        self._most = most
        self._interval = interval
        # Without the newest, unless it is one of them.
        self._points: list[tuple[float, int]] = []
        self._newest: tuple[float, int] | None = None

    def add(self, seconds: float, pages: int) -> None:
        """``seconds`` since the beginning: never less than before."""
        self._newest = seconds, pages
        if self._points and self._place(seconds) <= self._place(self._points[-1][0]):
            return
        self._points.append(self._newest)
        # One place is for the newest.
        while len(self._points) >= self._most:
            del self._points[1::2]
            self._interval *= 2

    def points(self) -> list[tuple[float, int]]:
        if self._newest is None or self._points[-1] == self._newest:
            return self._points.copy()
        return [*self._points, self._newest]

    def _place(self, seconds: float) -> int:
        """In which interval that is: who is a little early is not put off for a whole one."""
        return int(seconds // self._interval)
