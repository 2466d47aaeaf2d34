"""Requests on their way, and what answers say of their hosts: the same for every engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.guard import guarded

if TYPE_CHECKING:
    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.hosts import HostGate, HostsNow


class Turns(ABC):
    """Needs ``_gate``; is guarded as the engine is (``guard.py``)."""

    failure: str | None
    _gate: HostGate[Any]

    def __init__(self) -> None:
        # URLs of leases whose requests are on their way.
        self._flying: set[str] = set()

    @abstractmethod
    def fail(self, problem: str) -> None: ...

    @property
    def stop_reason(self) -> str | None:
        # Who is alone is stopped by a signal.
        return None

    @guarded(None)
    def landed(self, lease: Lease, now: float) -> None:
        if lease.url in self._flying:
            self._flying.remove(lease.url)
            self._gate.landed(lease.host, now)

    @guarded(None)
    def leave(self, host: str, now: float) -> None:
        self._gate.landed(host, now)

    def slow(self, host: str, delay: float) -> None:
        self._gate.slow(host, delay)

    def pace(self, host: str) -> float:
        return self._gate.host(host).throttled

    def overloaded(self, host: str, *, again: bool) -> int:
        return self._gate.overloaded(host, again=again)

    def hosts(self, now: float) -> HostsNow:
        return self._gate.survey(now)

    def _withdraw(self, lease: Lease) -> None:
        """End a lease whose request never reached the host."""
        if lease.url in self._flying:
            self._flying.remove(lease.url)
            self._gate.withdraw(lease.host)
