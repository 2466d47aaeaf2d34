"""The site of the service: scrapyd's, with the live page at its root, behind the guard."""

from __future__ import annotations

import mimetypes
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.settings import Settings
from scrapyd import website
from scrapyd.webservice import WsResource
from twisted.internet import reactor as twisted_reactor
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool
from twisted.web.resource import Resource

from crawlproject.service.book import Status, book_of
from crawlproject.service.guard import Guard
from crawlproject.service.http import Refused, send
from crawlproject.service.looking import Lookout
from crawlproject.service.options import listening_from, options_from
from crawlproject.service.orders import Desk
from crawlproject.service.scrapyd_services import render
from crawlproject.service.spider_lists import SpiderLists
from crawlproject.service.view import View
from crawlproject.urls.fingerprint import canonicalizer_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapyd.config import Config
    from twisted.application.service import MultiService
    from twisted.internet.defer import Deferred
    from twisted.web.server import Request

    from crawlproject.service.launcher import GoingOnLauncher

# To the type checker it is a module.
reactor: Any = twisted_reactor
T = TypeVar("T")

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    # For what is not ours, such as scrapyd's own list of jobs.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_INDEX = "index.html"
_READERS = 4
# Seconds after which it is worth to try again when the queue is full.
_LATER = "30"


class Root(website.Root):
    """``webroot`` in ``scrapyd.conf``: what all services know of each other."""

    launcher: GoingOnLauncher

    def __init__(self, config: Config, app: MultiService) -> None:
        self.config = config
        self.options = options_from(config)
        self.guard = Guard(
            is_protected=listening_from(config, self.options).is_protected,
            allowed_hosts=self.options.allowed_hosts,
        )
        settings = Settings()
        settings.setmodule("crawlproject.settings", priority="project")
        self.canonicalize = canonicalizer_from(settings)
        self.desk = Desk(
            settings,
            allow_internal=self.options.allow_internal,
            store_bodies=self.options.store_bodies,
        )
        self.book = book_of(config)
        self.view = View(config, self.book)
        self.lookout = Lookout()
        # Of its own: who looks into crawls must not keep others from ordering some.
        self._readers = ThreadPool(0, _READERS, "readers")
        reactor.callWhenRunning(self._readers.start)
        reactor.addSystemEventTrigger("during", "shutdown", self._readers.stop)
        super().__init__(config, app)
        self.spider_lists = SpiderLists(self.runner, self.eggstorage.list)
        for child in self.children.values():
            if isinstance(child, WsResource):
                child.render = partial(render, child)
        self.putChild(b"", PageFile(_INDEX))
        self.putChild(b"page", PageFiles())

    def read(self, look: Callable[..., T], *values: Any) -> Deferred[T]:
        """Have a thread look into the crawl directories of jobs."""
        return deferToThreadPool(reactor, self._readers, look, *values)

    def check_room(self) -> None:
        """Raise Refused if too many jobs wait."""
        waiting = self.book.count_open(Status.QUEUED)
        if waiting >= self.options.max_pending:
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{waiting} jobs wait already (max_pending in scrapyd.conf): try again later",
                Retry_After=_LATER,
            )

    def is_ours(self, project: str) -> bool:
        """Whether jobs of a project run our own code: it is ours, or another name of it."""
        ours = self.options.project
        settings = dict(self.config.items("settings", default=[]))
        is_same = project in settings and settings[project] == settings.get(ours)
        return project == ours or (is_same and not self.eggstorage.list(project))

    def schedule(
        self, project: str, spider: str, job: str, message: dict[str, Any], priority: float = 0.0
    ) -> None:
        """Queue a job, and start it if there is room."""
        self.scheduler.schedule(project, spider, priority=priority, **{**message, "_job": job})
        self.poller.poll()

    def getChildWithDefault(self, path: bytes, request: Request) -> Resource:
        for name, value in _HEADERS.items():
            request.setHeader(name, value)
        try:
            self.guard.check(request)
        except Refused as error:
            return _Refusal(error)
        return super().getChildWithDefault(path, request)  # type: ignore[no-any-return]


class _Refusal(Resource):
    isLeaf = True

    def __init__(self, error: Refused) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._error = error

    def render(self, request: Request) -> bytes:
        return send(request, {"error": str(self._error)}, self._error.status)


class PageFile(Resource):
    """A file of the live page, which may be in an egg."""

    isLeaf = True

    def __init__(self, name: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._content = (files(__package__ or "") / "page" / name).read_bytes()
        self._type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if self._type.startswith("text/"):
            self._type += "; charset=utf-8"

    def render_GET(self, request: Request) -> bytes:
        if request.postpath and any(request.postpath):
            error = Refused(HTTPStatus.NOT_FOUND, "there is nothing below a file")
            return _Refusal(error).render(request)
        request.setHeader("Content-Type", self._type)
        request.setHeader("Content-Security-Policy", _PAGE_POLICY)
        # Small, and another version must not meet the scripts of this one.
        request.setHeader("Cache-Control", "no-cache")
        return self._content


class PageFiles(Resource):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        for file in (files(__package__ or "") / "page").iterdir():
            if file.is_file():
                self.children[file.name.encode()] = PageFile(file.name)
