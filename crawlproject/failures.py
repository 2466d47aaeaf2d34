"""Why a page could not be had, in the fixed words of ``Page.error``.

| error | what happened |
|---|---|
| ``unexpected status N`` | an answer outside 2xx that is no redirect |
| ``timeout`` | no complete answer within DOWNLOAD_TIMEOUT |
| ``dns`` | the host's name has no address; with a detail, its name servers did not say |
| ``connection refused``, ``connection lost`` | nobody listens; the server hung up |
| ``truncated`` | the body is shorter than announced, or ends inside its compression |
| ``tls`` | no secure connection, or a certificate that can't be trusted |
| ``too large`` | more than DOWNLOAD_MAXSIZE, also after decompression |
| ``robots`` | robots.txt says no, or could not be had |
| ``redirect loop``, ``too many redirects``, ``bad redirect`` | a redirect that leads nowhere |
| ``internal address`` | the host leads into a private network that the seeds don't open |
| ``unreadable`` | an answer that is no HTTP, that we failed to read, or not in time |
| ``failed`` | an injected fetch function returned nothing or raised |

A detail may follow after a colon. Any other word is the verdict of a team's own gatekeeper, or
``ignored``: a middleware of the team's has raised IgnoreRequest, with the detail as its message.
"""

from __future__ import annotations

import errno
import re
import ssl
from enum import StrEnum

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

from crawlproject.redaction import SECRETS

# Errors of a fetch that say all in their message: no traceback is needed to understand them.
FETCH_ERRORS = (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)

WORDS = frozenset(
    {
        "timeout",
        "dns",
        "connection refused",
        "connection lost",
        "truncated",
        "tls",
        "too large",
        "robots",
        "redirect loop",
        "too many redirects",
        "bad redirect",
        "internal address",
        "unreadable",
        "failed",
    }
)

_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (DownloadTimeoutError, "timeout"),
    # The only ones who cancel a download are the size limits.
    (DownloadCancelledError, "too large"),
    (ResponseDataLossError, "truncated"),
    (OSError, "connection lost"),
)


_NOT_HTTP = "unreadable: not HTTP"
_IGNORED = "ignored"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
# Characters of a message that are shown.
_MOST_CHARACTERS = 200

_MEANINGS = {
    "timeout": "no complete answer in time",
    "dns": "its name has no address",
    "connection refused": "nobody listens there",
    "tls": "no secure connection, or a certificate that can't be trusted",
    "robots": "robots.txt forbids it",
    "internal address": "it is in a private network",
}


def explain(error: str) -> str:
    """A page's error, with what it means where the word alone may puzzle."""
    meaning = _MEANINGS.get(error)
    return f"{error} ({meaning})" if meaning else error


class _Unsent(Exception):
    """The outcome of a request is known without sending it: ``error`` is its word."""

    def __init__(self, error: str, message: str | None = None) -> None:
        super().__init__(message or error)
        self.error = error


class Verdict(_Unsent, IgnoreRequest):
    """The request may not be made, or its page is not to be read."""


# The host of a request can't be reached: nor could its robots.txt. Errbacks and middlewares know
# the failure by Scrapy's class.


class UnsentTimeoutError(_Unsent, DownloadTimeoutError):
    pass


class UnsentResolveError(_Unsent, CannotResolveHostError):
    pass


class UnsentRefusedError(_Unsent, DownloadConnectionRefusedError):
    pass


class UnsentFailedError(_Unsent, DownloadFailedError):
    pass


_UNSENT: dict[str, type[_Unsent]] = {
    "timeout": UnsentTimeoutError,
    "dns": UnsentResolveError,
    "connection refused": UnsentRefusedError,
    "connection lost": UnsentFailedError,
    "tls": UnsentFailedError,
}


def unsent(error: str) -> Exception:
    """The exception for a request that is not sent, from the word for the reason."""
    kind = _UNSENT.get(error.partition(":")[0])
    return Verdict(error) if kind is None else kind(error, f"{error}, when asked for robots.txt")


class Unresolved(StrEnum):
    """Why the lookup of a name brought no address."""

    # The answer of a name server, or known without one.
    NO_SUCH_NAME = "no such name"
    NO_ADDRESS = "no address"
    BAD_NAME = "bad name"
    # No answer, which may come another time.
    TIMED_OUT = "timed out"
    SERVER_FAILURE = "server failure"
    REFUSED = "refused"
    UNREACHABLE = "server unreachable"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in {Unresolved.NO_SUCH_NAME, Unresolved.NO_ADDRESS, Unresolved.BAD_NAME}


class NameNotResolved(OSError):
    """The lookup of a name brought no address."""

    def __init__(self, name: str, reason: Unresolved) -> None:
        super().__init__(None, f"lookup of {name}: {reason}")
        self.reason = reason


class NotHttp(Exception):
    """What a server sent is not an HTTP/1.x response, or one beyond the limits of its head."""


class NotNow(Exception):
    """Nothing is wrong with the page: it is to be fetched again when the crawl goes on."""


def error_of(exception: BaseException) -> str:
    """The word for a failed download."""
    return _known_error(exception) or f"unreadable: {type(exception).__name__}"


def is_bug(exception: BaseException) -> bool:
    """Whether it is no failure of a fetch: as a rule, a bug of a user's middleware."""
    return _known_error(exception) is None


def _known_error(exception: BaseException) -> str | None:
    if isinstance(exception, _Unsent):
        return exception.error
    if isinstance(exception, DownloadFailedError | DownloadConnectionRefusedError):
        return _failed_download(exception)
    if isinstance(exception, CannotResolveHostError):
        return _failed_lookup(exception)
    if isinstance(exception, ResponseDataLossError) and isinstance(exception.__cause__, NotHttp):
        return _NOT_HTTP
    for kind, error in _KINDS:
        if isinstance(exception, kind):
            return error
    if isinstance(exception, IgnoreRequest):
        return _ignored(exception)
    if isinstance(exception, StopDownload):
        return f"{_IGNORED}: the download was stopped"
    return None


def _ignored(exception: IgnoreRequest) -> str:
    if (response := getattr(exception, "response", None)) is not None:
        # Scrapy's HttpErrorMiddleware, where a team has put it back.
        return f"unexpected status {response.status}"
    message = str(exception)
    if "DOWNLOAD_MAXSIZE" in message:
        # Scrapy's HttpCompressionMiddleware, the same.
        return "too large"
    text = " ".join(_CONTROL.sub(" ", SECRETS.clean(message)).split())[:_MOST_CHARACTERS]
    return f"{_IGNORED}: {text}" if text else _IGNORED


def _failed_lookup(exception: CannotResolveHostError) -> str:
    cause = exception.__cause__
    if isinstance(cause, NameNotResolved) and not cause.reason.is_final:
        return f"dns: {cause.reason}"
    return "dns"


def _failed_download(exception: BaseException) -> str:
    cause = exception.__cause__
    if isinstance(cause, ssl.SSLError):
        return "tls"
    if isinstance(cause, NotHttp):
        return _NOT_HTTP
    if isinstance(exception, DownloadConnectionRefusedError) and (
        not isinstance(cause, OSError) or cause.errno == errno.ECONNREFUSED
    ):
        return "connection refused"
    return "connection lost"
