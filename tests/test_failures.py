from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientConnectorDNSError
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
from crawlproject.failures import WORDS, NameNotResolved, Unresolved, Verdict, error_of
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


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        (Unresolved.NO_SUCH_NAME, "dns"),
        (Unresolved.NO_ADDRESS, "dns"),
        (Unresolved.BAD_NAME, "dns"),
        (Unresolved.TIMED_OUT, "dns: timed out"),
        (Unresolved.SERVER_FAILURE, "dns: server failure"),
        (Unresolved.REFUSED, "dns: refused"),
    ],
)
def test_a_name_server_that_did_not_answer_is_told_from_a_name_without_an_address(
    reason: Unresolved, error: str
) -> None:
    failure = CannotResolveHostError()
    failure.__cause__ = NameNotResolved("a.test", reason)
    assert error_of(failure) == error
    key: Any = SimpleNamespace(host="a.test", port=80, ssl=True, is_ssl=False)
    failure.__cause__ = ClientConnectorDNSError(key, NameNotResolved("a.test", reason))
    assert error_of(failure) == error
    assert str(failure.__cause__.os_error.strerror) == f"lookup of a.test: {reason}"
