from __future__ import annotations

import errno
import re
import ssl

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.error import ConnectionRefusedError as TwistedRefused

from crawlproject import failures
from crawlproject.failures import (
    WORDS,
    NameNotResolved,
    NotHttp,
    Unresolved,
    Verdict,
    error_of,
    is_bug,
    unsent,
)
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
        (IgnoreRequest("exceeded DOWNLOAD_MAXSIZE (100 B)"), "too large"),
        (IgnoreRequest("not  licensed\r\n\x1b[31m"), "ignored: not licensed [31m"),
        (IgnoreRequest("x" * 1000), f"ignored: {'x' * 200}"),
        (IgnoreRequest(), "ignored"),
        (HttpError(Response("http://a.test/", status=404)), "unexpected status 404"),
        (StopDownload(), "ignored: the download was stopped"),
        (ZeroDivisionError(), "unreadable: ZeroDivisionError"),
    ],
)
def test_every_failure_has_a_word(exception: Exception, error: str) -> None:
    assert error_of(exception) == error
    assert is_bug(exception) == (error == "unreadable: ZeroDivisionError")


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
    assert str(failure.__cause__.strerror) == f"lookup of a.test: {reason}"


@pytest.mark.parametrize(
    ("kind", "cause", "error"),
    [
        (DownloadFailedError, ssl.SSLCertVerificationError(), "tls"),
        (DownloadFailedError, NotHttp("x"), "unreadable: not HTTP"),
        (DownloadFailedError, ConnectionResetError(), "connection lost"),
        (DownloadFailedError, ValueError(), "connection lost"),
        (DownloadConnectionRefusedError, OSError(errno.ECONNREFUSED, ""), "connection refused"),
        (DownloadConnectionRefusedError, OSError(errno.EHOSTUNREACH, ""), "connection lost"),
        # Of Scrapy's handler on Twisted.
        (DownloadConnectionRefusedError, TwistedRefused(), "connection refused"),
    ],
)
def test_a_failed_download_is_named_by_its_cause(
    kind: type[Exception], cause: Exception, error: str
) -> None:
    failure = kind()
    failure.__cause__ = cause
    assert error_of(failure) == error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("robots", IgnoreRequest),
        ("robots: unexpected status 503", IgnoreRequest),
        ("no PDF: our own rule", IgnoreRequest),
        ("timeout", DownloadTimeoutError),
        ("dns: timed out", CannotResolveHostError),
        ("connection refused", DownloadConnectionRefusedError),
        ("connection lost", DownloadFailedError),
        ("tls", DownloadFailedError),
    ],
)
def test_a_request_to_a_host_that_cannot_be_reached_fails_as_a_download(
    error: str, kind: type[Exception]
) -> None:
    failure = unsent(error)
    assert isinstance(failure, kind)
    assert isinstance(failure, IgnoreRequest) == (kind is IgnoreRequest)
    assert error_of(failure) == error
    assert not is_bug(failure)
