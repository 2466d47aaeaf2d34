"""What the test site answers, as its spec says it.* Only the standard library.

A spec is JSON::

    {"pages": {"/path": PAGE, …},       by path, or path and query (looked up first)
     "generated": {"kind": …},          pages that nobody wants to write (see generated.py)
     "trap": "calendar",                pages without an end (see traps.py)
     "robots": "text" or PAGE,          absent: 404
     "default": 404 or PAGE,            any other path
     "random_delay": [min, max],        seconds, before every page but robots.txt
     "seed": 0,                         … the same for a path in every run
     "login": {"path": …, "form": …},   pages for who has sent a form (see login.py)
     "hosts": {"127.0.0.2": SPEC}}      a site of its own for that Host

    PAGE: {"links": […], "title": …     made into an HTML body, unless there is a "body"
           "body": text, "body_base64": bytes, "content_type": …, "headers": {…},
           "status": 200, "redirect": "/to" (status 301 unless given),
           "etag": text, "modified": text, for headers by which it may be asked for: 304
           if it is still the same
           "together": n                no answer before n requests for such pages are open,
                                        which then are answered, each after its delay
           "delay": seconds before the answer,
           "chunked": true,
           "stall_after": n             bytes of the body, then silence
           "endless": true              the body again and again, until the client goes
           "hang": true                 never answer
           "drop": true                 close the connection instead of an answer
           "raw": text                  these bytes (latin-1), then close
           "times": {"1": PAGE, …}}     what differs at the nth request

``{port}`` in any text stands for the server's port.
"""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any
from urllib.parse import quote
from zlib import crc32

from tests.site.generated import Generated
from tests.site.login import Login
from tests.site.traps import fields_of

URL_CHARACTERS = "/?&=%:;,@+!$'()*~[]#"

Fields = dict[str, Any]


def html(title: str, links: list[str], text: str = "") -> str:
    """A page with all its links."""
    anchors = "\n".join(f'<li><a href="{escape(href)}">{escape(href)}</a></li>' for href in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title></head>\n"
        f"<body><h1>{escape(title)}</h1>\n<p>{escape(text)}</p>\n<ul>\n{anchors}\n</ul></body></html>\n"
    )


class Page:
    """One answer."""

    def __init__(self, target: str, fields: Fields) -> None:
        redirect = fields.get("redirect")
        self.status = int(fields.get("status", 200 if redirect is None else 301))
        self.content_type: str = fields.get("content_type", "text/html; charset=utf-8")
        self.headers: dict[str, str | list[str]] = dict(fields.get("headers", {}))
        if redirect is not None:
            self.headers.setdefault("Location", redirect)
        self.etag: str | None = fields.get("etag")
        self.modified: str | None = fields.get("modified")
        if self.etag is not None:
            self.headers["ETag"] = self.etag
        if self.modified is not None:
            self.headers["Last-Modified"] = self.modified
        self.together = int(fields.get("together", 1))
        self.delay = float(fields.get("delay", 0))
        self.chunked = bool(fields.get("chunked")) or bool(fields.get("endless"))
        self.stall_after: int | None = fields.get("stall_after")
        self.endless = bool(fields.get("endless"))
        self.hang = bool(fields.get("hang"))
        self.drop = bool(fields.get("drop"))
        self.raw: str | None = fields.get("raw")
        if "body_base64" in fields:
            self.body = base64.b64decode(fields["body_base64"])
        elif "body" in fields:
            self.body = fields["body"].encode()
        else:
            title = fields.get("title", target)
            self.body = html(title, fields.get("links", []), fields.get("text", "")).encode()
        if self.endless and not self.body:
            self.body = b"endless "

    def is_unchanged(self, headers: dict[str, str]) -> bool:
        """Whether a request with such headers knows it as it is. The first condition counts."""
        if self.status != 200:
            return False
        if "if-none-match" in headers:
            return self.etag is not None and headers["if-none-match"] == self.etag
        return self.modified is not None and headers.get("if-modified-since") == self.modified


class Spec:
    """The answers of one host, and how often each was given."""

    def __init__(self, spec: Fields) -> None:
        self._pages = {
            quote(key, safe=URL_CHARACTERS): page for key, page in spec.get("pages", {}).items()
        }
        for key, page in self._pages.items():
            for fields in ({}, *page.get("times", {}).values()):
                Page(key, page | fields)  # raises now what is wrong, not at the request
        self._generated = Generated(spec["generated"]) if "generated" in spec else None
        self._trap: str | None = spec.get("trap")
        self._robots = spec.get("robots")
        self._default = spec.get("default", 404)
        self._random_delay = spec.get("random_delay")
        self._seed = spec.get("seed", 0)
        self._hits: dict[str, int] = {}
        self.login = Login(spec["login"]) if "login" in spec else None

    def answer(self, target: str) -> Page:
        """The answer to the next request for ``target``: a path, with its query."""
        key, fields = self._find(target)
        hit = self._hits[key] = self._hits.get(key, 0) + 1
        fields = fields | fields.get("times", {}).get(str(hit), {})
        if self._random_delay and key != "/robots.txt" and "delay" not in fields:
            # From the path, not from the order of requests, which no two runs share.
            low, high = self._random_delay
            chance = crc32(f"{self._seed} {key} {hit}".encode()) / 2**32
            fields = fields | {"delay": low + (high - low) * chance}
        return Page(target, fields)

    def _find(self, target: str) -> tuple[str, Fields]:
        path = target.partition("?")[0]
        for key in (target, path):
            if key in self._pages:
                return key, self._pages[key]
        if path == "/robots.txt":
            if self._robots is None:
                return path, {"status": 404, "body": ""}
            fields = {"body": self._robots} if isinstance(self._robots, str) else self._robots
            return path, {"content_type": "text/plain", "body": ""} | fields
        if self._generated and (fields := self._generated.fields(target)) is not None:
            return target, fields
        if self._trap and (fields := fields_of(self._trap, target)) is not None:
            return target, fields
        if isinstance(self._default, int):
            return target, {"status": self._default, "title": f"Nothing at {target}"}
        return target, self._default


def load(text: str, port: int) -> tuple[Spec, dict[str, Spec]]:
    """The spec for any host, and those for hosts of their own."""
    spec = json.loads(text.replace("{port}", str(port)))
    hosts = {host: Spec(of_host) for host, of_host in spec.get("hosts", {}).items()}
    return Spec(spec), hosts
