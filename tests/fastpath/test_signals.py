"""Signals go where Scrapy's own would go, and an error in a receiver harms nobody."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import TYPE_CHECKING, Any

import pytest
from pydispatch import dispatcher
from scrapy.exceptions import CloseSpider, ScrapyDeprecationWarning, StopDownload
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import deferred_f_from_coro_f
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from crawlproject.fastpath.signals import FastSignalManager

if TYPE_CHECKING:
    from collections.abc import Iterator


SIGNAL = object()
OTHER = object()


class Sender:
    pass


class Receiver:
    def __init__(self) -> None:
        self.got: list[Any] = []

    def hear(self, item: Any) -> str:
        self.got.append(item)
        return "heard"

    def hear_all(self, **named: Any) -> None:
        self.got.append(named)

    def fail(self, error: Exception) -> None:
        raise error


@pytest.fixture(params=[FastSignalManager, SignalManager])
def signals(request: pytest.FixtureRequest) -> Iterator[SignalManager]:
    """Ours, and Scrapy's, which it is to be like."""
    manager = request.param(Sender())
    yield manager
    for signal in (SIGNAL, OTHER, dispatcher.Any):
        manager.disconnect_all(signal)


def test_a_signal_that_nobody_hears_has_no_answers(signals: SignalManager) -> None:
    receiver = Receiver()
    signals.connect(receiver.hear, OTHER)
    assert signals.send_catch_log(SIGNAL, item=1) == []
    assert receiver.got == []


def test_each_receiver_gets_what_it_has_a_parameter_for(signals: SignalManager) -> None:
    receiver = Receiver()
    signals.connect(receiver.hear, SIGNAL)
    signals.connect(receiver.hear_all, SIGNAL)
    answers = signals.send_catch_log(SIGNAL, item=1, spider=2)
    assert answers == [(receiver.hear, "heard"), (receiver.hear_all, None)]
    everything = {"item": 1, "spider": 2, "signal": SIGNAL, "sender": signals.sender}
    assert receiver.got == [1, everything]


def test_who_hears_every_signal_or_every_sender_hears_this_one_once(
    signals: SignalManager,
) -> None:
    receiver = Receiver()
    signals.connect(receiver.hear, SIGNAL)
    signals.connect(receiver.hear, dispatcher.Any)
    signals.connect(receiver.hear, SIGNAL, sender=dispatcher.Any)
    stranger = Receiver()
    signals.connect(stranger.hear, SIGNAL, sender=Sender())
    assert signals.send_catch_log(SIGNAL, item=1) == [(receiver.hear, "heard")]
    assert stranger.got == []


def test_a_callable_object_and_a_function_hear_too(signals: SignalManager) -> None:
    class Callable:
        def __call__(self, item: Any) -> Any:
            return item + 1

    def function() -> str:
        return "called"

    receiver = Callable()
    signals.connect(receiver, SIGNAL)
    signals.connect(function, SIGNAL)
    assert [answer for _, answer in signals.send_catch_log(SIGNAL, item=1)] == [2, "called"]


def test_who_is_gone_hears_nothing(signals: SignalManager) -> None:
    receiver = Receiver()
    signals.connect(receiver.hear, SIGNAL)
    del receiver
    gc.collect()
    assert signals.send_catch_log(SIGNAL, item=1) == []


def test_an_error_is_logged_and_the_others_hear(
    signals: SignalManager, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = Receiver()
    signals.connect(receiver.fail, SIGNAL)
    signals.connect(receiver.hear, SIGNAL)
    error = ValueError("broken")
    (_, failure), (_, heard) = signals.send_catch_log(SIGNAL, item=1, error=error)
    assert isinstance(failure, Failure)
    assert failure.value is error
    assert heard == "heard"
    (record,) = caplog.records
    assert record.getMessage().startswith("Error caught on signal handler: <bound method")
    assert record.exc_info
    assert record.exc_info[1] is error


@pytest.mark.parametrize("quiet", [CloseSpider, (KeyError, CloseSpider)])
def test_errors_that_are_expected_are_not_logged(
    signals: SignalManager, caplog: pytest.LogCaptureFixture, quiet: Any
) -> None:
    receiver = Receiver()
    signals.connect(receiver.fail, SIGNAL)
    for error in (CloseSpider("enough"), StopDownload()):
        ((_, failure),) = signals.send_catch_log(SIGNAL, error=error, dont_log=quiet)
        assert failure.value is error
    assert caplog.records == []


def test_a_deferred_is_an_error_where_nobody_waits_for_it(
    signals: SignalManager, caplog: pytest.LogCaptureFixture
) -> None:
    def late() -> Deferred[int]:
        return succeed(1)

    signals.connect(late, SIGNAL)
    signals.send_catch_log(SIGNAL)
    assert "Cannot return deferreds from signal handler" in caplog.text


@deferred_f_from_coro_f
async def test_all_who_take_their_time_are_waited_for_together(signals: SignalManager) -> None:
    meeting = asyncio.Barrier(2)
    receiver = Receiver()

    async def one(item: Any) -> str:
        await meeting.wait()
        return f"one {item}"

    async def two() -> str:
        await meeting.wait()
        return "two"

    signals.connect(one, SIGNAL)
    signals.connect(receiver.hear, SIGNAL)
    signals.connect(two, SIGNAL)
    answers = await signals.send_catch_log_async(SIGNAL, item=1)
    assert answers == [(one, "one 1"), (receiver.hear, "heard"), (two, "two")]


@deferred_f_from_coro_f
async def test_a_deferred_is_waited_for_with_a_warning(signals: SignalManager) -> None:
    def late() -> Deferred[int]:
        return succeed(1)

    signals.connect(late, SIGNAL)
    with pytest.warns(ScrapyDeprecationWarning, match="late returned a Deferred"):
        assert await signals.send_catch_log_async(SIGNAL) == [(late, 1)]


@pytest.mark.parametrize("quiet", [(), ValueError])
@deferred_f_from_coro_f
async def test_an_error_of_who_takes_time_is_the_answer(
    signals: SignalManager, caplog: pytest.LogCaptureFixture, quiet: Any
) -> None:
    receiver, error = Receiver(), ValueError("broken")

    async def fail() -> None:
        await asyncio.sleep(0)
        raise error

    signals.connect(fail, SIGNAL)
    signals.connect(receiver.fail, SIGNAL)
    answers = await signals.send_catch_log_async(SIGNAL, error=error, dont_log=quiet)
    assert answers == [(fail, error), (receiver.fail, error)]
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == (0 if quiet else 2)


def test_what_is_returned_is_no_error_whatever_it_is(signals: SignalManager) -> None:
    def answer() -> Exception:
        return ValueError("returned")

    signals.connect(answer, SIGNAL)
    ((_, returned),) = signals.send_catch_log(SIGNAL)
    assert isinstance(returned, ValueError)


def test_the_object_of_a_method_is_not_taken_for_an_argument(signals: SignalManager) -> None:
    class Odd:
        def hear(item, spider: Any) -> Any:  # noqa: N805
            return spider

    receiver = Odd()
    signals.connect(receiver.hear, SIGNAL)
    assert signals.send_catch_log(SIGNAL, item=1, spider=2) == [(receiver.hear, 2)]


def test_what_has_no_hash_is_not_called_and_harms_nobody(signals: SignalManager) -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self) -> str:
            return "called"

    receiver, unhashable = Receiver(), Unhashable()
    signals.connect(unhashable, SIGNAL, weak=False)
    signals.connect(receiver.hear, SIGNAL)
    assert signals.send_catch_log(SIGNAL, item=1) == [(receiver.hear, "heard")]


def test_who_is_disconnected_by_another_is_not_called(signals: SignalManager) -> None:
    receiver = Receiver()

    def first() -> None:
        signals.disconnect(receiver.hear, SIGNAL)

    signals.connect(first, SIGNAL)
    signals.connect(receiver.hear, SIGNAL)
    assert signals.send_catch_log(SIGNAL, item=1) == [(first, None)]


@pytest.mark.parametrize("is_late", [False, True])
@deferred_f_from_coro_f
async def test_who_is_cancelled_stops_nobody_else(signals: SignalManager, is_late: bool) -> None:
    receiver = Receiver()
    cancelled = asyncio.get_running_loop().create_future()
    cancelled.cancel()

    def first() -> Any:
        if is_late:
            return cancelled
        raise asyncio.CancelledError

    signals.connect(first, SIGNAL)
    signals.connect(receiver.hear, SIGNAL)
    answers = await signals.send_catch_log_async(SIGNAL, item=1)
    assert answers[1] == (receiver.hear, "heard")
