"""What a value in Redis says that is to be crawled.

It is a URL, or JSON: ``{"url": …, "method": …, "meta": {…}}``, in which anything else is a
field of a form. Of the meta, what only the frontier can say of a request is left out.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit, urlunsplit

from crawlproject.urls.canonical import NotCrawlable, canonicalize

_MOST_BYTES = 1024 * 1024
_METHOD = re.compile(r"[A-Z]{1,20}")
# What the frontier itself says of a request.
_NOT_META = frozenset(
    {
        *("lease", "turn", "made_by", "fetch_started", "fetch_ended", "fetch_ms", "on_the_wire"),
        *("download_slot", "depth", "retry_times", "timed_by_frontier", "verbatim_url"),
        *("set_by_frontier", "taken_back"),
    }
)


class NoSeed(ValueError):
    """A value that nobody can crawl; the message says why."""


class Fed(NamedTuple):
    """A seed, and the value that it was."""

    raw: bytes
    url: str
    method: str = "GET"
    # Of a form that is posted.
    body: bytes = b""
    meta: dict[str, Any] = {}  # noqa: RUF012 - nobody changes it

    @property
    def is_plain(self) -> bool:
        """Whether it is its URL, and nothing more."""
        return self.method == "GET" and not self.body and not self.meta


def parsed(value: bytes, encoding: str = "utf-8") -> Fed:
    """The seed that a value is, or NoSeed."""
    if len(value) > _MOST_BYTES:
        raise NoSeed(f"it has {len(value)} bytes")
    try:
        text = value.decode(encoding).strip()
    except UnicodeDecodeError:
        raise NoSeed(f"it is not {encoding}") from None
    if not text.startswith("{"):
        return Fed(value, _url(text))
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoSeed(f"{_shown(text)} is broken JSON ({error})") from None
    if "url" not in fields:
        raise NoSeed(f"{_shown(text)} has no url")
    url, method = _url(fields.pop("url")), fields.pop("method", None) or "GET"
    meta = fields.pop("meta", None) or {}
    if not isinstance(method, str) or not _METHOD.fullmatch(method.upper()):
        raise NoSeed(f"{_shown(method)} is no method")
    if not isinstance(meta, dict):
        raise NoSeed(f"{_shown(meta)} is no meta: it must be an object")
    seed = Fed(value, url, method.upper(), meta=_meta(meta))
    return _with_form(seed, fields) if fields else seed


def _url(url: object) -> str:
    if not isinstance(url, str):
        raise NoSeed(f"{_shown(url)} is no URL")
    try:
        canonicalize(url)
    except NotCrawlable as error:
        raise NoSeed(str(error)) from None
    return url.strip()


def _with_form(seed: Fed, fields: dict[str, Any]) -> Fed:
    pairs = [
        (name, one if isinstance(one, str) else json.dumps(one))
        for name, given in fields.items()
        for one in (given if isinstance(given, list) else [given])
    ]
    form = urlencode(pairs)
    if seed.method == "POST":
        return seed._replace(body=form.encode("ascii"))
    return seed._replace(url=urlunsplit(urlsplit(seed.url)._replace(query=form)))


def _meta(meta: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name not in _NOT_META}


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
