from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.frontier import use_frontier
from crawlproject.frontier.base import LEASE, Lease
from crawlproject.politeness.throttle import GateThrottle, next_delay
from tests.frontiers import memory_frontier

if TYPE_CHECKING:
    from crawlproject.frontier.base import Frontier


@pytest.mark.parametrize(
    ("current", "latency", "is_ok", "expected"),
    [
        (0.0, 1.0, True, 1.0),  # slower than thought: at once
        (1.0, 0.2, True, 0.6),  # faster than thought: half-way
        (1.0, 0.2, False, 1.0),  # an error is no reason to go faster
        (0.0, 1.0, False, 1.0),  # but it may be one to go slower
        (0.0, 99.0, True, 30.0),  # never beyond the maximum
    ],
)
def test_the_delay_follows_the_latency(
    current: float, latency: float, is_ok: bool, expected: float
) -> None:
    delay = next_delay(current, latency, target_concurrency=1, maximum=30, is_ok=is_ok)
    assert delay == pytest.approx(expected)


def test_a_higher_target_concurrency_makes_the_pause_shorter() -> None:
    assert next_delay(0, 1.0, target_concurrency=4, maximum=30, is_ok=True) == 0.25


def throttled(settings: dict[str, Any], meta: dict[str, Any], host: str = "a.com") -> Frontier:
    """A frontier after one response with a latency of one second."""
    crawler = get_crawler(
        settings_dict={
            "AUTOTHROTTLE_ENABLED": True,
            "AUTOTHROTTLE_TARGET_CONCURRENCY": 2.0,
            "AUTOTHROTTLE_MAX_DELAY": 30.0,
            **settings,
        }
    )
    frontier = memory_frontier()
    use_frontier(crawler, frontier)
    throttle = build_from_crawler(GateThrottle, crawler)
    url = f"http://{host}/"
    lease = Lease(url, url, host, depth=0, referrer=None)
    request = Request(url, meta={LEASE: lease, "download_latency": 1.0, **meta})
    throttle._response_downloaded(Response(url), request)
    return frontier


def test_a_response_sets_the_delay_of_its_host() -> None:
    assert throttled({}, {}).throttle_delay("a.com") == 0.5


@pytest.mark.parametrize("setting", ["POLITENESS_HOSTS", "DOWNLOAD_SLOTS"])
def test_the_concurrency_of_a_single_host_is_its_target(setting: str) -> None:
    settings = {setting: {"a.com": {"concurrency": 4}}}
    assert throttled(settings, {}).throttle_delay("a.com") == 0.25
    assert throttled(settings, {}, "b.com").throttle_delay("b.com") == 0.5


def test_a_request_may_be_left_out() -> None:
    meta = {"autothrottle_dont_adjust_delay": True}
    assert throttled({}, meta).throttle_delay("a.com") == 0


def test_autothrottle_debug_logs_each_response(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        throttled({"AUTOTHROTTLE_DEBUG": True}, {})
    assert "AutoThrottle on a.com: delay 500 ms (+500), latency 1000 ms" in caplog.text


@pytest.mark.parametrize(
    "settings", [{"AUTOTHROTTLE_ENABLED": False}, {"AUTOTHROTTLE_TARGET_CONCURRENCY": 0}]
)
def test_it_may_be_off(settings: dict[str, Any]) -> None:
    with pytest.raises(NotConfigured):
        throttled(settings, {})
