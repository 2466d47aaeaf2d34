"""Scrapy's signals, sent with less ado: eight of them for every page.

Scrapy finds a signal's receivers by three exceptions, and makes a task of each receiver of
``item_scraped``: together a twentieth of what a page costs here. What a receiver gets, and
what comes of an error in it, is the same.
"""

from __future__ import annotations

import asyncio
import logging
from inspect import CO_VARKEYWORDS, isawaitable
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher
from pydispatch.robustapply import robustApply
from scrapy.exceptions import StopDownload
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    Receiver = Callable[..., Any]
    Quiet = tuple[type[Exception], ...]

logger = logging.getLogger(__name__)


class Signals(SignalManager):
    """In place of ``crawler.signals``. Who is connected is pydispatch's knowledge, not its own."""

    def send_catch_log(self, signal: Any, **named: Any) -> list[tuple[Any, Any]]:
        receivers = _receivers(named.setdefault("sender", self.sender), signal)
        if not receivers:
            return []
        quiet = (*_quiet(named), StopDownload)
        named["signal"] = signal
        answers = []
        for receiver in receivers:
            answer = _call(receiver, named, quiet)
            if isinstance(answer, Exception):
                answer = Failure(answer)  # type: ignore[no-untyped-call]
            elif isinstance(answer, Deferred):
                logger.error("Cannot return deferreds from signal handler: %s", receiver)
            answers.append((receiver, answer))
        return answers

    async def send_catch_log_async(self, signal: Any, **named: Any) -> list[tuple[Any, Any]]:
        receivers = _receivers(named.setdefault("sender", self.sender), signal)
        quiet = _quiet(named)
        named["signal"] = signal
        answers = [(receiver, _call(receiver, named, quiet)) for receiver in receivers]
        if any(isawaitable(answer) or isinstance(answer, Deferred) for _, answer in answers):
            waiting = [_settled(receiver, answer, named, quiet) for receiver, answer in answers]
            answers = await asyncio.gather(*waiting)
        return answers


def _receivers(sender: Any, signal: Any) -> list[Receiver]:
    found: list[Receiver] = []
    for senders in (sender, dispatcher.Any):
        heard = dispatcher.connections.get(id(senders))
        if heard:
            for signals in (signal, dispatcher.Any):
                if signals in heard:
                    found += dispatcher.liveReceivers(heard[signals])
    return found if len(found) < 2 else list(dict.fromkeys(found))


def _quiet(named: dict[str, Any]) -> Quiet:
    quiet = named.pop("dont_log", ())
    return (quiet,) if isinstance(quiet, type) else tuple(quiet)


def _call(receiver: Receiver, named: dict[str, Any], quiet: Quiet) -> Any:
    """What it returned, or raised."""
    code = getattr(getattr(receiver, "__func__", receiver), "__code__", None)
    try:
        if code is None or code.co_flags & CO_VARKEYWORDS:
            return robustApply(receiver, **named)
        accepted = code.co_varnames[: code.co_argcount]
        return receiver(**{name: named[name] for name in accepted if name in named})
    except Exception as error:
        return _caught(error, receiver, named, quiet)


async def _settled(
    receiver: Receiver, answer: Any, named: dict[str, Any], quiet: Quiet
) -> tuple[Receiver, Any]:
    """The receiver, with what came of what it returned."""
    try:
        return receiver, await ensure_awaitable(answer, _warn=global_object_name(receiver))
    except Exception as error:
        return receiver, _caught(error, receiver, named, quiet)


def _caught(error: Exception, receiver: Receiver, named: dict[str, Any], quiet: Quiet) -> Exception:
    if not isinstance(error, quiet):
        logger.error(
            "Error caught on signal handler: %(receiver)s",
            {"receiver": receiver},
            exc_info=error,
            extra={"spider": named.get("spider")},
        )
    return error
