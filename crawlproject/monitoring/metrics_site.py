"""What answers who asks for metrics. Loaded only where somebody may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.exposition import choose_encoder
from twisted.protocols.policies import WrappingFactory
from twisted.web import http
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from crawlproject.monitoring.metrics import collect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import Metric
    from prometheus_client.registry import Collector

    from crawlproject.monitoring.snapshot import Snapshot

_PATH = b"/metrics"
_METHODS = (b"GET", b"HEAD")
# After which a connection is closed on which nothing is asked. Prometheus asks more often.
_IDLE_SECONDS = 120


class Metrics:
    """A collector of prometheus_client: of one crawl, by its name."""

    def __init__(self, name: str, take: Callable[[], Snapshot]) -> None:
        self._name = name
        self._take = take

    def collect(self) -> Iterable[Metric]:
        return collect([(self._name, self._take())])


class MetricsPage(Resource):
    # Whatever is asked comes here.
    isLeaf = True

    def __init__(self, registry: CollectorRegistry) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._registry = registry

    def render(self, request: Request) -> bytes:
        if request.path != _PATH:
            return _refuse(request, http.NOT_FOUND)
        if request.method not in _METHODS:
            _set_header(request, b"Allow", b", ".join(_METHODS))
            return _refuse(request, http.NOT_ALLOWED)
        write, content_type = _writer(request.getHeader("Accept") or "")
        return _answer(request, content_type.encode(), write(self._registry))


class _Bodiless(Request):
    """A request whose body goes nowhere, whatever its size: nobody would read it."""

    def gotLength(self, length: int | None) -> None:
        super().gotLength(0)  # type: ignore[no-untyped-call]

    def handleContentChunk(self, data: bytes) -> None:
        pass


class _QuietSite(Site):
    noisy = False

    def log(self, request: http.Request) -> None:
        """Not for every scrape."""


def metrics_site(name: str, take: Callable[[], Snapshot]) -> WrappingFactory:
    """What is to listen: for one crawl, by its name, from snapshots of the moment."""
    registry = CollectorRegistry()
    registry.register(Metrics(name, take))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    site = _QuietSite(  # type: ignore[no-untyped-call]
        MetricsPage(registry), _Bodiless, timeout=_IDLE_SECONDS
    )
    # It knows who is connected, and so who is to be disconnected at the end.
    wrapped = WrappingFactory(site)
    wrapped.noisy = False
    return wrapped


def disconnect(site: WrappingFactory) -> None:
    """Hang up on all who are connected: on a connection that is kept, more could be asked."""
    for connection in list(site.protocols):
        connection.loseConnection()


def _writer(accepted: str) -> tuple[Callable[[Collector], bytes], str]:
    """How to write what somebody accepts, and its content type."""
    try:
        return choose_encoder(accepted)
    except (TypeError, ValueError):
        # What they call a version is none.
        return choose_encoder("")


def _refuse(request: Request, status: int) -> bytes:
    request.setResponseCode(status)
    return _answer(request, b"text/plain; charset=utf-8", http.RESPONSES[status] + b"\n")


def _answer(request: Request, content_type: bytes, body: bytes) -> bytes:
    _set_header(request, b"Content-Type", content_type)
    if request.method != b"HEAD":
        return body
    _set_header(request, b"Content-Length", str(len(body)).encode())
    return b""


def _set_header(request: Request, name: bytes, value: bytes) -> None:
    request.setHeader(name, value)
