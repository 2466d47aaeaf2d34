"""Records of a WARC, as warcio makes them; and which bodies are written already."""

from __future__ import annotations

import sqlite3
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord
    from warcio.warcwriter import WARCWriter

    from crawlproject.exports.warc_text import Pairs


class First(NamedTuple):
    """The record that has a body for the first time."""

    url: str
    date: str
    digest: str
    id: str


class Bodies:
    """Which bodies are written, by their hashes: on disk, because there may be millions."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute(
            "CREATE TABLE bodies (key TEXT PRIMARY KEY, url, date, digest, id) WITHOUT ROWID"
        )
        self._database.execute("BEGIN")

    def first(self, key: str) -> First | None:
        row = self._database.execute(
            "SELECT url, date, digest, id FROM bodies WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else First(*row)

    def add(self, key: str, first: First) -> None:
        self._database.execute("INSERT INTO bodies VALUES (?, ?, ?, ?, ?)", (key, *first))

    def close(self) -> None:
        self._database.close()


def record(
    writer: WARCWriter,
    url: str,
    kind: str,
    headers: dict[str, str],
    block: bytes,
    http: Any = None,
) -> ArcWarcRecord:
    made: ArcWarcRecord = writer.create_warc_record(
        url,
        kind,
        payload=BytesIO(block),
        length=len(block),
        warc_headers_dict=headers,
        http_headers=http,
    )
    return made


def http_headers(first: str, rest: str, pairs: Pairs) -> Any:
    """The headers of a request or an answer, with the bytes that they had.

    warcio would write those that are not ASCII in another way.
    """
    from warcio.statusandheaders import StatusAndHeaders

    headers = StatusAndHeaders(rest, pairs, protocol=first)
    text = f"{headers.to_str()}\r\n".encode("latin-1", "replace")
    headers.compute_headers_buffer = lambda _filter=None: setattr(headers, "headers_buff", text)
    return headers


def software() -> str:
    try:
        return f"crawlproject/{version('crawlproject')}"
    except PackageNotFoundError:
        # It is used from its folder.
        return "crawlproject"
