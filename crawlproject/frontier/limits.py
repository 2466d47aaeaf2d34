"""The limits of hosts, from settings: Scrapy's, and our own exceptions and rate.

Settings read: ``DOWNLOAD_DELAY``, ``DOWNLOAD_DELAY_JITTER`` (``RANDOMIZE_DOWNLOAD_DELAY``),
``CONCURRENT_REQUESTS_PER_DOMAIN``, ``POLITENESS_RATE``, ``AUTOTHROTTLE_*``; for single hosts
``DOWNLOAD_SLOTS`` and ``POLITENESS_HOSTS``.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from crawlproject.frontier.hosts import HostLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.settings import BaseSettings

_DELAY, _RATE = "DOWNLOAD_DELAY", "POLITENESS_RATE"
_CONCURRENCY = "CONCURRENT_REQUESTS_PER_DOMAIN"
_TARGET = "AUTOTHROTTLE_TARGET_CONCURRENCY"
_JITTER, _OLD_JITTER = "DOWNLOAD_DELAY_JITTER", "RANDOMIZE_DOWNLOAD_DELAY"
# What RANDOMIZE_DOWNLOAD_DELAY, and randomize_delay of a slot, mean.
_RANDOMIZED = 0.5


def complete_limits(settings: BaseSettings, defaults: str) -> None:
    """Adapt what the user has not set to what the user has set.

    ``defaults`` is the priority of our own defaults. A rate replaces the default delay. With a
    rate or a concurrency, AutoThrottle aims at that concurrency.
    """

    def is_set(name: str) -> bool:
        return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES[defaults]

    has_rate = settings.getfloat(_RATE) > 0
    if has_rate and not is_set(_DELAY):
        settings.set(_DELAY, 0.0, defaults)
    if (has_rate or is_set(_CONCURRENCY)) and not is_set(_TARGET):
        target = max(settings.getfloat(_TARGET), settings.getint(_CONCURRENCY))
        settings.set(_TARGET, float(target), defaults)


def limits_from(settings: BaseSettings) -> Callable[[str], HostLimits]:
    """The limits of each host, before anything is known about it."""
    is_throttled = settings.getbool("AUTOTHROTTLE_ENABLED") and settings.getfloat(_TARGET) > 0
    usual = HostLimits(
        delay=settings.getfloat(_DELAY),
        concurrency=settings.getint(_CONCURRENCY),
        start_delay=settings.getfloat("AUTOTHROTTLE_START_DELAY") if is_throttled else 0.0,
        max_throttle=settings.getfloat("AUTOTHROTTLE_MAX_DELAY") if is_throttled else 0.0,
        rate=settings.getfloat(_RATE),
        jitter=_jitter(settings),
        target=settings.getfloat(_TARGET) if is_throttled else float("inf"),
    )
    slots: dict[str, dict[str, Any]] = settings.getdict("DOWNLOAD_SLOTS")
    exceptions: dict[str, dict[str, Any]] = settings.getdict("POLITENESS_HOSTS")
    special = {
        host: _bounded(_excepted(usual, _of_slot(slots.get(host, {})), exceptions.get(host, {})))
        for host in {*slots, *exceptions}
    }
    others = _bounded(usual)
    return lambda host: special.get(host, others)


def _jitter(settings: BaseSettings) -> float:
    if (settings.getpriority(_OLD_JITTER) or 0) > (settings.getpriority(_JITTER) or 0):
        return _RANDOMIZED if settings.getbool(_OLD_JITTER) else 0.0
    return settings.getfloat(_JITTER)


def _of_slot(slot: dict[str, Any]) -> dict[str, Any]:
    """What Scrapy's DOWNLOAD_SLOTS says of a host."""
    limits: dict[str, Any] = {}
    if "concurrency" in slot:
        limits["concurrency"] = int(slot["concurrency"])
    if "delay" in slot:
        limits["delay"] = float(slot["delay"])
    if "jitter" in slot:
        limits["jitter"] = float(slot["jitter"])
    elif "randomize_delay" in slot:
        limits["jitter"] = _RANDOMIZED if slot["randomize_delay"] else 0.0
    return limits


def _excepted(usual: HostLimits, slot: dict[str, Any], exception: dict[str, Any]) -> HostLimits:
    """As with settings for all hosts: a rate replaces the delay, and a concurrency is a target."""
    if exception.get("rate") and "delay" not in exception:
        # Also that of the slot: Scrapy's slots have no rate, and so the rate as their delay.
        exception = {**exception, "delay": 0.0}
    exception = slot | exception
    limits = usual._replace(**exception)
    if "concurrency" in exception or exception.get("rate"):
        limits = limits._replace(target=max(limits.target, limits.concurrency))
    return limits


def _bounded(limits: HostLimits) -> HostLimits:
    """With a delay, no more are in flight than AutoThrottle aims at.

    AutoThrottle would start one more just when the first one ends, which is too soon for a delay
    that counts from there: the response may be on its way.
    """
    most = ceil(limits.target) if limits.target < limits.concurrency else limits.concurrency
    if limits.delay <= 0 or most >= limits.concurrency:
        return limits
    return limits._replace(concurrency=most, is_target=True)
