"""JSON over HTTP: routes, bodies, errors with the right status.

A service of scrapyd is a resource of Twisted's, made with the root of the site. One of ours is a
table of routes: what a path and a method lead to. What a handler returns is the answer; what it
raises as Refused is a line about what was wrong.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from crawlproject.errors import BadInput
from crawlproject.records import json_encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twisted.web.server import Request

    Handler = Callable[..., Any]

log = Logger()

JSON = b"application/json"
# Bytes of a body, at most.
MOST_BYTES = 1024 * 1024
_DIGITS = 20
# What a part of a route stands for that is not fixed.
ANY = None

_write = json_encoder("utf-8")


class Refused(Exception):
    """A request that can't be answered as asked, with the status that says so."""

    def __init__(self, status: HTTPStatus, problem: str, **headers: str) -> None:
        super().__init__(problem)
        self.status = status
        self.headers = headers


class Answer(NamedTuple):
    value: Any
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = {}


class Route(NamedTuple):
    method: str
    # Below the service's own name.
    path: tuple[str | None, ...]
    # Called with the request, and what stands in the open places of the path.
    handler: Handler


class Routes(Resource, ABC):
    """A service. Its routes are found by ``routes``, once."""

    isLeaf = True

    def __init__(self, root: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.root = root
        self._routes = self.routes()

    @abstractmethod
    def routes(self) -> list[Route]: ...

    def render(self, request: Request) -> bytes | int:
        try:
            handler, values = self._find(request)
            if handler is None:
                return b""
            answer = handler(request, *values)
        except Exception as error:
            return _refuse(request, error)
        if inspect.iscoroutine(answer):
            answer = ensureDeferred(answer)
        if isinstance(answer, Deferred):
            _answer_later(request, answer)
            return NOT_DONE_YET
        return _answer(request, answer)

    def _find(self, request: Request) -> tuple[Handler | None, list[str]]:
        """What is to be done; nothing, where it is done."""
        path = [part.decode("utf-8", "replace") for part in request.postpath or []]
        if path and not path[-1]:
            path.pop()
        method = request.method.decode("ascii", "replace")
        allowed = {"OPTIONS"}
        for route in self._routes:
            if not _fits(route.path, path):
                continue
            if route.method == method or (route.method == "GET" and method == "HEAD"):
                fixed = zip(path, route.path, strict=True)
                return route.handler, [part for part, name in fixed if name is ANY]
            allowed |= {"GET", "HEAD"} if route.method == "GET" else {route.method}
        if allowed == {"OPTIONS"}:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is nothing at {_path(request)}")
        request.setHeader("Allow", ", ".join(sorted(allowed)))
        if method == "OPTIONS":
            request.setResponseCode(HTTPStatus.NO_CONTENT)
            return None, []
        raise Refused(
            HTTPStatus.METHOD_NOT_ALLOWED,
            f"{method[:20]} is not for {_path(request)}: {', '.join(sorted(allowed))} are",
        )


def body_of(request: Request, *, optional: bool = False) -> dict[str, Any]:
    """The object in the body of a request. Raises Refused."""
    length = request.getHeader("content-length")
    content = request.content
    assert content is not None
    written = content.read(MOST_BYTES + 1)
    if len(written) > MOST_BYTES:
        raise Refused(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{length or 'more'} bytes are too many: send {MOST_BYTES:,} at most",
        )
    if optional and not written:
        return {}
    kind = (request.getHeader("content-type") or "").partition(";")[0].strip().lower()
    if kind != JSON.decode():
        raise Refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"{kind[:50] or 'no type'!r} can't be read: send JSON, with the header "
            "Content-Type: application/json",
        )
    try:
        body = orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused(HTTPStatus.BAD_REQUEST, 'the body is not an object such as {"url": "…"}')
    return body


def check_members(body: dict[str, Any], *known: str) -> None:
    """Raise Refused for a member of a body that nobody knows."""
    for name in body.keys() - known:
        raise Refused(
            HTTPStatus.BAD_REQUEST, f"{name[:50]}: no such member; there are {', '.join(known)}"
        )


def parameter(request: Request, name: str) -> str | None:
    """A parameter of the query. Raises Refused for one that is given twice."""
    given = (request.args or {}).get(name.encode(), [])
    if len(given) > 1:
        raise Refused(HTTPStatus.BAD_REQUEST, f"{name}: is given {len(given)} times")
    return given[0].decode("utf-8", "replace") if given else None


def check_parameters(request: Request, *known: str) -> None:
    """Raise Refused for a parameter that nobody knows."""
    for name in request.args or {}:
        if name.decode("utf-8", "replace") not in known:
            there_are = f"; there are {', '.join(known)}" if known else ""
            shown = name.decode("utf-8", "replace")[:50]
            raise Refused(HTTPStatus.BAD_REQUEST, f"{shown!r}: no such parameter{there_are}")


def whole_number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = parameter(request, name)
    if text is None:
        return default
    is_number = text.isascii() and text.isdigit() and len(text) < _DIGITS
    if not (is_number and least <= int(text) <= most):
        raise Refused(
            HTTPStatus.BAD_REQUEST,
            f"{name}: {text[:50]!r} is not a whole number from {least} to {most}",
        )
    return int(text)


def send(request: Request, value: Any, status: HTTPStatus = HTTPStatus.OK) -> bytes:
    """The headers of an answer in JSON, and its bytes."""
    content = _write(value) + b"\n"
    request.setResponseCode(status)
    request.setHeader(b"Content-Type", JSON)
    request.setHeader(b"Content-Length", str(len(content)).encode())
    request.setHeader(b"Cache-Control", b"no-store")
    return b"" if request.method == b"HEAD" else content


def client_gone(request: Request) -> list[Failure]:
    """Has something in it as soon as nobody waits for an answer any more."""
    gone: list[Failure] = []

    def note(failure: Failure) -> None:
        gone.append(failure)

    request.notifyFinish().addErrback(note)
    return gone


def _answer(request: Request, answer: Any) -> bytes:
    if not isinstance(answer, Answer):
        return send(request, answer)
    for name, value in answer.headers.items():
        request.setHeader(name, value)
    return send(request, answer.value, answer.status)


def _answer_later(request: Request, answer: Deferred[Any]) -> None:
    gone = client_gone(request)

    def finish(content: bytes) -> None:
        if not gone:
            request.write(content)
            request.finish()

    def succeed(value: Any) -> None:
        # None: somebody writes to the request, and ends it.
        if value is not None and not gone:
            finish(_answer(request, value))

    def fail(failure: Failure) -> None:
        assert failure.value is not None
        finish(_refuse(request, failure.value))

    answer.addCallback(succeed).addErrback(fail)


def _refuse(request: Request, error: BaseException) -> bytes:
    if isinstance(error, Refused):
        for name, value in error.headers.items():
            request.setHeader(name.replace("_", "-"), value)
        return send(request, {"error": str(error)}, error.status)
    if isinstance(error, BadInput):
        return send(request, {"error": str(error)}, HTTPStatus.BAD_REQUEST)
    log.failure("{path} failed", Failure(error), path=_path(request))
    return send(
        request,
        {"error": "the service could not answer: its log says more"},
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )


def _fits(route: tuple[str | None, ...], path: list[str]) -> bool:
    return len(route) == len(path) and all(
        name is ANY or name == part for name, part in zip(route, path, strict=True)
    )


def _path(request: Request) -> str:
    return request.path.decode("utf-8", "replace")[:200]
