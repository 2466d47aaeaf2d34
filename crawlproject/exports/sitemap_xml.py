"""A sitemap for search engines, as sitemaps.org defines it, sorted by URL.

In it: the pages a search engine should know. They answered 200 with HTML, without error,
do not ask to be left out (noindex), do not name another page as the canonical one, do not have
the body of another page that comes first, are on the host of a seed (or on the one a seed
redirects to; without seeds on any), and their URL is shorter than the 2,048 characters allowed.
Where none is left, a warning says why. ``<lastmod>`` is there where the server has told it.
Items that are no pages are not in it, whatever fields they have.

A sitemap may hold 50,000 URLs and 50 MB. What is more goes into parts beside the file,
``sitemap-1.xml``, ``sitemap-2.xml`` …, and the file itself becomes their index, in which
the parts are at the root of the first seed's site. Where the file is no local one (S3,
standard output, compressed), there is no beside: it then holds the first URLs, up to the
limits, and a warning says how many were left out.

Always UTF-8; the feed options ``indent`` and ``encoding`` mean nothing here, and ``fields`` is
refused.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from itertools import chain
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from crawlproject.exports.files import local_path, start_over
from crawlproject.exports.lastmod import w3c_datetime
from crawlproject.exports.sorted_pages import SortedPagesExporter, shown_name
from crawlproject.exports.storage import final_of
from crawlproject.private_files import create_new, mode_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from crawlproject.records import Record

logger = logging.getLogger(__name__)

MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024
MAX_URL_LENGTH = 2_047
HTML_TYPES = ("text/html", "application/xhtml+xml")

# What the record of a page that is left out has, and nothing else.
_REASON = "left out"
# … and what is said of those that have none.
_ELSEWHERE = "are on other hosts than the seeds"

_NAMESPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_PROLOG = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_URLSET, _URLSET_END = _PROLOG + b"<urlset " + _NAMESPACE + b">\n", b"</urlset>\n"
_INDEX, _INDEX_END = _PROLOG + b"<sitemapindex " + _NAMESPACE + b">\n", b"</sitemapindex>\n"


class SitemapXmlExporter(SortedPagesExporter):
    keeps_others = False
    needs_links = False

    def __init__(
        self,
        file: IO[bytes],
        *,
        max_urls: int = MAX_URLS,
        max_bytes: int = MAX_BYTES,
        **options: Any,
    ) -> None:
        super().__init__(file, **options)
        self._max_urls = max_urls
        self._max_bytes = max_bytes
        # How many URLs the sitemap has.
        self.written = 0
        # Of the first URL; where the parts are when no seed says it.
        self._origin = ""

    @classmethod
    def problem(cls, options: Mapping[str, Any]) -> str | None:
        if options.get("fields"):
            return (
                "a sitemap has fields of its own: leave out fields, or name "
                "scrapy.exporters.XmlItemExporter in FEED_EXPORTERS"
            )
        return None

    def condense(self, record: Record) -> Record:
        # Unfit pages leave a reason: they replace a fit one of the same URL.
        if (reason := _unfitness(record)) is not None:
            return {_REASON: reason}
        return {
            name: record.get(name) for name in ("url", "last_modified", "depth", "redirected_from")
        }

    def write_document(self) -> None:
        entries = self._entries()
        count, overflow = self._write_urlset(self.file, entries)
        if overflow is None:
            if not count:
                self._warn_of_nothing()
            return
        path = local_path(self.file)
        if path is None:
            self._warn_of_left_out(count, "parts need a local, uncompressed file")
            return
        try:
            parts = self._write_parts(path, overflow, entries)
        except OSError as error:
            self._warn_of_left_out(count, f"a part cannot be written ({error})")
            return
        start_over(self.file)
        self._write_index(parts)

    def _entries(self) -> Iterator[bytes]:
        hosts = self._hosts() if self.seeds else None
        for page in self.pages():
            if _REASON not in page and (hosts is None or _hostname(page["url"]) in hosts):
                self._origin = self._origin or _origin(page["url"])
                yield _entry(page)

    def _hosts(self) -> set[str]:
        """The hosts of the seeds, and those they redirect to."""
        seeds = {host for seed in self.seeds if (host := _hostname(seed))}
        hosts = set(seeds)
        for page in self.pages():
            host = _hostname(page["url"]) if _REASON not in page else None
            if host is not None and host not in hosts:
                sources = page["redirected_from"]
                # Depth 0 by way of a seed's host: it is a seed that led there.
                if (
                    page["depth"] == 0
                    and isinstance(sources, list)
                    and not seeds.isdisjoint(_hostname(str(source)) for source in sources)
                ):
                    hosts.add(host)
        return hosts

    def _write_urlset(self, file: IO[bytes], entries: Iterator[bytes]) -> tuple[int, bytes | None]:
        """Write entries up to the limits: how many, and the first one that did not fit."""
        file.write(_URLSET)
        count, size = 0, len(_URLSET) + len(_URLSET_END)
        overflow = None
        for entry in entries:
            full = count >= self._max_urls or size + len(entry) > self._max_bytes
            # At least one each, or there would be no end of parts.
            if full and count:
                overflow = entry
                break
            file.write(entry)
            count, size = count + 1, size + len(entry)
        file.write(_URLSET_END)
        self.written += count
        return count, overflow

    def _write_parts(
        self, path: Path, overflow: bytes | None, entries: Iterator[bytes]
    ) -> list[Path]:
        parts = [_part(path, 1)]
        # The first part is what is already in the file.
        self.file.flush()
        mode = mode_of(path, 0o666)
        with path.open("rb") as first, create_new(parts[0], mode=mode) as file:
            shutil.copyfileobj(first, file)
        while overflow is not None:
            parts.append(_part(path, len(parts) + 1))
            with create_new(parts[-1], mode=mode) as file:
                _, overflow = self._write_urlset(file, chain((overflow,), entries))
        return parts

    def _write_index(self, parts: list[Path]) -> None:
        origin = _origin(self.seeds[0]) if self.seeds else self._origin
        self.file.write(_INDEX)
        for part in parts:
            location = escape(f"{origin}/{quote(part.name, errors='replace')}")
            self.file.write(f"<sitemap><loc>{location}</loc></sitemap>\n".encode())
        self.file.write(_INDEX_END)

    def _warn_of_nothing(self) -> None:
        """A site whose pages all name others is a mistake that nobody sees otherwise."""
        reasons = Counter(page.get(_REASON, _ELSEWHERE) for page in self.pages())
        said = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        if reasons:
            logger.warning(
                "The XML sitemap %s has no URLs; of the pages %s", shown_name(self.file), said
            )

    def _warn_of_left_out(self, written: int, reason: str) -> None:
        logger.warning(
            "%d URLs were left out of the XML sitemap %s: it is full (%d URLs or %d bytes) and %s",
            sum(1 for _ in self._entries()) - written,
            shown_name(self.file),
            self._max_urls,
            self._max_bytes,
            reason,
        )


def _unfitness(page: Record) -> str | None:
    """Why a page is left out, as what so many of them do; None: it is not."""
    content_type = page.get("content_type")
    if page.get("status_code") != 200 or page.get("error"):
        return "did not answer 200"
    if not isinstance(content_type, str) or _kind(content_type) not in HTML_TYPES:
        return "are no HTML"
    if page.get("noindex"):
        return "ask not to be indexed"
    if page.get("canonical") not in (None, page.get("url")):
        return "name another page as the canonical one"
    if page.get("duplicate_of"):
        return "have the body of another page"
    if len(_location(page["url"])) > MAX_URL_LENGTH:
        return "have a URL that is too long"
    return None


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _entry(page: Record) -> bytes:
    modified = page["last_modified"]
    modified = w3c_datetime(modified) if isinstance(modified, str) else None
    lastmod = f"<lastmod>{modified}</lastmod>" if modified else ""
    return f"<url><loc>{escape(_location(page['url']))}</loc>{lastmod}</url>\n".encode()


def _location(url: str) -> str:
    """The URL in ASCII, which also leaves no character that XML forbids."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return quote(url, safe="%/:?#[]@!$&'()*+,;=~", errors="replace")


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    # Rebuilt, to leave out a user name and password.
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}"


def _part(written: Path, number: int) -> Path:
    path = final_of(written)
    return path.with_name(f"{path.stem}-{number}{path.suffix}")
