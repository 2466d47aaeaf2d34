"""The metrics of a crawl over HTTP, for Prometheus: ``GET /metrics``, while the crawl runs.

In the crawl's own reactor, on METRICS_ADDRESS and METRICS_PORT. Every answer is made from a
snapshot of that moment. Nothing can be changed there, and nobody is asked who they are.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import maybeDeferred
from twisted.internet.error import CannotListenError

from crawlproject.monitoring.listening import check_metrics_port, metrics_port
from crawlproject.monitoring.vitals import Vitals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.protocols.policies import WrappingFactory

logger = logging.getLogger(__name__)


class MetricsServer:
    def __init__(self, crawler: Crawler, address: str, port: int, name: str | None = None) -> None:
        self._crawler = crawler
        self._address = address
        self._port = port
        self._name = name
        self._site: WrappingFactory | None = None
        self._listening: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> MetricsServer:
        settings = crawler.settings
        port = metrics_port(settings)
        if not port:
            # Without words, which Scrapy would say as a warning: nobody has asked for it.
            raise NotConfigured
        # ``scrapy crawl`` has done so before; in another program this is the place.
        check_metrics_port(settings)
        server = cls(crawler, settings["METRICS_ADDRESS"], port, settings["FRONTIER_CRAWL_ID"])
        crawler.signals.connect(server.engine_started, signals.engine_started)
        crawler.signals.connect(server.engine_stopped, signals.engine_stopped)
        return server

    def engine_started(self) -> None:
        vitals = self._crawler.get_extension(Vitals)
        if vitals is None:
            # Somebody has switched it off.
            return
        if not is_reactor_installed():
            logger.warning("No metrics: METRICS_PORT needs a Twisted reactor, and there is none")
            return
        from twisted.internet import reactor

        # Where nobody wants metrics, neither Prometheus' client nor Twisted's server is loaded.
        from crawlproject.monitoring.metrics_site import metrics_site

        assert self._crawler.spider is not None
        self._site = metrics_site(self._name or self._crawler.spider.name, vitals.take)
        try:
            self._listening = cast("Any", reactor).listenTCP(
                self._port, self._site, interface=self._address
            )
        except CannotListenError as error:
            # Somebody has come between.
            logger.warning(
                "No metrics: can't listen on %s:%d: %s",
                self._address,
                self._port,
                error.socketError.strerror,
            )

    async def engine_stopped(self) -> None:
        if self._listening is None:
            return
        from crawlproject.monitoring.metrics_site import disconnect

        assert self._site is not None
        disconnect(self._site)
        # Who starts the next crawl of this process may want the same port.
        await maybe_deferred_to_future(maybeDeferred(self._listening.stopListening))
        self._listening = None
