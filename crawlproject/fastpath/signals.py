"""A SignalManager that sends a signal with fewer calls.

About eight signals are sent for a page. Scrapy finds the receivers of each by three exceptions,
inspects the parameters of each receiver at every call, and makes a task for each receiver of
``item_scraped``. The receivers, their arguments and the handling of their errors are the same.

Without it a page of 25 KB takes 8 % more CPU time (20 instead of 80 µs for its signals, measured
alone).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import lru_cache
from inspect import CO_COROUTINE, CO_VARKEYWORDS, isawaitable
from operator import itemgetter
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher
from pydispatch.robustapply import robustApply
from pydispatch.saferef import BoundMethodWeakref
from scrapy.exceptions import StopDownload
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import ensure_awaitable
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    from scrapy.crawler import Crawler

    Receiver = Callable[..., Any]
    Errors = tuple[type[BaseException], ...]

# Scrapy's own logger name: users filter by it.
logger = logging.getLogger("scrapy.utils.signal")


class FastSignalManager(SignalManager):
    """Replaces ``crawler.signals``. pydispatch keeps the connections, so none get lost."""

    def send_catch_log(self, signal: Any, **arguments: Any) -> list[tuple[Any, Any]]:
        sender = arguments.setdefault("sender", self.sender)
        connected = _connected(sender, signal)
        if not connected:
            return []
        results: list[tuple[Any, Any]] = []
        silent: Errors = (StopDownload,)
        if "dont_log" in arguments:
            silent = (StopDownload, *_silent(arguments))
        arguments["signal"] = signal
        # One by one: a receiver may connect and disconnect others.
        for receiver in _receivers(connected):
            try:
                result = _call(receiver, arguments)
                if result is not None and isinstance(result, Deferred):
                    logger.error(
                        "Cannot return deferreds from signal handler: %(receiver)s",
                        {"receiver": receiver},
                        extra={"spider": arguments.get("spider")},
                    )
            except silent:
                result = Failure()
            except Exception:  # a receiver may raise anything; the others are called all the same
                result = Failure()
                _log_error(receiver, arguments)
            results.append((receiver, result))
        return results

    async def send_catch_log_async(self, signal: Any, **arguments: Any) -> list[tuple[Any, Any]]:
        sender = arguments.setdefault("sender", self.sender)
        receivers = list(_receivers(_connected(sender, signal)))
        if not all(map(_is_synchronous, receivers)):
            return await super().send_catch_log_async(signal, **arguments)
        silent = _silent(arguments)
        arguments["signal"] = signal
        not_logged: Errors = (*silent, asyncio.CancelledError)
        results: list[Any] = []
        # Awaitables that receivers returned, by the index of the receiver.
        awaitables = {}
        for index, receiver in enumerate(receivers):
            try:
                result = _call(receiver, arguments)
            except not_logged as error:
                result = error
            except Exception as error:
                result = error
                _log_error(receiver, arguments)
            else:
                if result is not None and (isawaitable(result) or isinstance(result, Deferred)):
                    awaitables[index] = _awaited(receiver, result, arguments, silent)
            results.append(result)
        if awaitables:
            awaited = await asyncio.gather(*awaitables.values(), return_exceptions=True)
            for index, result in zip(awaitables, awaited, strict=True):
                results[index] = result
        return list(zip(receivers, results, strict=True))


def install(crawler: Crawler) -> None:
    """Replace Scrapy's own manager, and no other."""
    if type(crawler.signals) is SignalManager:
        crawler.signals = FastSignalManager(crawler)


def _connected(sender: Any, signal: Any) -> list[list[Any]]:
    """Return pydispatch's lists of receivers for a signal. Most signals have none."""
    lists = []
    for source in (sender, dispatcher.Any):
        by_signal = dispatcher.connections.get(id(source))
        if by_signal:
            if found := by_signal.get(signal):
                lists.append(found)
            if found := by_signal.get(dispatcher.Any):
                lists.append(found)
    return lists


def _receivers(lists: list[list[Any]]) -> Iterator[Receiver]:
    """Yield each live receiver once, in pydispatch's order."""
    seen = set()
    for connected in lists:
        for reference in connected:
            # Nearly all are of this type. pydispatch dereferences it by four calls.
            if type(reference) is BoundMethodWeakref:
                owner, function = reference.weakSelf(), reference.weakFunc()
                if owner is not None and function is not None and reference not in seen:
                    seen.add(reference)
                    yield MethodType(function, owner)
                continue
            try:
                if not reference or reference in seen:
                    continue
                seen.add(reference)
            except TypeError:  # not hashable
                continue
            yield from dispatcher.liveReceivers((reference,))


def _code_of(receiver: Receiver) -> CodeType | None:
    """Return the code of a function or method, None for other callables."""
    function = receiver.__func__ if type(receiver) is MethodType else receiver
    return function.__code__ if type(function) is FunctionType else None


def _is_synchronous(receiver: Receiver) -> bool:
    code = _code_of(receiver)
    return code is not None and not code.co_flags & CO_COROUTINE


def _call(receiver: Receiver, arguments: dict[str, Any]) -> Any:
    """Call a receiver with those arguments that it has parameters for."""
    code = _code_of(receiver)
    if code is None or code.co_flags & CO_VARKEYWORDS:
        return robustApply(receiver, **arguments)
    names, pick = _parameters(code, type(receiver) is MethodType)
    try:
        _, _, *values = pick(arguments)
    except KeyError:  # the signal does not have all of them
        return receiver(**{name: arguments[name] for name in names if name in arguments})
    return receiver(*values)


# Keyed by the code object, which does not keep the receiver's owner alive.
@lru_cache
def _parameters(code: CodeType, is_bound: bool) -> tuple[Sequence[str], itemgetter[Any]]:
    """Return the names of the parameters, and a getter of their values."""
    names = code.co_varnames[is_bound : code.co_argcount]
    # With two arguments that every signal has: an itemgetter of fewer than two returns no tuple.
    return names, itemgetter("signal", "sender", *names)


def _silent(arguments: dict[str, Any]) -> Errors:
    silent = arguments.pop("dont_log", None)
    if silent is None:
        return ()
    return tuple(silent) if isinstance(silent, Sequence) else (silent,)


async def _awaited(
    receiver: Receiver, result: Any, arguments: dict[str, Any], silent: Errors
) -> Any:
    try:
        # With a name, it warns if the result is a Deferred, as Scrapy does.
        return await ensure_awaitable(result, _warn=_name_of(receiver))
    except silent as error:
        return error
    except Exception as error:
        _log_error(receiver, arguments)
        return error


def _name_of(receiver: Receiver) -> str:
    return f"{receiver.__module__}.{receiver.__qualname__}"


def _log_error(receiver: Receiver, arguments: dict[str, Any]) -> None:
    logger.error(
        "Error caught on signal handler: %(receiver)s",
        {"receiver": receiver},
        exc_info=True,
        extra={"spider": arguments.get("spider")},
    )
