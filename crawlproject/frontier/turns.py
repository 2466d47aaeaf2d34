"""Requests on their way, and what answers say of their hosts: the same for every engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.guard import guarded

if TYPE_CHECKING:
    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.bottleneck import Bottleneck
    from crawlproject.frontier.hosts import HostGate, HostsNow


# Seconds from a take to the start of its request, at most, unless something has held it up.
_PROMPT = 0.02


class Turns(ABC):
    """Needs ``_gate``; is guarded as the engine is (``guard.py``)."""

    failure: str | None
    _gate: HostGate[Any]

    def __init__(self) -> None:
        # Leases whose requests are in flight: the URL, and when it was taken.
        self._flying: dict[str, float] = {}

    @abstractmethod
    def fail(self, problem: str) -> None: ...

    @property
    def stop_reason(self) -> str | None:
        # Who is alone is stopped by a signal.
        return None

    @guarded(0.0)
    def start_late(self, lease: Lease, now: float) -> float:
        taken_at = self._flying.get(lease.url)
        if taken_at is None or now - taken_at < _PROMPT:
            return 0.0
        wait = self._gate.start_late(lease.host, taken_at, now)
        if not wait:
            self._flying[lease.url] = now
        return wait

    @guarded(None)
    def landed(self, lease: Lease, now: float) -> None:
        if lease.url in self._flying:
            del self._flying[lease.url]
            self._gate.landed(lease.host, now)

    @guarded(None)
    def withdraw(self, lease: Lease) -> None:
        self._withdraw(lease)

    @guarded(None)
    def release_turn(self, host: str, now: float) -> None:
        self._gate.landed(host, now)

    def set_throttle(self, host: str, delay: float) -> None:
        self._gate.set_throttle(host, delay)

    def throttle_delay(self, host: str) -> float:
        return self._gate.host(host).throttle

    def overloaded(self, host: str, *, again: bool) -> int:
        return self._gate.overloaded(host, again=again)

    def hosts(self, now: float) -> HostsNow:
        return self._gate.survey(now)

    def bottleneck(self) -> Bottleneck | None:
        return self._gate.bottleneck()

    def _withdraw(self, lease: Lease) -> None:
        """End a lease whose request never reached the host."""
        if lease.url in self._flying:
            self._gate.withdraw(lease.host, self._flying.pop(lease.url))
