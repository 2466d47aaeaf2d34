"""How much may be sent to the service: Twisted reads it all before anybody asks who sent it."""

from __future__ import annotations

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


class BoundedRequest(Request):
    """What is beyond its bound is not kept, and gets 413. ``site.bound(request)`` tells it."""

    _bound = 0
    _come = 0
    _is_beyond = False

    def gotLength(self, length: int | None) -> None:
        site: Any = self.channel.site  # type: ignore[attr-defined]
        self._bound = site.bound(self)
        self._is_beyond = length is not None and length > self._bound
        super().gotLength(0 if self._is_beyond else length)  # type: ignore[no-untyped-call]

    def handleContentChunk(self, data: bytes) -> None:
        # How many there are may not have been said.
        self._come += len(data)
        self._is_beyond = self._is_beyond or self._come > self._bound
        if not self._is_beyond:
            super().handleContentChunk(data)  # type: ignore[no-untyped-call]

    def process(self) -> None:
        if not self._is_beyond:
            super().process()  # type: ignore[no-untyped-call]
            return
        problem = f"the body has more than {self._bound:,} bytes: send fewer"
        content = send(self, {"error": problem}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
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
