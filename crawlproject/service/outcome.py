"""How a job has ended, by what its process and its last snapshot say. Pure."""

from __future__ import annotations

from signal import SIGINT

from crawlproject.service.book import Status

# Scrapy's words for an end that was asked for.
_ASKED_FOR = ("shutdown", "stopped")
# What ``scrapy crawl`` ends with when it was asked twice.
_CUT_SHORT = 130
# How a process ends that was asked to before it could hear of it.
_BEFORE_THE_BEGINNING = (-SIGINT, _CUT_SHORT)


def outcome(exit_status: int, *, was_asked: bool, reason: str | None) -> Status:
    """``exit_status`` is negative for a signal; ``reason``: why the crawl ended, in its words, or
    None if it said nothing.
    """
    # An interpreter that is interrupted while it starts ends with 1.
    if was_asked and (exit_status in _BEFORE_THE_BEGINNING or (exit_status == 1 and not reason)):
        return Status.STOPPED
    if exit_status < 0 or exit_status == _CUT_SHORT:
        return Status.KILLED
    if exit_status:
        return Status.FAILED
    is_stopped = was_asked if reason is None else reason in _ASKED_FOR
    return Status.STOPPED if is_stopped else Status.FINISHED
