"""What a crawl directory knows, read page by page, in memory that does not grow.

For the outputs at the end of a crawl, and for commands that look at one, also while it runs.
"""

from __future__ import annotations

import sqlite3
from array import array
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.base import Facts, Skip
from crawlproject.frontier.entry import BY_SITEMAP, NO_SITEMAP, Way, address_of, depth_of, is_orphan
from crawlproject.frontier.notes import ADDED_FIELDS, SEEDS, STARTED_AT, texts_in
from crawlproject.frontier.redirects import sources_of
from crawlproject.frontier.seen import fingerprint
from crawlproject.records import PAGE, PAGE_CLASS, completed, from_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.records import Record

# URLs by id that are kept while pages are read: links repeat.
_URLS = 100_000
# How many are read together: those that a page was the first to link to have ids in a row.
_AT_ONCE = 16

LINK_BYTES = array("I").itemsize

# Not when it redirects, though it may have been taken for one redirect too many first.
# An empty record: a pipeline has dropped the page.
IS_PAGE = "(target IS NULL OR state = 3) AND record <> ''"
# An item that stands for a page. Other items are none, whatever fields they have.
IS_PAGE_ITEM = f"kind = '{PAGE}' AND page IS NOT NULL"


class Node(NamedTuple):
    """A URL among redirects."""

    id: int
    url: str
    way: Way


class Answer(NamedTuple):
    """What a URL has answered, and what the store has of it."""

    # The page, without its links; of a redirect, what it answered.
    record: Record
    # None: nothing of it is stored, or there was no answer.
    stored: Record | None
    target: str | None


class Reader:
    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self._url_of_link = _Urls(database).__getitem__
        (self._has_hints,) = database.execute("SELECT EXISTS (SELECT 1 FROM hints)").fetchone()

    def count_pages(self) -> int:
        (number,) = self.database.execute(
            f"SELECT count(*) FROM pages JOIN urls USING (id) WHERE {IS_PAGE}"  # noqa: S608
        ).fetchone()
        return int(number)

    def count_rendered(self) -> int:
        """How many pages a browser has shown."""
        (number,) = self.database.execute(
            "SELECT count(*) FROM pages WHERE record LIKE '%\"rendered\":true%'"
            " AND json_extract(record, '$.rendered')"
        ).fetchone()
        return int(number)

    def has_links_left_out(self) -> bool:
        """Whether a page had more links than are kept."""
        (has_any,) = self.database.execute(
            "SELECT EXISTS (SELECT 1 FROM pages WHERE record LIKE '%\"links_left_out\":%'"
            " AND json_extract(record, '$.links_left_out') IS NOT NULL)"
        ).fetchone()
        return bool(has_any)

    def count_others(self) -> int:
        """How many items are no pages."""
        (number,) = self.database.execute(
            f"SELECT count(*) FROM items WHERE NOT ({IS_PAGE_ITEM})"  # noqa: S608
        ).fetchone()
        return int(number)

    def count(self) -> int:
        """How many pages there are, those that items stand for too, and items that are none."""
        (has_items,) = self.database.execute(
            f"SELECT EXISTS (SELECT 1 FROM items WHERE {IS_PAGE_ITEM})"  # noqa: S608
        ).fetchone()
        if not has_items:
            return self.count_pages() + self.count_others()
        (pages,) = self.database.execute(
            "SELECT count(*) FROM (SELECT url FROM pages JOIN urls USING (id) "  # noqa: S608
            f"WHERE {IS_PAGE} UNION SELECT page FROM items WHERE {IS_PAGE_ITEM})"
        ).fetchone()
        return int(pages) + self.count_others()

    def pages(
        self,
        *,
        with_links: bool = True,
        with_class: bool = False,
        amend: Callable[[int, Record], bool] | None = None,
    ) -> Iterator[tuple[str, Record]]:
        """The pages by URL, each with its kind, and with the last word on depth and referrer.

        A page that an item stands for, rather than a fetched URL, comes in its place.
        Without the links, ``outlinks`` has their number. ``with_class``: records name their class
        (``PAGE_CLASS``). ``amend`` is given the id and the record of each page, may add to it, and
        says whether it is to be shown.
        """
        # Only the keys are sorted: the records would be too much to carry.
        rows = self.database.execute(
            "SELECT url, 0 AS item, id FROM pages JOIN urls USING (id) "  # noqa: S608
            f"WHERE {IS_PAGE} "
            f"UNION ALL SELECT page, 1, id FROM items WHERE {IS_PAGE_ITEM} ORDER BY 1, 2, 3"
        )
        (has_redirects,) = self.database.execute(
            "SELECT EXISTS (SELECT 1 FROM urls WHERE target IS NOT NULL)"
        ).fetchone()
        for _, same in groupby(rows, key=itemgetter(0)):
            *_, (_, is_item, number) = same
            if is_item:
                record = self._item(number)
            else:
                record = self._page(number, with_links, has_redirects)
                if amend is not None and not amend(number, record):
                    continue
            if not with_class:
                record.pop(PAGE_CLASS, None)
            yield PAGE, record

    def note(self, name: str) -> str | None:
        """What the crawl has remembered under a name."""
        row = self.database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def answers(self) -> Iterator[Answer]:
        """Every page and every redirect that was followed, by URL."""
        rows = self.database.execute(
            "SELECT id FROM pages JOIN urls USING (id) WHERE record <> '' ORDER BY url"
        )
        for (number,) in rows:
            if (answer := self.answer(number)) is not None:
                yield answer

    def answer(self, number: int) -> Answer | None:
        """What came of a URL, by its id; None: no page of it is kept."""
        # One that has failed may have a target too: it was one redirect too many.
        row = self.database.execute(
            "SELECT CASE WHEN state <> 3 THEN target END, answer "
            "FROM pages JOIN urls USING (id) LEFT JOIN stored USING (id) "
            "WHERE id = ? AND record <> ''",
            (number,),
        ).fetchone()
        if row is None:
            return None
        target, stored = row
        record = self._page(number, with_links=False, has_redirects=True)
        record.pop(PAGE_CLASS, None)
        return Answer(
            record,
            None if stored is None else _record(stored),
            None if target is None else self.url_of(target),
        )

    def others(self) -> Iterator[tuple[str, Record]]:
        """The items that are no pages, sorted by their text."""
        for kind, text in self.database.execute(
            f"SELECT kind, record FROM items WHERE NOT ({IS_PAGE_ITEM}) "  # noqa: S608
            "ORDER BY record, kind"
        ):
            yield kind, _record(text)

    def arrived(self) -> Iterator[Record]:
        """The items that are no pages, in the order in which they came."""
        for (text,) in self.database.execute(
            f"SELECT record FROM items WHERE NOT ({IS_PAGE_ITEM}) ORDER BY id"  # noqa: S608
        ):
            yield _record(text)

    def started_at(self) -> datetime | None:
        """When the first run began."""
        note = self.note(STARTED_AT)
        try:
            return None if note is None else datetime.fromisoformat(note)
        except ValueError:
            raise sqlite3.DatabaseError(f"the note {STARTED_AT!r} is no time") from None

    def seeds(self) -> list[str]:
        """The seeds of all runs."""
        return self.texts(SEEDS)

    def added_fields(self) -> set[str]:
        """The names of the fields that pipelines have added to pages."""
        return set(self.texts(ADDED_FIELDS))

    def texts(self, name: str) -> list[str]:
        """Those in a note; none if there is no such note."""
        try:
            return texts_in(name, self.note(name))
        except ValueError as error:
            raise sqlite3.DatabaseError(str(error)) from None

    def skips(self) -> Iterator[Skip]:
        for url, reason, rule, level, referrer in self.database.execute(
            "SELECT u.url, u.reason, u.rule, u.level, r.url FROM urls u "
            "LEFT JOIN urls r ON r.id = u.referrer WHERE u.state = 4 ORDER BY u.url"
        ):
            of = referrer and address_of(referrer)
            yield Skip(address_of(url), reason, depth_of(level), of, rule)

    def linked(self) -> Iterator[str]:
        """The URLs that were not skipped, but for those that a redirect has led to."""
        for (url,) in self.database.execute(
            "SELECT url FROM urls WHERE state <> 4 AND hops = 0 ORDER BY id"
        ):
            yield url

    def has_fetched_a_seed(self) -> bool:
        row = self.database.execute("SELECT 1 FROM urls WHERE level = 0 AND state = 2 LIMIT 1")
        return row.fetchone() is not None

    def facts(self, url: str) -> Facts | None:
        """The final depth, referrer and redirects of a URL."""
        row = self.database.execute(
            "SELECT id, level, hops, referrer, target IS NULL OR state = 3 FROM urls "
            "WHERE fingerprint = ? AND url = ?",
            (fingerprint(url), url),
        ).fetchone()
        if row is None:
            return None
        number, level, hops, referrer, is_page = row
        sources = sources_of(Node(number, url, Way(level, hops)), self)
        return Facts(depth_of(level), self._referrer(referrer), sources, bool(is_page))

    def depths(self) -> dict[int, int]:
        """How many pages are at which depth."""
        rows = self.database.execute(
            f"SELECT level % {BY_SITEMAP}, count(*) FROM urls "  # noqa: S608
            "WHERE (state = 3 OR (state = 2 AND target IS NULL) "
            f"OR (state = 4 AND id IN (SELECT id FROM pages))) AND {NO_SITEMAP} "
            "GROUP BY 1 ORDER BY 1"
        )
        return dict(rows)

    def links_of(self, packed: bytes) -> list[str]:
        return list(map(self._url_of_link, array("I", packed)))

    def url_of(self, number: int) -> str:
        return self._url_of_link(number << 1)

    def sources(self, node: Node) -> list[Node]:
        """The URLs that redirect to this one."""
        return [
            Node(number, url, Way(level, hops, referrer or ""))
            for number, url, level, hops, referrer in self.database.execute(
                "SELECT u.id, u.url, u.level, u.hops, r.url FROM urls u "
                "LEFT JOIN urls r ON r.id = u.referrer WHERE u.target = ?",
                (node.id,),
            )
        ]

    def _page(self, number: int, with_links: bool, has_redirects: bool) -> Record:
        url, level, hops, referrer, text, links = self.database.execute(
            "SELECT u.url, u.level, u.hops, u.referrer, p.record, p.links "
            "FROM pages p JOIN urls u USING (id) WHERE p.id = ?",
            (number,),
        ).fetchone()
        record = completed(_record(text))
        if "links" not in record and with_links:
            record["links"] = [] if links is None else self.links_of(links)
        elif not with_links:
            inline = record.pop("links", None)
            packed = 0 if links is None else len(links) // LINK_BYTES
            record["outlinks"] = packed if inline is None else len(inline)
        record["depth"] = depth_of(level)
        record["orphan"] = is_orphan(level)
        record["referrer"] = self._referrer(referrer)
        record["sitemap"] = self.hint(number) if self._has_hints else {}
        record["redirected_from"] = []
        if has_redirects:
            record["redirected_from"] += sources_of(Node(number, url, Way(level, hops)), self)
        return record

    def hint(self, number: int) -> Record:
        """What a sitemap says of a URL; of several, the first by URL. Nothing: none names it."""
        row = self.database.execute(
            "SELECT s.url, h.hint FROM hints h JOIN urls s ON s.id = h.sitemap WHERE h.id = ? "
            "ORDER BY s.url LIMIT 1",
            (number,),
        ).fetchone()
        return {} if row is None else {"url": address_of(row[0]), **_record(row[1])}

    def _referrer(self, number: int | None) -> str | None:
        return None if number is None else address_of(self.url_of(number))

    def _item(self, number: int) -> Record:
        (text,) = self.database.execute(
            "SELECT record FROM items WHERE id = ?", (number,)
        ).fetchone()
        return _record(text)

    def place_of(self, number: int) -> tuple[int, str]:
        """By what URLs are sorted breadth first: level, and of one level the URL."""
        (level,) = self.database.execute(
            "SELECT level FROM urls WHERE id = ?", (number,)
        ).fetchone()
        return level, self.url_of(number)


class _Urls(dict[int, str]):
    """URLs by what the links to them are in the store (``id << 1 | is_nofollow``), as far as they
    are asked for, and not too many of them.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __missing__(self, link: int) -> str:
        number = link >> 1
        if len(self) >= _URLS:
            self.clear()
        first = number - number % _AT_ONCE
        self.update(
            self._database.execute(
                "SELECT id << 1, url FROM urls WHERE id BETWEEN ? AND ?",
                (first, first + _AT_ONCE - 1),
            )
        )
        url = self.get(number << 1)
        if url is None:
            raise sqlite3.DatabaseError(f"no URL has the number {number}")
        self[link] = url
        return url


def _record(text: str) -> Record:
    """A record, as it was written; what is none was not written by us."""
    try:
        record: Record = from_text(text)
    except ValueError as error:
        raise sqlite3.DatabaseError(f"a record is no JSON: {error}") from None
    if not isinstance(record, dict):
        raise sqlite3.DatabaseError(f"a record is no JSON object: {text[:50]!r}")
    return record
