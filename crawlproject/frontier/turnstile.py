"""Turns at hosts for requests that the frontier does not queue.

Pipelines (such as Scrapy's for files and images), callbacks and middlewares send requests by
``engine.download_async()``, and logins come before the queue (``prelude.py``). Each waits for its
turn at the host and is checked against robots.txt, like the request of a lease.

A downloader middleware may send a request on behalf of one that has its turn, and wait for it. With
one turn at a time, both would wait for each other if they are for the same host. So the new request
uses that turn, and the other one takes another turn later. (Before robots.txt or a login, both are
sent in one turn.)

Meta keys: reads ``lease``, ``turn`` and ``fetch_ended``; writes ``turn`` (the host, from then on)
and ``fetch_started`` (of a request whose turn is used).
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING

from crawlproject.frontier.base import LEASE, NOT_ASKED, TURN, Lease
from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED, FETCH_STARTED, refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from scrapy import Request

    from crawlproject.frontier.base import Frontier

    Verdict = str | Awaitable[float | None] | None

logger = logging.getLogger(__name__)

# The request with a turn that passes the downloader middlewares in this context.
passing: ContextVar[Request | None] = ContextVar("passing", default=None)


def has_turn(request: Request) -> bool:
    """Whether a request may be sent now. Its turn is used up once it was: meta may be copied."""
    meta = request.meta
    return (TURN in meta or LEASE in meta) and FETCH_STARTED not in meta


class Turnstile:
    """``verdict`` is what the gatekeeper says of a lease."""

    def __init__(self, frontier: Frontier, verdict: Callable[[Lease], Verdict]) -> None:
        self._frontier = frontier
        self._verdict = verdict

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[str]:
        """A turn for a request, until the end of the context: its host.

        Raises Verdict if the request may not be made, and what a download raises if its host can't
        be reached.
        """
        lease = self.lease_for(request)
        release = self._use_turn_of_other(lease)
        if release is None:
            release = partial(self._frontier.release_turn, lease.host)
            if (error := await self.enter(lease)) is not None:
                raise refusal(request, error)
        request.meta[TURN] = lease.host
        try:
            yield lease.host
        finally:
            release(request.meta.get(FETCH_ENDED) or now())

    def _use_turn_of_other(self, lease: Lease) -> Callable[[float], None] | None:
        """Use the turn of the request that waits for this one, if it has one at the same host.

        Returns what to call when the turn is over; None: it can't be used.
        """
        other = passing.get()
        if other is None or not has_turn(other) or _host_of_turn(other) != lease.host:
            return None
        if LEASE not in other.meta:
            # Who has taken the turn releases it.
            return lambda moment: None
        other.meta[FETCH_STARTED] = now()
        release = partial(self._frontier.landed, other.meta[LEASE])
        verdict = self._verdict(lease)
        if verdict is None:
            return release
        if asyncio.iscoroutine(verdict):
            verdict.close()
        # It is denied, or robots.txt is to be asked: in a turn of its own.
        release(0)
        return None

    def lease_for(self, request: Request) -> Lease:
        """What the gatekeeper is asked about."""
        host = self._frontier.host_of(request.url)
        return Lease(request.url, request.url, host, depth=0, referrer=None, request=request)

    async def enter(self, lease: Lease) -> str | None:
        """Take a turn at the host. Returns why the request may not be made: then it has none."""
        while True:
            await self._take_turn(lease.host)
            verdict = self._verdict(lease)
            if verdict is None:
                return None
            answered_at: float | None = NOT_ASKED
            try:
                if isinstance(verdict, str):
                    return verdict
                answered_at = None
                answered_at = await verdict
            except Exception as error:
                logger.warning("No verdict on %s: %s", lease.url, error, exc_info=True)
                return f"failed: the gatekeeper raised {type(error).__name__}"
            finally:
                # What was not asked counts as long ago.
                self._frontier.release_turn(lease.host, max(answered_at or now(), 0))

    async def _take_turn(self, host: str) -> None:
        # The gate tells how long it takes, and has no event for it.
        while wait := self._frontier.acquire_turn(host, now()):  # noqa: ASYNC110
            await asyncio.sleep(wait)


def _host_of_turn(request: Request) -> str | None:
    lease: Lease | None = request.meta.get(LEASE)
    return request.meta.get(TURN) if lease is None else lease.host
