"""Services of scrapyd's own, with what they leave out: checks, status codes, who may.

scrapyd answers 200 whatever happens, takes any name for a job, though it becomes that of a
folder, and keeps an egg that can't be run.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapyd import webservice
from scrapyd.exceptions import RunnerError

from crawlproject.errors import BadArgument, BadInput
from crawlproject.service.api import Service
from crawlproject.service.http import Refused, send
from crawlproject.service.layout import check_id

if TYPE_CHECKING:
    from twisted.web.server import Request

    from crawlproject.service.site import Root

# What scrapyd takes itself; the rest are arguments of the spider.
_OWN = frozenset({"project", "spider", "_version", "jobid", "priority", "setting"})


class _Checked:
    """Comes before a service of scrapyd's among the bases."""

    root: Root

    def check(self, request: Request) -> None:
        """Raise Refused or BadInput."""
        raise NotImplementedError

    def render(self, request: Request) -> Any:
        try:
            if request.method == b"POST":
                self.check(request)
        except Refused as error:
            for name, value in error.headers.items():
                request.setHeader(name.replace("_", "-"), value)
            return self._say(request, error.status, str(error))
        except BadInput as error:
            return self._say(request, HTTPStatus.BAD_REQUEST, str(error))
        return super().render(request)  # type: ignore[misc]

    def _say(self, request: Request, status: HTTPStatus, problem: str) -> bytes:
        answer = {"status": "error", "message": problem, "node_name": self.root.node_name}
        return send(request, answer, status)


class Schedule(_Checked, webservice.Schedule):
    """``schedule.json``: a job of any project."""

    def check(self, request: Request) -> None:
        given = {
            name.decode("utf-8", "replace"): [value.decode("utf-8", "replace") for value in values]
            for name, values in (request.args or {}).items()
        }
        name = given.get("jobid", [""])[0]
        if "jobid" in given:
            check_id(name)
        project = given.get("project", [""])[0]
        known = self.root.book.find(name, project)
        if known is not None and known.is_open:
            raise Refused(HTTPStatus.CONFLICT, f"job {name} is {known.status} already")
        settings = given.get("setting", [])
        for pair in settings:
            if "=" not in pair:
                raise BadArgument("setting", f"{pair[:50]!r} is not NAME=VALUE")
        self.root.guard.check_settings(pair.partition("=")[0] for pair in settings)
        arguments = {name: values[0] for name, values in given.items() if name not in _OWN}
        self._check_arguments(project, given.get("spider", [""])[0], arguments)
        Service.check_room(self)

    def _check_arguments(self, project: str, spider: str, arguments: dict[str, str]) -> None:
        options = self.root.options
        if "seeds_file" in arguments and not self.root.guard.is_protected:
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "seeds_file: only with a username and a password in scrapyd.conf: use "
                "POST /crawler/seeds",
            )
        # Only of our own spider is known what it takes.
        if (project, spider) == (options.project, options.spider):
            self.root.desk.check_arguments(arguments)


class _Deploying(_Checked):
    def check(self, request: Request) -> None:
        self.root.guard.check_deployment()


class AddVersion(_Deploying, webservice.AddVersion):
    """``addversion.json``. A version that can't be run is not kept."""

    def render_POST(self, request: Request) -> Any:
        given = {
            name: (request.args or {}).get(name, [b""])[0] for name in (b"project", b"version")
        }
        try:
            return super().render_POST(request)
        except RunnerError:
            project, version = given[b"project"].decode(), given[b"version"].decode()
            self.root.eggstorage.delete(project, version)
            self.root.update_projects()
            raise


class DeleteVersion(_Deploying, webservice.DeleteVersion):
    pass


class DeleteProject(_Deploying, webservice.DeleteProject):
    pass
