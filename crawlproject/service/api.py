"""The job API: crawls are started, watched, stopped and read over HTTP. ``openapi.py`` has the
whole of it in words. Each class is a service of scrapyd's (``[services]`` in ``scrapyd.conf``).
"""

from __future__ import annotations

import uuid
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any

from twisted.internet.threads import deferToThread

from crawlproject.errors import BadArgument
from crawlproject.service import looking
from crawlproject.service.book import Status
from crawlproject.service.files import send_document, send_file
from crawlproject.service.http import (
    ANY,
    Answer,
    Refused,
    Route,
    Routes,
    body_of,
    check_members,
    check_parameters,
    parameter,
    whole_number,
)
from crawlproject.service.layout import SEEDS, SITEMAP, crawl_directory
from crawlproject.service.openapi import LARGEST_NUMBER, MOST_JOBS, MOST_PAGES, document
from crawlproject.service.totals import totals
from crawlproject.spiders.seeds import canonical_seeds
from crawlproject.urls.canonical import host_of

if TYPE_CHECKING:
    from twisted.web.server import Request

    from crawlproject.service.book import Job
    from crawlproject.service.site import Root

# Jobs that are searched for a page, if none is named.
_MOST_SEARCHED = 100
_MAY_GO_ON = (Status.STOPPED, Status.KILLED, Status.FAILED)


class Service(Routes):
    root: Root

    def job(self, name: str) -> Job:
        job = self.root.book.find(name)
        if job is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no job {name[:100]!r}")
        return job

    async def start(self, request: Request, seeds: str, example: str) -> Answer:
        """Check an order, and queue it as a job. ``seeds`` is the member that has the seeds."""
        body = body_of(request)
        if seeds not in body:
            raise Refused(HTTPStatus.BAD_REQUEST, f"{seeds}: missing: give it, as in {example}")
        self.root.check_room()
        try:
            # Ten thousand seeds take their time.
            order = await deferToThread(self.root.desk.order, body)
        except BadArgument as error:
            raise Refused(HTTPStatus.BAD_REQUEST, _in_words_of(body, error)) from None
        self.root.check_room()
        name = uuid.uuid4().hex
        options = self.root.options
        folder = crawl_directory(self.root.config, options.project, options.spider, name)
        message = order.message(folder, folder / SEEDS)
        self.root.schedule(options.project, options.spider, name, message)
        href = f"/crawl/{name}"
        return Answer(
            {"id": name, "status": str(Status.QUEUED), "href": href},
            HTTPStatus.ACCEPTED,
            {"Location": href},
        )


class Crawl(Service):
    """``/crawl``: one site, one answer."""

    def routes(self) -> list[Route]:
        return [
            Route("POST", (), self.post),
            Route("GET", (ANY,), self.get),
            Route("DELETE", (ANY,), self.delete),
            Route("GET", (ANY, "outputs", ANY), self.output),
        ]

    async def post(self, request: Request) -> Answer:
        return await self.start(request, "url", '{"url": "https://example.com", "depth": 2}')

    def get(self, request: Request, name: str) -> Any:
        check_parameters(request)
        job = self.job(name)
        answer = self.root.view.whole(job)
        sitemap = None if job.is_open else self.root.view.output(job, SITEMAP)
        if sitemap is None:
            return {**answer, "sitemap": None}
        return send_document(request, answer, "sitemap", sitemap)

    def delete(self, request: Request, name: str) -> Answer:
        check_parameters(request)
        job = self.job(name)
        if job.is_open:
            self.root.launcher.stop(job)
            return Answer({"id": job.id, "status": str(job.status)}, HTTPStatus.ACCEPTED)
        if self.root.launcher.is_held(job):
            raise Refused(HTTPStatus.CONFLICT, f"job {job.id} is still ending: try again later")
        self.root.launcher.remove(job)
        return Answer({"id": job.id, "status": "deleted"})

    def output(self, request: Request, name: str, file: str) -> Any:
        check_parameters(request)
        path = self.root.view.output(self.job(name), file)
        if path is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"job {name} has no output {file[:100]!r}")
        return send_file(request, path)


class Crawler(Service):
    """``/crawler``: all jobs."""

    def routes(self) -> list[Route]:
        return [
            Route("POST", ("seeds",), self.seeds),
            Route("POST", ("stop",), self.stop),
            Route("GET", ("stats",), self.stats),
            Route("GET", ("jobs",), self.jobs),
            Route("GET", ("jobs", ANY, "status"), self.status),
            Route("GET", ("jobs", ANY, "live"), self.live),
            Route("GET", ("jobs", ANY, "pages"), self.pages),
            Route("POST", ("jobs", ANY, "resume"), self.resume),
        ]

    async def seeds(self, request: Request) -> Answer:
        return await self.start(request, "urls", '{"urls": ["https://example.com"]}')

    def stop(self, request: Request) -> Answer:
        body = body_of(request, optional=True)
        check_members(body, "job_id", "kill")
        kill, name = body.get("kill", False), body.get("job_id")
        if type(kill) is not bool:
            raise Refused(HTTPStatus.BAD_REQUEST, "kill: is not true or false")
        if "job_id" not in body:
            jobs = list(self.root.book.open.values())
        elif type(name) is str:
            jobs = [self.job(name)]
        else:
            raise Refused(HTTPStatus.BAD_REQUEST, "job_id: is not the id of a job")
        stopped = [
            job.id for job in jobs if job.is_open and self.root.launcher.stop(job, kill=kill)
        ]
        return Answer({"stopping": stopped}, HTTPStatus.ACCEPTED)

    def stats(self, request: Request) -> Any:
        check_parameters(request)
        return totals(self.root.view)

    def jobs(self, request: Request) -> Any:
        check_parameters(request, "limit", "status")
        limit = whole_number(request, "limit", 50, 1, MOST_JOBS)
        status = parameter(request, "status")
        if status is not None and status not in list(Status):
            known = ", ".join(Status)
            raise Refused(HTTPStatus.BAD_REQUEST, f"status: {status[:50]!r} is not one of {known}")
        jobs = self.root.book.jobs
        total = len(jobs)
        newest = reversed(jobs.values())
        if status is not None:
            wanted = [job for job in newest if job.status == status]
            newest, total = iter(wanted), len(wanted)
        return {
            "jobs": [self.root.view.whole(job) for job in islice(newest, limit)],
            "total": total,
        }

    def status(self, request: Request, name: str) -> Any:
        check_parameters(request)
        job = self.job(name)
        return {"id": job.id, "status": str(job.status), **self.root.view.counts(job)}

    async def live(self, request: Request, name: str) -> Any:
        check_parameters(request)
        job = self.job(name)
        folder = self.root.view.folder(job)
        hosts, skips = await self.root.read(self.root.lookout.look, folder)
        snapshot = self.root.view.snapshot(job)
        return {
            "job": self.root.view.whole(job),
            "snapshot": None if snapshot is None else snapshot.as_dict(),
            "hosts": hosts,
            "skips": skips,
        }

    async def pages(self, request: Request, name: str) -> Any:
        check_parameters(request, "limit", "after")
        limit = whole_number(request, "limit", 50, 1, MOST_PAGES)
        after = whole_number(request, "after", 0, 0, LARGEST_NUMBER)
        folder = self.root.view.folder(self.job(name))
        pages, last = await self.root.read(looking.pages_after, folder, after, limit)
        return {"pages": pages, "next": last}

    def resume(self, request: Request, name: str) -> Answer:
        check_parameters(request)
        job = self.job(name)
        if job.project not in self.root.poller.queues:
            raise Refused(HTTPStatus.CONFLICT, f"there is no project {job.project!r} any more")
        if job.status not in _MAY_GO_ON:
            why = "has finished" if job.status is Status.FINISHED else f"is {job.status}"
            raise Refused(
                HTTPStatus.CONFLICT, f"job {job.id} {why}: there is nothing to go on with"
            )
        self.root.check_room()
        self.root.schedule(job.project, job.spider, job.id, job.message, job.priority)
        return Answer(self.root.view.whole(job), HTTPStatus.ACCEPTED)


class Storage(Service):
    """``/storage``: pages as crawls have kept them."""

    def routes(self) -> list[Route]:
        return [Route("POST", ("get-page",), self.get_page)]

    async def get_page(self, request: Request) -> Any:
        body = body_of(request)
        check_members(body, "url", "job_id", "body")
        asked, name, with_body = body.get("url"), body.get("job_id"), body.get("body", False)
        if type(asked) is not str or type(with_body) is not bool:
            problem = (
                "url: is not a URL" if type(asked) is not str else "body: is not true or false"
            )
            raise Refused(HTTPStatus.BAD_REQUEST, problem)
        if "job_id" in body and type(name) is not str:
            raise Refused(HTTPStatus.BAD_REQUEST, "job_id: is not the id of a job")
        (url,) = canonical_seeds("url", [asked], self.root.canonicalize)
        jobs = [self.job(name)] if isinstance(name, str) else self._likely(host_of(url))
        folders = [(job.id, self.root.view.folder(job)) for job in jobs if job.runs]
        found = await self.root.read(looking.newest_page, folders, asked, url, with_body)
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"no job has a page of {url[:500]}")
        return found

    def _likely(self, host: str) -> list[Job]:
        """Jobs that may have pages of a host: those with a seed there, then the newest others."""
        jobs = self.root.book.jobs.values()
        newest = sorted(jobs, key=lambda job: job.started_at or 0.0, reverse=True)
        newest.sort(key=lambda job: not self.root.view.has_seed_at(job, host))
        return newest[:_MOST_SEARCHED]


class OpenApi(Routes):
    def routes(self) -> list[Route]:
        return [Route("GET", (), lambda request: document())]


def _in_words_of(body: dict[str, Any], error: BadArgument) -> str:
    """What the command line calls a seed is a URL here."""
    name = error.name
    if name == "seed":
        name = "url" if "url" in body else "urls"
    return f"{name}: {error.problem}"
