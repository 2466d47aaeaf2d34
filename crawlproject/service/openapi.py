"""The job API in words: the document at ``/openapi.json``. Tests hold the service to it."""

from __future__ import annotations

from functools import cache
from typing import Any

from crawlproject.frontier.base import State
from crawlproject.service.book import Status
from crawlproject.service.orders import EXTRA, MOST_SEEDS, OPTIONS
from crawlproject.spiders.arguments import ARGUMENTS

Schema = dict[str, Any]

MOST_JOBS = 500
MOST_PAGES = 500
LARGEST_NUMBER = 10**15

_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_URL: Schema = {
    "type": "string",
    "format": "uri",
    "pattern": r"^https?://[^\s/?#@,]+([/?#]\S*)?$",
    "example": "https://example.com",
}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _object(required: dict[str, Schema], **optional: Schema) -> Schema:
    """What is not named may be there too, as of another version."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
    }


def _closed(required: dict[str, Schema], optional: dict[str, Schema]) -> Schema:
    """A request: what is not named is a mistake."""
    return {**_object(required, **optional), "additionalProperties": False}


def _order(seeds: dict[str, Schema]) -> Schema:
    # Each is another way to say the other.
    return {**_closed(seeds, _options()), "not": {"required": ["delay", "rate"]}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _options() -> dict[str, Schema]:
    named = {
        name: {**option.schema, "description": ARGUMENTS[name].help}
        for name, option in OPTIONS.items()
    }
    return {**named, **EXTRA}


def _counts() -> dict[str, Schema]:
    seconds = {"type": ["number", "null"], "minimum": 0}
    return {
        **{
            name: {**_COUNT, "description": f"URLs: {what}"}
            for name, what in (
                ("total", "all that are known"),
                ("crawled", "fetched without an error"),
                ("in_progress", "that are fetched now"),
                ("queued", "that wait"),
                ("failed", "that ended with an error"),
                ("skipped", "that were not let in"),
            )
        },
        "pages": {**_COUNT, "description": "in the output, of all runs"},
        "pages_per_second": {"type": "number", "minimum": 0},
        "eta_seconds": {**seconds, "description": "if nothing more is found; null: unknown"},
        "elapsed_seconds": {**seconds, "description": "of the last run"},
        "phase": {
            "type": "string",
            "enum": ["queued", "starting", "running", "stopping", "writing", "ended"],
        },
    }


def _job() -> dict[str, Schema]:
    moment = {"type": ["string", "null"], "format": "date-time"}
    return {
        "id": _TEXT,
        "status": {"type": "string", "enum": list(Status)},
        "project": _TEXT,
        "spider": _TEXT,
        "seeds": {**_list(_TEXT), "description": "the first of them"},
        "seed_count": _COUNT,
        "arguments": {"type": "object", "additionalProperties": _TEXT},
        "queued_at": moment,
        "started_at": moment,
        "ended_at": moment,
        "runs": {**_COUNT, "description": "how often it was started; it goes on each time"},
        "exit_status": {"type": ["integer", "null"]},
        "problem": {**_or_null(_TEXT), "description": "why it failed, in one line"},
        "outputs": _list(_object({"name": _TEXT, "bytes": _COUNT, "href": _TEXT})),
        "log": {**_or_null(_TEXT), "description": "where its log can be read"},
    }


def _schemas() -> dict[str, Schema]:
    job = _object({**_job(), **_counts()})
    page = {
        "url": _TEXT,
        "status_code": {"type": ["integer", "null"]},
        "title": _or_null(_TEXT),
        "depth": _or_null(_COUNT),
        "error": _or_null(_TEXT),
    }
    pairs = {
        "type": ["array", "null"],
        "items": {"type": "array", "items": _TEXT},
        "description": "name and value of each; null: they are kept with store_bodies only",
    }
    number: Schema = {"type": "number", "minimum": 0}
    by_name: Schema = {"type": "object", "additionalProperties": _COUNT}
    return {
        "Error": _object({"error": {**_TEXT, "description": "what was wrong, in one line"}}),
        "CrawlOrder": _order({"url": _URL}),
        "SeedsOrder": _order(
            {"urls": {"type": "array", "minItems": 1, "maxItems": MOST_SEEDS, "items": _URL}}
        ),
        "StopOrder": _closed(
            {},
            {
                "job_id": {**_TEXT, "description": "without it, all jobs are stopped"},
                "kill": {"type": "boolean", "description": "at once, without writing outputs"},
            },
        ),
        "PageOrder": _closed(
            {"url": _URL},
            {
                "job_id": {**_TEXT, "description": "without it, the newest job that has the page"},
                "body": {"type": "boolean", "description": "whether the body is wanted, too"},
            },
        ),
        "Accepted": _object({"id": _TEXT, "status": _TEXT}, href=_TEXT),
        "Job": job,
        "Result": _object(
            {
                **_job(),
                **_counts(),
                "sitemap": {
                    "type": ["object", "array", "null"],
                    "description": "what -O sitemap.json writes; null: there is none yet",
                },
            }
        ),
        "Status": _object(
            {"id": _TEXT, "status": {"type": "string", "enum": list(Status)}, **_counts()}
        ),
        "Jobs": _object({"jobs": _list(_ref("Job")), "total": _COUNT}),
        "Live": _object(
            {
                "job": _ref("Job"),
                "snapshot": {"type": ["object", "null"]},
                "hosts": _list({"type": "object"}),
                "skips": _list({"type": "object"}),
            }
        ),
        "Pages": _object({"pages": _list(_object(page)), "next": _or_null(_COUNT)}),
        "Stopping": _object({"stopping": _list(_TEXT)}),
        "Stats": _object(
            {
                "jobs": _object({"queued": _COUNT, "running": _COUNT}),
                "pages": _COUNT,
                "pages_per_second": number,
                "bytes": _COUNT,
                "urls": _object(dict.fromkeys(State, _COUNT)),
                "duplicates": {**_COUNT, "description": "pages whose body came before, about"},
                "links": {**_COUNT, "description": "that were found"},
                "cache_hits": {**_COUNT, "description": "links to URLs that were known"},
                "politeness": _object(
                    {
                        "hosts": by_name,
                        "mean_delay_seconds": number,
                        "longest_delay_seconds": number,
                        "overloads": _COUNT,
                    }
                ),
            }
        ),
        "Page": _object(
            {
                **page,
                "job_id": _TEXT,
                "redirects_to": _or_null(_TEXT),
                "content_hash": {**_or_null(_TEXT), "description": "SHA-256 of the body"},
                "content_type": _or_null(_TEXT),
                "size": _or_null(_COUNT),
                "crawled_at": _or_null(_TEXT),
                "headers": pairs,
                "request_headers": pairs,
            },
            body={**_or_null(_TEXT), "description": "if it was asked for, and is stored"},
            body_encoding={"type": ["string", "null"], "enum": ["utf-8", "base64", None]},
            body_problem={**_or_null(_TEXT), "description": "why there is none"},
        ),
    }


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
    responses: Schema = {status: {"description": summary, "content": _json(_ref(answer))}}
    for error in sorted({"400", "403", *errors, *needs_body}):
        responses[error] = {"description": _ERRORS[error], "content": _json(_ref("Error"))}
    responses["401"] = {"description": "a password is set, and was not given"}
    operation: Schema = {"operationId": name, "summary": summary, "responses": responses}
    if parameters:
        operation["parameters"] = parameters
    if body:
        operation["requestBody"] = {
            "required": not body_is_optional,
            "content": _json(_ref(body)),
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
                        "content": _json(_ref("Accepted")),
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
                    "400": {"description": _ERRORS["400"], "content": _json(_ref("Error"))},
                    "403": {"description": _ERRORS["403"], "content": _json(_ref("Error"))},
                    "404": {"description": _ERRORS["404"], "content": _json(_ref("Error"))},
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
            "schemas": _schemas(),
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
        },
        "security": [{}, {"basic": []}],
    }
