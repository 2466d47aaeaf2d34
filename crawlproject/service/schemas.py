"""The values of the job API, as its OpenAPI document describes them."""

from __future__ import annotations

from typing import Any

from crawlproject.frontier.base import State
from crawlproject.service.book import Status
from crawlproject.service.orders import EXTRA, MOST_SEEDS, OPTIONS
from crawlproject.spiders.arguments import ARGUMENTS

Schema = dict[str, Any]

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


def ref(name: str) -> Schema:
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


def schemas() -> dict[str, Schema]:
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
        "Jobs": _object({"jobs": _list(ref("Job")), "total": _COUNT}),
        "Live": _object(
            {
                "job": ref("Job"),
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
