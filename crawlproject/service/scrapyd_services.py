"""Services of scrapyd's own, with what they leave out: checks, status codes, who may.

scrapyd answers 200 whatever happens, with a traceback in its log, takes any name for a job, though
it becomes that of a folder, and keeps an egg that can't be run. What a service here checks first,
and how all of them are answered, is in ``render``, which ``site.py`` puts in place of scrapyd's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import closing
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

from scrapyd import webservice
from scrapyd.exceptions import RunnerError, ScrapydError
from twisted.logger import Logger
from twisted.web.error import Error, UnsupportedMethod
from twisted.web.resource import Resource

from crawlproject.errors import BadArgument, BadInput
from crawlproject.service.book import Status
from crawlproject.service.http import Refused, send
from crawlproject.service.layout import check_name

if TYPE_CHECKING:
    from twisted.web.server import Request

    from crawlproject.service.site import Root

log = Logger()

# What scrapyd takes itself; the rest are arguments of the spider.
_OWN = frozenset({"project", "spider", "_version", "jobid", "priority", "setting"})
# Characters of an argument that a command line takes.
_LONGEST = 100_000
# Signals that Scrapy ends in peace by, when one comes.
_IN_PEACE = ("INT", "TERM", "2", "15")

Fields = dict[str, list[str]]


def render(service: webservice.WsResource, request: Request) -> bytes:
    """An answer in scrapyd's form, with the status that fits."""
    node = service.root.node_name
    try:
        if request.method == b"POST" and isinstance(service, _Checked):
            service.check(_fields(request))
        answer = Resource.render(service, request)
    except Refused as error:
        for name, value in error.headers.items():
            request.setHeader(name.replace("_", "-"), value)
        return _problem(request, node, error.status, str(error))
    except UnsupportedMethod:
        request.setHeader("Allow", service.methods)
        return _problem(request, node, HTTPStatus.METHOD_NOT_ALLOWED, f"use {service.methods}")
    except Error as error:
        said = (error.message or b"").decode("utf-8", "replace")
        return _problem(request, node, HTTPStatus.BAD_REQUEST, said)
    except (BadInput, ScrapydError, UnicodeDecodeError) as error:
        said = str(error) or type(error).__name__
        return _problem(request, node, HTTPStatus.BAD_REQUEST, said)
    except Exception:  # of scrapyd's own, or an egg's: whoever asked gets an answer
        log.failure("{path} failed", path=request.path)
        said = "the service could not answer: its log says more"
        return _problem(request, node, HTTPStatus.INTERNAL_SERVER_ERROR, said)
    if answer is None:  # to OPTIONS
        return b""
    return send(request, {**answer, "status": "ok", "node_name": node}, HTTPStatus.OK)


def _problem(request: Request, node: str, status: HTTPStatus, problem: str) -> bytes:
    return send(request, {"status": "error", "message": problem, "node_name": node}, status)


def _fields(request: Request) -> Fields:
    return {
        name.decode("utf-8", "replace"): [value.decode("utf-8", "replace") for value in values]
        for name, values in (request.args or {}).items()
    }


class _Checked(ABC):
    """Comes before a service of scrapyd's among the bases."""

    root: Root

    @abstractmethod
    def check(self, given: Fields) -> None:
        """Raise Refused or BadInput."""


class Schedule(_Checked, webservice.Schedule):
    """``schedule.json``: a job of any project."""

    def check(self, given: Fields) -> None:
        project, spider = (given.get(name, [""])[0] for name in ("project", "spider"))
        for name in ("project", "spider", "jobid"):
            if name in given:
                check_name(name, given[name][0])
        _check_priority(given.get("priority", ["0"])[0])
        job = given.get("jobid", [""])[0]
        known = self.root.book.find(job, project)
        if known is not None and known.is_open:
            raise Refused(HTTPStatus.CONFLICT, f"job {job} is {known.status} already")
        settings = _settings(given.get("setting", []))
        self.root.guard.check_settings(settings)
        arguments = {name: values[0] for name, values in given.items() if name not in _OWN}
        self._check_arguments(project, spider, arguments, settings)
        self.root.check_room()

    def _check_arguments(
        self, project: str, spider: str, arguments: dict[str, str], settings: dict[str, str]
    ) -> None:
        for name, value in (arguments | settings).items():
            if len(value) > _LONGEST:
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
        options = self.root.options
        if (project, spider) == (options.project, options.spider):
            self.root.desk.check_arguments(arguments, settings)


def _settings(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise BadArgument("setting", f"{pair[:50]!r} is not NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


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
        signal = given.get("signal", ["INT"])[0].removeprefix("SIG")
        known = {*_IN_PEACE, "KILL", "9"}
        if signal not in known:
            raise BadArgument("signal", f"{signal[:50]!r} is not INT, TERM or KILL")

    def render_POST(self, request: Request) -> Any:
        given = _fields(request)
        for name in ("project", "job"):
            if name not in given:
                raise BadArgument(name, "is required")
        project, name = given["project"][0], given["job"][0]
        if project not in self.root.poller.queues:
            raise BadArgument("project", f"{project[:50]!r} not found")
        signal = given.get("signal", ["INT"])[0].removeprefix("SIG")
        job = self.root.book.find(name, project)
        if job is None or not job.is_open:
            return {"prevstate": None}
        before = "pending" if job.status is Status.QUEUED else "running"
        self.root.launcher.stop(job, kill=signal not in _IN_PEACE)
        return {"prevstate": before}


class _Deploying(_Checked):
    def check(self, given: Fields) -> None:
        self.root.guard.check_deployment()
        for name in ("project", "version"):
            if name in given:
                check_name(name, given[name][0])


class AddVersion(_Deploying, webservice.AddVersion):
    """``addversion.json``. A version that can't be run is not kept; what was there before is."""

    def render_POST(self, request: Request) -> Any:
        given = _fields(request)
        project, version = (given.get(name, [""])[0] for name in ("project", "version"))
        before = self._egg(project, version) if project and version else None
        try:
            return super().render_POST(request)
        except RunnerError:
            if before is None:
                self.root.eggstorage.delete(project, version)
            else:
                self.root.eggstorage.put(BytesIO(before), project, version)
            self.root.update_projects()
            raise

    def _egg(self, project: str, version: str) -> bytes | None:
        _, egg = self.root.eggstorage.get(project, version)
        if egg is None:
            return None
        with closing(egg):
            content: bytes = egg.read()
            return content


class DeleteVersion(_Deploying, webservice.DeleteVersion):
    def render_POST(self, request: Request) -> Any:
        answer = super().render_POST(request)
        self.root.launcher.close_homeless()
        return answer


class DeleteProject(_Deploying, webservice.DeleteProject):
    def render_POST(self, request: Request) -> Any:
        answer = super().render_POST(request)
        self.root.launcher.close_homeless()
        return answer
