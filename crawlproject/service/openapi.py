"""The job API in words: the document at ``/openapi.json``. Tests hold the service to it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from crawlproject.service.book import Status
from crawlproject.service.schemas import ref, schemas

if TYPE_CHECKING:
    from crawlproject.service.schemas import Schema

MOST_JOBS = 500
MOST_PAGES = 500
LARGEST_NUMBER = 10**15

_ERRORS = {
    "400": "something is wrong in the request",
    "403": "not for who asks: another origin, or a name that is not the service's",
    "404": "there is no such job, output or page",
    "409": "the job is not in a state for this",
    "413": "the body is too large",
    "415": "the body is not JSON",
    "429": "the queue is full: Retry-After says when to try again",
}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _operation(
    name: str,
    summary: str,
    status: str,
    answer: str,
    *errors: str,
    body: str | None = None,
    body_is_optional: bool = False,
    parameters: list[Schema] | None = None,
) -> Schema:
    needs_body = ("413", "415") if body else ()
    responses: Schema = {status: {"description": summary, "content": _json(ref(answer))}}
    for error in sorted({"400", "403", *errors, *needs_body}):
        responses[error] = {"description": _ERRORS[error], "content": _json(ref("Error"))}
    responses["401"] = {"description": "a password is set, and was not given"}
    operation: Schema = {"operationId": name, "summary": summary, "responses": responses}
    if parameters:
        operation["parameters"] = parameters
    if body:
        operation["requestBody"] = {
            "required": not body_is_optional,
            "content": _json(ref(body)),
        }
    return operation


def _query(name: str, schema: Schema, description: str) -> Schema:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "schema": schema,
        "description": description,
    }


_ID: Schema = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1},
    "description": "of a job",
}


def _paths() -> Schema:
    file = {**_ID, "name": "name", "description": "of a file"}
    limit = {"type": "integer", "minimum": 1, "maximum": MOST_JOBS, "default": 50}
    return {
        "/crawl": {
            "post": _operation(
                "crawl", "Crawl a site", "202", "Accepted", "429", body="CrawlOrder"
            ),
        },
        "/crawl/{id}": {
            "parameters": [_ID],
            "get": _operation("result", "A crawl, and what it has found", "200", "Result", "404"),
            "delete": {
                **_operation("remove", "A crawl that has ended is gone", "200", "Accepted", "404"),
                "responses": {
                    **_operation("", "It is gone, with all it has found", "200", "Accepted", "404")[
                        "responses"
                    ],
                    "202": {
                        "description": "It was queued or running, and ends now",
                        "content": _json(ref("Accepted")),
                    },
                },
                "summary": "Stop a crawl, or remove one that has ended",
            },
        },
        "/crawl/{id}/outputs/{name}": {
            "parameters": [_ID, file],
            "get": {
                "operationId": "output",
                "summary": "An output of a crawl, as a file",
                "responses": {
                    "200": {"description": "the file", "content": {"*/*": {"schema": {}}}},
                    "400": {"description": _ERRORS["400"], "content": _json(ref("Error"))},
                    "403": {"description": _ERRORS["403"], "content": _json(ref("Error"))},
                    "404": {"description": _ERRORS["404"], "content": _json(ref("Error"))},
                },
            },
        },
        "/crawler/seeds": {
            "post": _operation(
                "seeds",
                "Crawl from several URLs, as one job",
                "202",
                "Accepted",
                "429",
                body="SeedsOrder",
            ),
        },
        "/crawler/jobs": {
            "get": _operation(
                "jobs",
                "The jobs, the newest first",
                "200",
                "Jobs",
                parameters=[
                    _query("limit", limit, "how many, at most"),
                    _query(
                        "status", {"type": "string", "enum": list(Status)}, "only those that are so"
                    ),
                ],
            ),
        },
        "/crawler/jobs/{id}/status": {
            "parameters": [_ID],
            "get": _operation("status", "How far a job is", "200", "Status", "404"),
        },
        "/crawler/jobs/{id}/live": {
            "parameters": [_ID],
            "get": _operation("live", "All that is known of a job now", "200", "Live", "404"),
        },
        "/crawler/jobs/{id}/pages": {
            "parameters": [_ID],
            "get": _operation(
                "pages",
                "The pages of a job so far, in the order in which they were found",
                "200",
                "Pages",
                "404",
                parameters=[
                    _query("limit", {**limit, "maximum": MOST_PAGES}, "how many, at most"),
                    _query(
                        "after",
                        {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER, "default": 0},
                        "what 'next' was in the answer before",
                    ),
                ],
            ),
        },
        "/crawler/jobs/{id}/resume": {
            "parameters": [_ID],
            "post": _operation(
                "resume",
                "Go on with a job that was stopped or killed, or has failed",
                "202",
                "Job",
                *("404", "409", "429"),
            ),
        },
        "/crawler/stop": {
            "post": _operation(
                "stop",
                "Stop a job, or all of them",
                "202",
                "Stopping",
                "404",
                body="StopOrder",
                body_is_optional=True,
            ),
        },
        "/crawler/stats": {
            "get": _operation("stats", "All jobs that run, in figures", "200", "Stats"),
        },
        "/storage/get-page": {
            "post": _operation(
                "get_page", "A page as it was crawled", "200", "Page", "404", body="PageOrder"
            ),
        },
    }


@cache
def document() -> Schema:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "crawlproject",
            "version": "1",
            "description": "Start, watch, stop and read crawls. Errors are one line in 'error'.",
        },
        "paths": _paths(),
        "components": {
            "schemas": schemas(),
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
        },
        "security": [{}, {"basic": []}],
    }
