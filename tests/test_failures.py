from __future__ import annotations

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)

from crawlproject.failures import Verdict, error_of


@pytest.mark.parametrize(
    ("exception", "error"),
    [
        (Verdict("robots"), "robots"),
        (DownloadTimeoutError(), "timeout"),
        (CannotResolveHostError(), "dns"),
        (DownloadConnectionRefusedError(), "connection refused"),
        (DownloadCancelledError(), "too large"),
        (ResponseDataLossError(), "truncated"),
        (DownloadFailedError(), "connection lost"),
        (OSError(), "connection lost"),
        (IgnoreRequest(), "too large"),
        (ZeroDivisionError(), "unreadable: ZeroDivisionError"),
    ],
)
def test_every_failure_has_a_word(exception: Exception, error: str) -> None:
    assert error_of(exception) == error
