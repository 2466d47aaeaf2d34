"""Scrapy's chain of downloader middlewares, for the usual request.

A middleware that answers at once, as nearly all do, is not waited for: Scrapy makes an
awaitable of every answer, ten times a page. Nor is it asked by way of a function that looks
for an argument which nobody gives.

Four of Scrapy's own have nothing to do for nearly every request, or set a header whose name
and value are the same each time, at dozens of calls. What they do is the same here. What a
team has derived from them, or put in their place, is called as it is.
"""

from __future__ import annotations

from functools import cached_property, partial
from types import MethodType
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Headers, Response
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Method = Callable[..., Any]

# That of all methods of Scrapy's which warn when they are given a spider.
_WARNING = UserAgentMiddleware.process_request.__code__


class Middlewares(DownloaderMiddlewareManager):
    @cached_property
    def _for_requests(self) -> list[tuple[Method, Method]]:
        return [(method, self._direct(method)) for method in self._all("process_request")]

    @cached_property
    def _for_responses(self) -> list[tuple[Method, Method]]:
        return [(method, self._direct(method)) for method in self._all("process_response")]

    def _all(self, name: str) -> list[Method]:
        return [method for method in self.methods[name] if method is not None]

    def _direct(self, method: Method) -> Method:
        """What to call in place of a method."""
        if method in self._mw_methods_requiring_spider:
            return partial(method, spider=self._spider)
        if not isinstance(method, MethodType):
            return method
        owner, function = method.__self__, method.__func__
        if function is _SCRAPYS.get(type(owner)):
            return _QUICK[type(owner)](owner)
        if getattr(function, "__code__", None) is _WARNING:
            return MethodType(function.__wrapped__, owner)  # type: ignore[attr-defined]
        return method

    async def _process_request(
        self, request: Request, download_func: Callable[[Request], Coroutine[Any, Any, Response]]
    ) -> Response | Request:
        for method, direct in self._for_requests:
            answer = direct(request=request)
            if answer is not None:
                answer = await _settled(method, answer)
                if answer is not None and (answer := _checked(method, answer)):
                    return answer
        return await download_func(request)

    async def _process_response(
        self, response: Response | Request, request: Request
    ) -> Response | Request:
        if response is None:
            raise TypeError("Received None in process_response")
        for method, direct in self._for_responses:
            if isinstance(response, Request):
                break
            answer = direct(request=request, response=response)
            if not isinstance(answer, Response):
                answer = _checked(method, await _settled(method, answer))
            response = answer
        return response


async def _settled(method: Method, answer: Any) -> Any:
    return await ensure_awaitable(answer, _warn=global_object_name(method))


def _checked(method: Method, answer: Any) -> Response | Request:
    if not isinstance(answer, Response | Request):
        # Scrapy's own error, by which it knows whose mistake it is.
        raise _InvalidOutput(
            f"Middleware {method.__qualname__} must return Response or Request, got {type(answer)}"
        )
    return answer


def _quick_auth(middleware: HttpAuthMiddleware) -> Method:
    def process_request(request: Request) -> Any:
        meta = request.meta
        if middleware._auth or "http_user" in meta or "http_pass" in meta:
            return middleware.process_request(request)
        return None

    return process_request


def _quick_proxy(middleware: HttpProxyMiddleware) -> Method:
    def process_request(request: Request) -> Any:
        meta = request.meta
        if (
            middleware.proxies
            or "proxy" in meta
            or "_auth_proxy" in meta
            or dict.__contains__(request.headers, b"Proxy-Authorization")
        ):
            return middleware.process_request(request)
        return None

    return process_request


def _quick_user_agent(middleware: UserAgentMiddleware) -> Method:
    def process_request(request: Request) -> Any:
        agent, headers = middleware.user_agent, request.headers
        if type(agent) is not str or type(headers) is not Headers:
            return middleware.process_request(request)
        if agent:
            dict.setdefault(headers, b"User-Agent", [agent.encode(headers.encoding)])
        return None

    return process_request


def _quick_defaults(middleware: DefaultHeadersMiddleware) -> Method:
    ready = Headers()
    for name, value in middleware._headers:
        ready.setdefault(name, value)

    def process_request(request: Request) -> Any:
        headers = request.headers
        if type(headers) is not Headers or headers.encoding != ready.encoding:
            return middleware.process_request(request)
        for name, values in dict.items(ready):
            # Each has a list of its own: who adds a value adds it there.
            dict.setdefault(headers, name, values.copy())
        return None

    return process_request


_QUICK: dict[type, Callable[[Any], Method]] = {
    HttpAuthMiddleware: _quick_auth,
    HttpProxyMiddleware: _quick_proxy,
    UserAgentMiddleware: _quick_user_agent,
    DefaultHeadersMiddleware: _quick_defaults,
}
# As they are now: one that somebody has replaced is no longer Scrapy's.
_SCRAPYS: dict[type, Any] = {kind: vars(kind)["process_request"] for kind in _QUICK}
