"""How a job has ended."""

from __future__ import annotations

import pytest

from crawlproject.service.outcome import outcome


@pytest.mark.parametrize(
    ("exit_status", "was_asked", "reason", "expected"),
    [
        (0, False, "finished", "finished"),
        (0, False, "closespider_timeout", "finished"),
        (0, False, None, "finished"),
        (0, True, "shutdown", "stopped"),
        # By a signal from elsewhere, or all workers of a shared crawl at once.
        (0, False, "shutdown", "stopped"),
        (0, False, "stopped", "stopped"),
        # It came to its end before it could hear of it, or is no spider of ours.
        (0, True, "finished", "finished"),
        (0, True, None, "stopped"),
        (1, False, "finished", "failed"),
        (2, True, None, "failed"),
        (-9, False, None, "killed"),
        (-9, True, "shutdown", "killed"),
        (-15, True, None, "killed"),
        (130, False, None, "killed"),
        # Asked to end while it was starting.
        (-2, True, None, "stopped"),
        (130, True, None, "stopped"),
        # The interpreter had just begun.
        (1, True, None, "stopped"),
    ],
)
def test_outcome(exit_status: int, was_asked: bool, reason: str | None, expected: str) -> None:
    assert outcome(exit_status, was_asked=was_asked, reason=reason) == expected
