from __future__ import annotations

import re

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

from crawlproject import failures
from crawlproject.failures import WORDS, Verdict, error_of
from tests.crawling import PROJECT


def test_the_words_are_those_of_the_docs() -> None:
    usage = (PROJECT / "docs/usage.md").read_text().partition("| `error` | what happened |")[2]
    for table in (failures.__doc__ or "", usage.partition("\n\n")[0]):
        rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
        words = set(re.findall(r"`+([^`]+)`+", " ".join(rows)))
        assert words - {"unexpected status N"} == WORDS


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
