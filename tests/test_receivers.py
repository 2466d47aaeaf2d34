"""Whether a signal has receivers, with Scrapy's signal manager and with ours."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from pydispatch import dispatcher
from scrapy.signalmanager import SignalManager
from scrapy.utils.test import get_crawler

from crawlproject.fastpath.signals import FastSignalManager
from crawlproject.receivers import has_receivers

SIGNAL = object()
OTHER = object()


class Receiver:
    def receive(self, **arguments: Any) -> None:
        pass


@pytest.mark.parametrize("manager", [SignalManager, FastSignalManager])
def test_a_receiver_counts_until_it_is_disconnected_or_gone(manager: type[SignalManager]) -> None:
    crawler = get_crawler()
    crawler.signals = manager(crawler)
    receiver = Receiver()
    assert not has_receivers(crawler, SIGNAL, OTHER)
    crawler.signals.connect(receiver.receive, OTHER)
    assert not has_receivers(crawler, SIGNAL)
    assert has_receivers(crawler, SIGNAL, OTHER)
    crawler.signals.disconnect(receiver.receive, OTHER)
    assert not has_receivers(crawler, OTHER)
    crawler.signals.connect(receiver.receive, SIGNAL)
    del receiver
    gc.collect()
    assert not has_receivers(crawler, SIGNAL)


def test_a_receiver_of_all_signals_or_of_all_senders_counts() -> None:
    crawler = get_crawler()
    receiver = Receiver()
    crawler.signals.connect(receiver.receive, dispatcher.Any)
    assert has_receivers(crawler, SIGNAL)
    crawler.signals.disconnect(receiver.receive, dispatcher.Any)
    assert not has_receivers(crawler, SIGNAL)
    dispatcher.connect(receiver.receive, SIGNAL, sender=dispatcher.Any)
    assert has_receivers(crawler, SIGNAL)
    dispatcher.disconnect(receiver.receive, SIGNAL, sender=dispatcher.Any)
    assert not has_receivers(crawler, SIGNAL)
