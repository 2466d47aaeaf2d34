"""An archive of the crawl: WARC 1.1 (ISO 28500), for archivists and their tools.

One ``warcinfo`` record, then by URL, for each answer: ``response`` (or ``revisit``, where the
same body was written before), ``request`` and ``metadata``. With the extension .gz each
record is compressed by itself, so that a reader can begin anywhere.

- It is written when the crawl ends, from what the store has (``pipelines/store.py``), so it
  holds the answers of all runs. Giving such an output switches STORE_BODIES on.
- A redirect that was followed is a ``response`` with its headers and without its body.
- A page without an answer (no such host, forbidden by robots.txt), or whose body is not in
  the store, is a ``metadata`` record alone.
- Dates are those of the crawl, and record ids follow from the content: writing it twice
  gives the same bytes.
- Items that are no pages are not in it.
"""

from __future__ import annotations

import logging
from contextlib import closing, suppress
from typing import IO, TYPE_CHECKING, Any, ClassVar

from crawlproject.exports import warc_text
from crawlproject.exports.sorted_pages import CHOOSING, SortedPagesExporter
from crawlproject.exports.warc_records import Bodies, First, http_headers, record, software
from crawlproject.frontier import frontier_of
from crawlproject.pipelines.blobs import MissingBody
from crawlproject.pipelines.places import Shelves
from crawlproject.pipelines.stored import checked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from warcio.recordloader import ArcWarcRecord
    from warcio.warcwriter import WARCWriter

    from crawlproject.frontier.reading import Answer

logger = logging.getLogger(__name__)

_NOT_STORED = "it was fetched when STORE_BODIES was off, or a pipeline has replaced it"


class WarcExporter(SortedPagesExporter):
    is_compressed: ClassVar[bool] = False
    keeps_others = False

    def __init__(self, file: IO[bytes], *, shelves: Shelves | None = None, **options: Any) -> None:
        super().__init__(file, **options)
        self._shelves = shelves
        self._info = ""
        # Answers that are not in the archive though the crawl has had them, and an example.
        self.missing = 0
        self._example = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **options: Any) -> Self:
        with suppress(LookupError):
            folder = frontier_of(crawler).folder
            settings = crawler.settings
            shelves = Shelves(folder, settings["STORE_URI"], settings.getint("DOWNLOAD_MAXSIZE"))
            options.setdefault("shelves", shelves)
        return super().from_crawler(crawler, file, **options)

    @classmethod
    def problem(cls, options: Mapping[str, Any]) -> str | None:
        chosen = [name for name in CHOOSING if options.get(name)]
        return f"a WARC holds all pages: leave out {chosen[0]}" if chosen else None

    def take(self, item: Any) -> None:
        # The answers are not in the items.
        raise OSError("a WARC is written from a crawl directory as a whole, not item by item")

    def write_document(self) -> None:
        # It takes a seventh of a second to load.
        from warcio.warcwriter import WARCWriter

        writer = WARCWriter(self.file, gzip=self.is_compressed, warc_version="1.1")
        self._write_info(writer)
        if self._reader is None:
            return
        with closing(Bodies()) as bodies:
            for answer in self._reader.answers():
                self._write_answer(writer, answer, bodies)
        if self.missing:
            logger.warning(
                "%d pages are in the archive without their answers, because these are not in the "
                "store; the first: %s",
                self.missing,
                self._example,
            )

    def _write_info(self, writer: WARCWriter) -> None:
        fields = {
            "software": software(),
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "description": f"Crawl of {' '.join(map(str, self.seeds))[:1000]}",
        }
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        date = warc_text.date_of(self.started_at.isoformat() if self.started_at else None)
        self._info = warc_text.record_id("warcinfo", date, *self.seeds)
        headers = {"WARC-Record-ID": self._info, "WARC-Date": date}
        writer.write_record(record(writer, "", "warcinfo", headers, block))

    def _write_answer(self, writer: WARCWriter, answer: Answer, bodies: Bodies) -> None:
        page, stored = answer.record, answer.stored
        if stored is None:
            if page.get("status_code") is not None:
                self._miss(page["url"], _NOT_STORED)
            self._write_metadata(writer, page, None, {})
            return
        try:
            body = self._body(checked(stored))
        except MissingBody as error:
            self._miss(page["url"], str(error))
            self._write_metadata(writer, page, None, {})
            return
        response = self._response(writer, stored, body, bodies)
        writer.write_record(response)
        response_id = response.rec_headers.get_header("WARC-Record-ID")
        writer.write_record(self._request(writer, stored, response_id))
        more = {
            "url": None if stored["url"] == page["url"] else page["url"],
            "contentHash": stored["content_hash"] and f"sha256:{stored['content_hash']}",
            "redirectsTo": answer.target,
        }
        self._write_metadata(writer, page, response_id, more)

    def _miss(self, url: str, problem: str) -> None:
        self.missing += 1
        self._example = self._example or f"{url}: {problem}"

    def _body(self, stored: dict[str, Any]) -> bytes:
        """Of a redirect none is kept."""
        if stored["content_hash"] is None:
            return b""
        assert self._shelves is not None
        return self._shelves.blobs(stored["store"]).get(
            stored["content_hash"], stored["body_bytes"]
        )

    def _response(
        self, writer: WARCWriter, stored: dict[str, Any], body: bytes, bodies: Bodies
    ) -> ArcWarcRecord:
        key, url = stored["content_hash"], stored["url"]
        first = bodies.first(key) if body else None
        kind = "response" if first is None else "revisit"
        headers = self._headers(kind, stored)
        if stored["ip_address"] is not None:
            headers["WARC-IP-Address"] = stored["ip_address"]
        if len(body) < stored["body_bytes"]:
            headers["WARC-Truncated"] = "unspecified"
        http = http_headers(
            *warc_text.status_line(stored), warc_text.response_headers(stored, len(body))
        )
        if first is not None:
            headers["WARC-Refers-To"] = first.id
            revisit: ArcWarcRecord = writer.create_revisit_record(
                url, first.digest, first.url, first.date, http, headers
            )
            return revisit
        response = record(writer, url, kind, headers, body, http)
        if body:
            digest = response.rec_headers.get_header("WARC-Payload-Digest")
            bodies.add(key, First(url, headers["WARC-Date"], digest, headers["WARC-Record-ID"]))
        return response

    def _request(
        self, writer: WARCWriter, stored: dict[str, Any], response_id: str
    ) -> ArcWarcRecord:
        headers = self._headers("request", stored) | {"WARC-Concurrent-To": response_id}
        method, _, rest = warc_text.request_line(stored).partition(" ")
        http = http_headers(method, rest, warc_text.request_headers(stored))
        return record(writer, stored["url"], "request", headers, b"", http)

    def _headers(self, kind: str, stored: dict[str, Any]) -> dict[str, str]:
        date = warc_text.date_of(stored["crawled_at"])
        return {
            "WARC-Record-ID": warc_text.record_id(kind, stored["url"], date, self._info),
            "WARC-Date": date,
            "WARC-Warcinfo-ID": self._info,
        }

    def _write_metadata(
        self,
        writer: WARCWriter,
        page: dict[str, Any],
        response_id: str | None,
        more: dict[str, object],
    ) -> None:
        asked = {"url": page["url"], "crawled_at": page.get("fetched_at")}
        headers = self._headers("metadata", asked)
        if response_id is not None:
            headers["WARC-Concurrent-To"] = response_id
        block = warc_text.metadata(page, more)
        writer.write_record(record(writer, page["url"], "metadata", headers, block))


class CompressedWarcExporter(WarcExporter):
    is_compressed = True
