"""Crawls made by hand, in databases: a small one row by row, and one of any size."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.entry import BY_SITEMAP, SITEMAP
from crawlproject.frontier.notes import ROUND, SEEDS, STARTED_AT
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.rounds import Round
from crawlproject.frontier.seen import fingerprint
from crawlproject.monitoring.ending import Limits
from crawlproject.pipelines.marking import Marks
from crawlproject.pipelines.parameters import NOTE
from crawlproject.records import PAGE, to_text
from crawlproject.report.survey import Survey

if TYPE_CHECKING:
    import sqlite3

    from crawlproject.records import Record

SITE = "https://site.example"
BEGAN = 1_790_000_000.0
QUEUED, DONE, FAILED, SKIPPED = 0, 2, 3, 4


def at(seconds: float) -> str:
    return datetime.fromtimestamp(BEGAN + seconds, UTC).isoformat(timespec="milliseconds")


class Crawl:
    """A crawl directory in memory. URLs are given as paths; what is linked to is known."""

    def __init__(self, database: sqlite3.Connection | None = None) -> None:
        self.database = database or connect_to_memory()
        self._ids: dict[str, int] = {}
        self.note(SEEDS, [f"{SITE}/"])
        self.database.execute("INSERT INTO notes VALUES (?, ?)", (STARTED_AT, at(0)))
        self.note(NOTE, [128, 3, 30])

    def note(self, name: str, value: Any) -> None:
        self.database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, to_text(value)))

    def id(self, path: str) -> int:
        """Of a URL, which is known from now on."""
        url = f"{SITE}{path}" if path.startswith("/") else path
        if url not in self._ids:
            self._ids[url] = number = len(self._ids) + 1
            self.database.execute(
                "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank) "
                "VALUES (?, ?, ?, ?, 1, 0, ?)",
                (number, fingerprint(url), url, QUEUED, number),
            )
        return self._ids[url]

    def url(self, path: str, state: int, **columns: Any) -> int:
        number = self.id(path)
        names = {"state": state, **columns}
        self.database.execute(
            f"UPDATE urls SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?",  # noqa: S608
            (*names.values(), number),
        )
        return number

    def page(
        self, path: str, *links: str, depth: int = 1, nofollow: tuple[str, ...] = (), **fields: Any
    ) -> int:
        record: Record = {
            "url": f"{SITE}{path}" if path.startswith("/") else path,
            "status_code": 200,
            "content_type": "text/html",
            "bytes": 1000,
            "fetch_ms": 10,
            "fetched_at": at(1),
            "title": f"Title of {path}",
            "description": f"Description of {path}",
            "headings": [{"level": 1, "text": f"Heading of {path}"}],
            "word_count": 100,
            **fields,
        }
        error = record.get("error")
        state = SKIPPED if error == "robots" else DONE if error is None else FAILED
        reason = "robots" if error == "robots" else None
        number = self.url(path, state, level=depth, reason=reason)
        packed = array("I", (self.id(link) << 1 | (link in nofollow) for link in links)).tobytes()
        self.database.execute(
            "INSERT INTO pages VALUES (?, ?, ?)", (number, to_text(record), packed)
        )
        return number

    def broken(self, path: str, status: int = 404, depth: int = 1) -> int:
        error = f"unexpected status {status}"
        return self.page(path, depth=depth, status_code=status, error=error, title=None)

    def redirect(self, path: str, target: str, status: int = 301) -> int:
        number = self.url(path, DONE, target=self.id(target))
        record = {"url": f"{SITE}{path}", "status_code": status}
        self.database.execute("INSERT INTO pages VALUES (?, ?, NULL)", (number, to_text(record)))
        return number

    def sitemap(self, path: str, *names: str) -> int:
        number = self.url(f"{SITE}{path}{SITEMAP}", DONE)
        packed = array("I", (self.id(name) << 1 for name in names)).tobytes()
        self.database.execute("INSERT INTO pages VALUES (?, '', ?)", (number, packed))
        return number

    def orphan(self, path: str, *links: str, **fields: Any) -> int:
        return self.page(path, *links, depth=BY_SITEMAP + 1, **fields)

    def skip(self, path: str, reason: str, rule: str | None = None, referrer: str = "/") -> int:
        return self.url(path, SKIPPED, reason=reason, rule=rule, referrer=self.id(referrer))

    def item(self, record: Record) -> None:
        """One that stands for a page."""
        self.database.execute(
            "INSERT INTO items (kind, page, record) VALUES (?, ?, ?)",
            (PAGE, record["url"], to_text(record)),
        )

    def change(self, path: str, kind: str, seconds: float = 100, **detail: list[Any]) -> None:
        self.database.execute(
            "INSERT INTO changes VALUES (?, ?, ?, ?)",
            (self.id(path), BEGAN + seconds, kind, to_text(detail)),
        )

    # --- what is read from it

    def survey(self, *, is_compared: bool = True, limits: Limits | None = None) -> Survey:
        reader = Reader(self.database)
        marks = Marks(reader, threshold=0.9, drops=False) if is_compared else None
        return Survey(reader, marks, limits or Limits(depth=16))

    def paths(self, *ids: int) -> list[str]:
        urls = {number: url for url, number in self._ids.items()}
        return [urls[number].removeprefix(SITE) for number in ids]


_TOPICS = (  # noqa: SIM905  (easier to read than a list of strings)
    "anchors barley candles cedar clover copper coral cotton dunes embers ferries flint gardens "
    "ginger granite harbours heather islands ivory jasper lanterns larches linen marble meadows "
    "mirrors nettles ochre olives orchards otters paper pebbles pepper plums quartz ravens reeds "
    "rivers rowan saffron sandals slate sparrows stones thistles timber topaz valleys velvet "
    "walnuts willows winters yarrow"
).split()
_FORMS = ("how to", "a guide to", "the best", "what we know of", "ten years of", "news from")
_PER_PAGE = 12


def large(database: sqlite3.Connection, pages: int, links: int = 20) -> None:
    """A site with a blog, a shop, docs and a forum, in which some things are wrong.

    Every page links to the first ones, as a menu does, and to some others at random.
    """
    random = Random(pages)
    crawl = Crawl(database)
    urls = [_url(number, random) for number in range(pages)]
    database.executemany(
        "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank, referrer, reason) "
        "VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)",
        (
            (
                number + 1,
                fingerprint(url),
                url,
                _state(number),
                _depth(number),
                number + 1,
                number // _PER_PAGE + 1 if number else None,
                "robots" if number % 1009 == 5 else None,
            )
            for number, url in enumerate(urls)
        ),
    )
    database.executemany(
        "INSERT INTO pages VALUES (?, ?, ?)",
        (
            (
                number + 1,
                to_text(_record(number, url, random)),
                _links(number, pages, links, random),
            )
            for number, url in enumerate(urls)
        ),
    )
    _trouble(crawl, database, pages, urls)


def _trouble(crawl: Crawl, database: sqlite3.Connection, pages: int, urls: list[str]) -> None:
    """Redirects, skipped URLs, a sitemap, changes."""
    number = pages
    for place in range(pages // 100):
        number += 1
        database.execute(
            "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank, target) "
            "VALUES (?, ?, ?, 2, 1, 0, ?, ?)",
            (number, number, f"{SITE}/old/{place}", number, place * 7 % pages + 1),
        )
    skips = [
        (f"https://{_TOPICS[place % 50]}.example/{place}", "offsite", None)
        if place % 3
        else (
            f"{SITE}/calendar/{place}",
            "prefix budget",
            "SCOPE_MAX_PAGES_PER_PREFIX=300 for /calendar",
        )
        for place in range(pages // 5)
    ]
    database.executemany(
        "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank, referrer, reason, rule) "
        "VALUES (?, ?, ?, 4, 2, 0, 0, 1, ?, ?)",
        ((number + place, place, *skip) for place, skip in enumerate(skips, 1)),
    )
    number += len(skips) + 1
    database.execute(
        "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank) "
        "VALUES (?, 0, ?, 2, 0, 0, 0)",
        (number, f"{SITE}/sitemap.xml{SITEMAP}"),
    )
    named = array("I", (place + 1 << 1 for place in range(0, pages, 2))).tobytes()
    database.execute("INSERT INTO pages VALUES (?, '', ?)", (number, named))
    crawl.note(ROUND, Round(2, BEGAN, "all")._asdict())
    database.executemany(
        "INSERT INTO changes VALUES (?, ?, ?, ?)",
        (
            (place + 1, BEGAN + place, kind, to_text({"title": ["Before", "After"]}))
            for place, kind in zip(
                range(10, pages, 50), ("new", "changed", "gone", "cosmetic") * pages, strict=False
            )
        ),
    )


def _url(number: int, random: Random) -> str:
    topic, other = random.choice(_TOPICS), random.choice(_TOPICS)
    slug = f"{random.choice(_FORMS)} {topic} and {other} {number}".replace(" ", "-")
    if number < len(_TOPICS):
        return f"{SITE}/" if number == 0 else f"{SITE}/{_TOPICS[number]}/"
    kinds = (
        f"/blog/{2010 + number % 16}/{1 + number % 12:02}/{slug}",
        f"/shop/{_TOPICS[number % 23]}/{_TOPICS[number % 7]}/{slug}.html",
        f"/docs/v{number % 5}/{topic}/{slug}",
        f"/forum/{_TOPICS[number % 11]}/thread-{number}?page={number % 9}",
    )
    return SITE + kinds[(number * 7 // 3) % len(kinds)]


def _depth(number: int) -> int:
    depth = 0
    while number:
        number //= _PER_PAGE
        depth += 1
    return depth


def _state(number: int) -> int:
    return SKIPPED if number % 1009 == 5 else FAILED if _status(number) != 200 else DONE


def _status(number: int) -> int:
    if number < len(_TOPICS):
        return 200
    return {0: 404, 1: 500, 2: 403}.get(number % 211, 200)


def _record(number: int, url: str, random: Random) -> Record:
    status = _status(number)
    record: Record = {"url": url, "status_code": status, "fetched_at": at(number / 40)}
    if number % 1009 == 5:
        return {"url": url, "error": "robots", "fetched_at": at(number / 40)}
    record |= {
        "content_type": "text/html" if number % 97 else "application/pdf",
        "bytes": int(random.paretovariate(1.5) * 9000),
        "fetch_ms": int(random.paretovariate(1.1) * 40),
    }
    if status != 200:
        return record | {"error": f"unexpected status {status}"}
    words = url.rpartition("/")[2].partition("?")[0].replace("-", " ").removesuffix(".html")
    return record | {
        "title": f"{words.capitalize() or _TOPICS[number % 50]} | Site" if number % 301 else None,
        "description": f"All about {words}: {' '.join(random.choices(_TOPICS, k=9))}.",
        "language": ("en", "en", "en", "de", "fr")[number % 5],
        "headings": [{"level": 1, "text": words}],
        "word_count": random.randrange(30, 2500),
        "noindex": number % 401 == 7,
        **({"canonical": f"{SITE}/"} if number % 503 == 9 else {}),
        **({"structured_data": [{"type": "Product", "properties": {}}]} if "/shop/" in url else {}),
    }


def _links(number: int, pages: int, links: int, random: Random) -> bytes:
    menu = range(min(8, pages))
    below = range(number * _PER_PAGE, min(pages, (number + 1) * _PER_PAGE))
    others = (random.randrange(pages) for _ in range(max(0, links - len(menu) - len(below))))
    redirect = [pages + 1 + number % (pages // 100)] if pages >= 100 and number % 10 == 3 else []
    ids = dict.fromkeys([*(place + 1 for place in (*menu, *below, *others)), *redirect])
    return array("I", (one << 1 for one in ids)).tobytes()
