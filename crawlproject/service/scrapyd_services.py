"""Services of scrapyd's own, with what they leave out: checks, status codes, who may.

scrapyd answers 200 whatever happens, with a traceback in its log, takes any name for a job, though
it becomes that of a folder, keeps an egg that can't be run, and serves nobody while it lists the
spiders of a project. What a service here checks first, and how all of them are answered, is in
``render``, which ``site.py`` puts in place of scrapyd's.
"""

from __future__ import annotations

import inspect
import math
import uuid
from abc import ABC, abstractmethod
from contextlib import closing, suppress
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from scrapyd import webservice
from scrapyd.exceptions import EggNotFoundError, ScrapydError
from twisted.internet.defer import ensureDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.error import Error, UnsupportedMethod
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from crawlproject.errors import BadArgument, BadInput
from crawlproject.service.book import Status
from crawlproject.service.http import Refused, client_gone, send
from crawlproject.service.job_settings import check_changeable
from crawlproject.service.layout import check_name

if TYPE_CHECKING:
    from twisted.web.server import Request

    from crawlproject.service.site import Root

log = Logger()

# Parameters that are the names of folders or files.
_NAMES = ("project", "spider", "version", "_version", "job", "jobid")
# What schedule.json takes itself; the rest are arguments of the spider …
_OWN = frozenset({"project", "spider", "_version", "jobid", "priority", "setting"})
# … but for those by which scrapyd's queue has something else.
_RESERVED = frozenset({"name", "settings", "self", "spider_name", "_job", "_project", "_spider"})
# Bytes of an argument that a command line takes, and characters of its name.
_LONGEST, _LONGEST_NAME = 100_000, 100
# Signals that Scrapy ends in peace by, when one comes.
_IN_PEACE = ("INT", "TERM", "2", "15")

Fields = dict[str, str]


def render(service: webservice.WsResource, request: Request) -> bytes | int:
    """An answer in scrapyd's form, with the status that fits."""
    try:
        given = _fields(request)
        if request.method == b"POST" and isinstance(service, _Checked):
            service.check(given)
        if isinstance(service, _Asynchronous) and request.method in service.answered:
            answer = service.answer(request, given)
        else:
            answer = Resource.render(service, request)
    except Exception as error:  # of scrapyd's own, or an egg's: whoever asked gets an answer
        return _problem(service, request, error)
    if not inspect.iscoroutine(answer):
        return _success(service, request, answer)
    gone = client_gone(request)

    def finish(content: bytes) -> None:
        if not gone:
            request.write(content)
            request.finish()

    ensureDeferred(answer).addCallbacks(
        lambda value: finish(_success(service, request, value)),
        lambda failure: finish(_problem(service, request, failure.value)),
    )
    return NOT_DONE_YET


def _success(service: webservice.WsResource, request: Request, answer: Any) -> bytes:
    if answer is None:  # to OPTIONS
        return b""
    node = service.root.node_name
    return send(request, {**answer, "status": "ok", "node_name": node}, HTTPStatus.OK)


def _problem(service: webservice.WsResource, request: Request, error: BaseException) -> bytes:
    status, said = HTTPStatus.BAD_REQUEST, str(error) or type(error).__name__
    if isinstance(error, Refused):
        status = error.status
        for name, value in error.headers.items():
            request.setHeader(name.replace("_", "-"), value)
    elif isinstance(error, UnsupportedMethod):
        request.setHeader("Allow", service.methods)
        status, said = HTTPStatus.METHOD_NOT_ALLOWED, f"use {service.methods}"
    elif isinstance(error, Error):
        said = (error.message or b"").decode("utf-8", "replace")
    elif not isinstance(error, BadInput | ScrapydError):
        log.failure("{path} failed", Failure(error), path=request.path)
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        said = "the service could not answer: its log says more"
    answer = {"status": "error", "message": said, "node_name": service.root.node_name}
    return send(request, answer, status)


def _fields(request: Request) -> Fields:
    """The parameters. Raises BadArgument for one that is given twice, or can't be used."""
    given = {}
    for encoded, values in (request.args or {}).items():
        name = _decoded("a parameter", encoded)
        # An egg is bytes, and there may be several settings.
        if name in ("egg", "setting"):
            continue
        if len(values) > 1:
            raise BadArgument(name[:50], f"is given {len(values)} times: give it once")
        given[name] = _decoded(name, values[0])
        if name in _NAMES:
            check_name(name, given[name])
    return given


def _decoded(name: str, value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise BadArgument(name[:50], f"{value[:50]!r} is not UTF-8") from None
    if "\0" in text:
        raise BadArgument(name[:50], f"{text[:50]!r} holds a NUL character")
    return text


class _Checked(ABC):
    """Comes before a service of scrapyd's among the bases."""

    root: Root

    @abstractmethod
    def check(self, given: Fields) -> None:
        """Raise Refused or BadInput."""


class _Asynchronous(ABC):
    """The same for one whose answer takes time."""

    root: Root
    # By these methods.
    answered: tuple[bytes, ...] = (b"POST",)

    @abstractmethod
    async def answer(self, request: Request, given: Fields) -> dict[str, Any]: ...

    async def spiders(self, given: Fields) -> list[str]:
        """Of the project and version that are asked for. Raises BadInput."""
        project, version = _required(given, "project"), given.get("_version")
        if project not in self.root.poller.queues:
            raise BadInput(f"project {project!r} not found")
        if version is not None:
            _, egg = self.root.eggstorage.get(project, version)
            if egg is None:
                raise BadInput(f"version {version!r} not found")
            egg.close()
        return await self.root.spider_lists.get(project, version)


class ListSpiders(_Asynchronous, webservice.ListSpiders):
    """``listspiders.json``."""

    answered = (b"GET", b"HEAD")

    async def answer(self, request: Request, given: Fields) -> dict[str, Any]:
        return {"spiders": await self.spiders(given)}


class Schedule(_Asynchronous, webservice.Schedule):
    """``schedule.json``: a job of any project."""

    async def answer(self, request: Request, given: Fields) -> dict[str, Any]:
        pairs = [_decoded("setting", pair) for pair in (request.args or {}).get(b"setting", [])]
        settings = _settings(pairs)
        self._check(given, settings)
        spider = _required(given, "spider")
        if spider not in await self.spiders(given):
            raise BadInput(f"spider {spider!r} not found")
        # Meanwhile another may have ordered it.
        self._check(given, settings)
        job = given.get("jobid") or uuid.uuid1().hex
        message: dict[str, Any] = {**_arguments(given), "settings": settings}
        if "_version" in given:
            message["_version"] = given["_version"]
        priority = float(given.get("priority", "0"))
        self.root.schedule(given["project"], spider, job, message, priority)
        return {"jobid": job}

    def _check(self, given: Fields, settings: dict[str, str]) -> None:
        """Raise Refused or BadInput."""
        project, spider = given.get("project", ""), given.get("spider", "")
        _check_priority(given.get("priority", "0"))
        job = given.get("jobid", "")
        known = self.root.book.find(job, project)
        if known is not None and known.is_open:
            raise Refused(HTTPStatus.CONFLICT, f"job {job} is {known.status} already")
        self.root.guard.check_settings(settings)
        check_changeable(settings, self.root.options)
        arguments = _arguments(given)
        for name, value in (arguments | settings).items():
            if len(value.encode()) > _LONGEST:
                raise BadArgument(
                    name[:50], "is too long for a job: POST /crawler/seeds takes many URLs"
                )
        if "seeds_file" in arguments and not self.root.guard.is_protected:
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "seeds_file: only with a username and a password in scrapyd.conf: use "
                "POST /crawler/seeds",
            )
        # Only of our own spider is known what it takes.
        if spider == self.root.options.spider and self.root.is_ours(project):
            self.root.desk.check_arguments(arguments, settings)
        self.root.check_room()


def _required(given: Fields, name: str) -> str:
    if name not in given:
        raise BadArgument(name, "is required")
    return given[name]


def _arguments(given: Fields) -> dict[str, str]:
    """Those of the spider. Raises BadArgument."""
    arguments = {name: value for name, value in given.items() if name not in _OWN}
    for name in arguments:
        if name in _RESERVED:
            raise BadArgument(name, "is no argument of a spider: it belongs to scrapyd")
        if not name.isprintable() or "=" in name or not 0 < len(name) <= _LONGEST_NAME:
            raise BadArgument(repr(name[:50]), "is no name of an argument")
    return arguments


def _settings(pairs: list[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise BadArgument("setting", f"{pair[:50]!r} is not NAME=VALUE")
        if name in settings:
            raise BadArgument("setting", f"{name[:50]} is given twice")
        settings[name] = value
    return settings


def _check_priority(value: str) -> None:
    try:
        is_number = math.isfinite(float(value))
    except ValueError:
        is_number = False
    if not is_number:
        raise BadArgument("priority", f"{value[:50]!r} is not a number")


class Cancel(_Checked, webservice.Cancel):
    """``cancel.json``: as ``POST /crawler/stop`` has it, and with any other signal."""

    def check(self, given: Fields) -> None:
        signal = given.get("signal", "INT").removeprefix("SIG")
        known = {*_IN_PEACE, "KILL", "9"}
        if signal not in known:
            raise BadArgument("signal", f"{signal[:50]!r} is not INT, TERM or KILL")

    def render_POST(self, request: Request) -> Any:
        given = _fields(request)
        project, name = _required(given, "project"), _required(given, "job")
        if project not in self.root.poller.queues:
            raise BadArgument("project", f"{project[:50]!r} not found")
        signal = given.get("signal", "INT").removeprefix("SIG")
        job = self.root.book.find(name, project)
        if job is None or not job.is_open:
            return {"prevstate": None}
        before = "pending" if job.status is Status.QUEUED else "running"
        self.root.launcher.stop(job, kill=signal not in _IN_PEACE)
        return {"prevstate": before}


class _Deploying(_Checked):
    def check(self, given: Fields) -> None:
        self.root.guard.check_deployment()


class AddVersion(_Deploying, _Asynchronous, webservice.AddVersion):
    """``addversion.json``. A version that can't be run is not kept; what was there before is.

    No job starts before that is known.
    """

    async def answer(self, request: Request, given: Fields) -> dict[str, Any]:
        project, version = _required(given, "project"), _required(given, "version")
        eggs = (request.args or {}).get(b"egg", [])
        if len(eggs) != 1 or not is_zipfile(BytesIO(eggs[0])):
            raise BadArgument("egg", "is not one ZIP file (with curl: -F egg=@path)")
        lists = self.root.spider_lists
        async with lists.locks[project]:
            before = self._egg(project, version)
            with self.root.poller.paused():
                try:
                    self._keep(project, version, eggs[0])
                    spiders = await lists.make(project, version)
                except BaseException:
                    self._keep(project, version, before)
                    raise
                finally:
                    lists.forget(project)
        return {"project": project, "version": version, "spiders": len(spiders)}

    def _egg(self, project: str, version: str) -> bytes | None:
        _, egg = self.root.eggstorage.get(project, version)
        if egg is None:
            return None
        with closing(egg):
            content: bytes = egg.read()
            return content

    def _keep(self, project: str, version: str, egg: bytes | None) -> None:
        """Have this egg for a version; None for none."""
        if egg is not None:
            self.root.eggstorage.put(BytesIO(egg), project, version)
        else:
            with suppress(EggNotFoundError):
                self.root.eggstorage.delete(project, version)
        self.root.update_projects()


class _Deleting(_Deploying, _Asynchronous, webservice.DeleteProject):
    async def answer(self, request: Request, given: Fields) -> dict[str, Any]:
        project = _required(given, "project")
        async with self.root.spider_lists.locks[project]:
            answer: dict[str, Any] = self.render_POST(request)
            self.root.spider_lists.forget(project)
            self.root.launcher.close_homeless()
            return answer


class DeleteVersion(_Deleting, webservice.DeleteVersion): ...


class DeleteProject(_Deleting, webservice.DeleteProject): ...
