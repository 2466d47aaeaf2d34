"""Files as answers, in memory that does not grow with them."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import ensureDeferred
from twisted.protocols.basic import FileSender

from crawlproject.records import json_encoder
from crawlproject.service.http import JSON, client_gone

if TYPE_CHECKING:
    from pathlib import Path

    from twisted.internet.defer import Deferred
    from twisted.web.server import Request

_write = json_encoder("utf-8")

_TYPES = {
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".gz": "application/gzip",
    ".log": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
}


# What a site has said in a file is not to be run.
_INERT = "sandbox; default-src 'none'"
# A report has a script of its own, and a policy that lets no other run. It is a stranger here: it
# can ask the service for nothing.
_REPORT = (
    "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox; "
    "connect-src 'none'"
)


def send_document(
    request: Request, members: dict[str, Any], name: str, path: Path
) -> Deferred[None]:
    """An object in JSON, with the JSON of a file as its last member."""
    head = _write(members)[:-1] + f',"{name}":'.encode()
    request.setHeader(b"Content-Type", JSON)
    request.setHeader(b"Cache-Control", b"no-store")
    return ensureDeferred(_send(request, head, path, b"}\n"))


def send_file(request: Request, path: Path) -> Deferred[None]:
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    request.setHeader("Content-Type", kind or "application/octet-stream")
    request.setHeader("Cache-Control", "no-cache")
    request.setHeader("Content-Security-Policy", _REPORT if path.suffix == ".html" else _INERT)
    request.setHeader("Content-Disposition", f'inline; filename="{path.name}"')
    return ensureDeferred(_send(request, b"", path, b""))


async def _send(request: Request, head: bytes, path: Path, tail: bytes) -> None:
    # A crawl that goes on puts another file in its place: this one stays as it is.
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        request.setHeader("Content-Length", str(len(head) + size + len(tail)))
        gone = client_gone(request)
        if request.method != b"HEAD":
            request.write(head)
            await FileSender().beginFileTransfer(file, request)
            if not gone:
                request.write(tail)
    if not gone:
        request.finish()
