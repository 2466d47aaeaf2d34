"""Scrapy's signals, sent with less ado: eight of them for every page.

Scrapy finds a signal's receivers by three exceptions, and makes a task of each receiver of
``item_scraped``: together a twentieth of what a page costs here. Who is called, with what,
and what comes of an error is the same.
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
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    Receiver = Callable[..., Any]
    Errors = tuple[type[BaseException], ...]

# Who looks for errors of receivers, or filters them, knows them by this name.
logger = logging.getLogger("scrapy.utils.signal")


class Signals(SignalManager):
    """In place of ``crawler.signals``. Who is connected is pydispatch's knowledge, not its own."""

    def is_heard(self, *wanted: Any) -> bool:
        """Whether anybody would get one of these signals."""
        anything = dispatcher.Any
        for speaker in (self.sender, anything):
            heard = dispatcher.connections.get(id(speaker))
            # What nobody hears any more is not there.
            if heard and not heard.keys().isdisjoint((*wanted, anything)):
                return True
        return False

    def send_catch_log(self, signal: Any, **named: Any) -> list[tuple[Any, Any]]:
        sender = named.setdefault("sender", self.sender)
        places = _places(sender, signal)
        if not places:
            return []
        answers: list[tuple[Any, Any]] = []
        quiet: Errors = (StopDownload, *_quiet(named)) if "dont_log" in named else (StopDownload,)
        named["signal"] = signal
        # One by one: a receiver may connect others, and disconnect them.
        for receiver in _receivers(places):
            try:
                answer = _call(receiver, named)
                if answer is not None and isinstance(answer, Deferred):
                    logger.error(
                        "Cannot return deferreds from signal handler: %(receiver)s",
                        {"receiver": receiver},
                        extra={"spider": named.get("spider")},
                    )
            except quiet:
                answer = Failure()
            except Exception:  # a team's receiver may raise anything, and the others are called
                answer = Failure()
                _report(receiver, named)
            answers.append((receiver, answer))
        return answers

    async def send_catch_log_async(self, signal: Any, **named: Any) -> list[tuple[Any, Any]]:
        sender = named.setdefault("sender", self.sender)
        receivers = list(_receivers(_places(sender, signal)))
        if not all(map(_answers_at_once, receivers)):
            return await super().send_catch_log_async(signal, **named)
        quiet = _quiet(named)
        named["signal"] = signal
        unsaid: Errors = (*quiet, asyncio.CancelledError)
        answers: list[Any] = []
        # Those that are still to come, and their places.
        late = {}
        for place, receiver in enumerate(receivers):
            try:
                answer = _call(receiver, named)
            except unsaid as error:
                answer = error
            except Exception as error:
                answer = error
                _report(receiver, named)
            else:
                if answer is not None and (isawaitable(answer) or isinstance(answer, Deferred)):
                    late[place] = _settled(receiver, answer, named, quiet)
            answers.append(answer)
        if late:
            settled = await asyncio.gather(*late.values(), return_exceptions=True)
            for place, answer in zip(late, settled, strict=True):
                answers[place] = answer
        return list(zip(receivers, answers, strict=True))


def _places(sender: Any, signal: Any) -> list[list[Any]]:
    """Where pydispatch has the receivers of a signal: most have none."""
    places = []
    anything = dispatcher.Any
    for speaker in (sender, anything):
        heard = dispatcher.connections.get(id(speaker))
        if heard:
            if found := heard.get(signal):
                places.append(found)
            if found := heard.get(anything):
                places.append(found)
    return places


def _receivers(places: list[list[Any]]) -> Iterator[Receiver]:
    """As pydispatch has them: each once, and none that is gone."""
    met = set()
    for place in places:
        for connected in place:
            # Nearly all are of this kind, and what pydispatch asks it takes four calls.
            if type(connected) is BoundMethodWeakref:
                owner, function = connected.weakSelf(), connected.weakFunc()
                if owner is not None and function is not None and connected not in met:
                    met.add(connected)
                    yield MethodType(function, owner)
                continue
            try:
                if not connected or connected in met:
                    continue
                met.add(connected)
            except TypeError:  # it has no hash
                continue
            yield from dispatcher.liveReceivers((connected,))


def _code_of(receiver: Receiver) -> CodeType | None:
    """The code of a function or method; None for whatever else can be called."""
    function = receiver.__func__ if type(receiver) is MethodType else receiver
    return function.__code__ if type(function) is FunctionType else None


def _answers_at_once(receiver: Receiver) -> bool:
    code = _code_of(receiver)
    return code is not None and not code.co_flags & CO_COROUTINE


def _call(receiver: Receiver, named: dict[str, Any]) -> Any:
    """Call it with what it has parameters for."""
    code = _code_of(receiver)
    if code is None or code.co_flags & CO_VARKEYWORDS:
        return robustApply(receiver, **named)
    accepted, pick = _accepted(code, type(receiver) is MethodType)
    try:
        _, _, *values = pick(named)
    except KeyError:  # not all of them are told
        return receiver(**{name: named[name] for name in accepted if name in named})
    return receiver(*values)


# By the code, which does not keep a receiver's owner from being forgotten.
@lru_cache
def _accepted(code: CodeType, is_bound: bool) -> tuple[Sequence[str], itemgetter[Any]]:
    """The names of its parameters, and what picks their values."""
    accepted = code.co_varnames[is_bound : code.co_argcount]
    # With two more that every signal has: of less than two, it would make no tuple.
    return accepted, itemgetter("signal", "sender", *accepted)


def _quiet(named: dict[str, Any]) -> Errors:
    quiet = named.pop("dont_log", None)
    if quiet is None:
        return ()
    return tuple(quiet) if isinstance(quiet, Sequence) else (quiet,)


async def _settled(receiver: Receiver, answer: Any, named: dict[str, Any], quiet: Errors) -> Any:
    """What came of what it returned."""
    try:
        return await ensure_awaitable(answer, _warn=global_object_name(receiver))
    except quiet as error:
        return error
    except Exception as error:
        _report(receiver, named)
        return error


def _report(receiver: Receiver, named: dict[str, Any]) -> None:
    logger.error(
        "Error caught on signal handler: %(receiver)s",
        {"receiver": receiver},
        exc_info=True,
        extra={"spider": named.get("spider")},
    )
