"""How much may be sent to the service: Twisted reads it all before anybody asks who sent it."""

from __future__ import annotations

import re
from base64 import b64encode
from hmac import compare_digest
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from twisted.web.server import Request

from crawlproject.service.http import MOST_BYTES, send

if TYPE_CHECKING:
    from collections.abc import Callable

# From who has the password: an egg. From who has not shown it, where there is one.
MOST_OF_AN_EGG = 256 * 1024 * 1024
MOST_OF_A_STRANGER = 16 * 1024
# Fields of a form: Twisted takes seconds to parse a million of them.
MOST_FIELDS = 1000
_BOUNDARY = re.compile(rb'\A\s*multipart/form-data\s*;.*boundary="?([^";\s]{1,200})', re.IGNORECASE)


class BoundedRequest(Request):
    """What is beyond its bound is not kept, and gets 413. ``site.bound(request)`` tells it."""

    _bound = 0
    _come = 0
    # What is between two fields of a form; nothing, if the body is none.
    _separator = b""
    _fields = 0
    _problem: str | None = None

    def gotLength(self, length: int | None) -> None:
        site: Any = self.channel.site  # type: ignore[attr-defined]
        self._bound = site.bound(self)
        kind = self.getHeader(b"content-type") or b""
        if kind.strip().lower().startswith(b"application/x-www-form-urlencoded"):
            self._separator = b"&"
        elif boundary := _BOUNDARY.match(kind):
            self._separator = b"--" + boundary[1]
        self._check(length or 0)
        kept = length if self._problem is None else 0
        super().gotLength(kept)  # type: ignore[no-untyped-call]

    def handleContentChunk(self, data: bytes) -> None:
        # How many there are may not have been said.
        self._come += len(data)
        if self._separator:
            self._fields += data.count(self._separator)
        self._check(self._come)
        if self._problem is None:
            super().handleContentChunk(data)  # type: ignore[no-untyped-call]

    def _check(self, length: int) -> None:
        if length > self._bound:
            self._problem = f"the body has more than {self._bound:,} bytes: send fewer"
        elif self._fields > MOST_FIELDS:
            self._problem = f"the form has more than {MOST_FIELDS:,} fields: send fewer"

    def process(self) -> None:
        if self._problem is None:
            super().process()  # type: ignore[no-untyped-call]
            return
        content = send(self, {"error": self._problem}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.write(content)  # type: ignore[no-untyped-call]
        self.finish()  # type: ignore[no-untyped-call]


def bound_by(username: str, password: str) -> Callable[[Any], int]:
    """How many bytes a request may have, by whether it shows the password that there is."""
    if not username:
        return lambda request: MOST_BYTES
    expected = b"Basic " + b64encode(f"{username}:{password}".encode())

    def bound(request: Request) -> int:
        shown = request.requestHeaders.getRawHeaders(b"authorization", [b""])[0]
        return MOST_OF_AN_EGG if compare_digest(shown, expected) else MOST_OF_A_STRANGER

    return bound
