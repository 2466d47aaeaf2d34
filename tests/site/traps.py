"""Sites without an end, the same in every run.* Only the standard library.

calendar          /calendar/2026/11/16/: every day links to its neighbours, by day, month, year
months            /months/2026/11/: every month links to its days, and to others for ever
archive           no trap: /archive/2017/01/01/story, for all days of a year
calendar-query    the same as /calendar?date=2026-11-16
facets            /shop?brand=1&color=2&size=3: eight filters of nine values, in any combination
sessions          /s/page-1?zenid=…: twenty pages, with another session at every request
visits            /v/page-1?visit=…: the same with a short number, and pages with a single link
relative          /more/more/…: six links that grow by being relative
relative-files    /more/more/index.html: the same, with files
filters           /list?brand=1&color=2: four filters of ten values, from none on; /list/12345 too
tags              /tag/a+b+c: twelve tags, in any combination
search            /search?q=…: every search proposes twelve others
random            /r/page-1?rnd=…: twenty pages, with another number at every request
"""

from __future__ import annotations

from datetime import date, timedelta
from hashlib import md5
from typing import Any
from urllib.parse import parse_qsl, urlencode

Fields = dict[str, Any]
FILTERS = ("brand", "color", "size", "price", "sort", "stock", "style", "year")
GROWING = ("more", "less", "news", "help", "jobs", "team")
LETTERS = "abcdefghijkl"


def fields_of(kind: str, target: str) -> Fields | None:
    """The page at ``target``, or None where the trap has none."""
    path, _, query = target.partition("?")
    if kind == "calendar" and path.startswith("/calendar/"):
        return _calendar(path[10:].strip("/").replace("/", "-"), "/calendar/{:%Y/%m/%d}/")
    if kind == "months" and path.startswith("/months/"):
        return _month(path[8:].strip("/").split("/"))
    if kind == "archive" and path.startswith("/archive/"):
        return _archive(path)
    if kind == "calendar-query" and path == "/calendar":
        return _calendar(dict(parse_qsl(query)).get("date", ""), "/calendar?date={:%Y-%m-%d}")
    if kind == "facets" and path == "/shop":
        return {"links": [*_facets(dict(parse_qsl(query)))]}
    if kind == "sessions" and path.startswith("/s/page-"):
        return {"links": [*_sessions(target)]}
    if kind == "visits" and path.startswith("/v/page-"):
        return {"links": _visits(int(path[8:]), int(_digest(target), 16) % 10**6 + 10**6)}
    if kind == "relative" and path.startswith("/more/"):
        return {"links": [f"{name}/" for name in GROWING]}
    if kind == "relative-files" and path.startswith("/more/"):
        return {"links": [f"{name}/index.html" for name in GROWING]}
    if kind == "filters" and path.startswith("/list"):
        return {"links": _filters(path, dict(parse_qsl(query)))}
    if kind == "tags" and path.startswith("/tag/"):
        return {"links": _tags(path[5:])}
    if kind == "search" and path == "/search":
        return {"links": [f"/search?q={_digest(target + letter)[:9]}x" for letter in LETTERS]}
    if kind == "random" and path.startswith("/r/page-"):
        number = int(_digest(target), 16) % 10**9 + 10**9
        return {"links": [f"/r/page-{page}?rnd={number}" for page in range(1, 21)]}
    return None


def _calendar(day: str, link: str) -> Fields | None:
    try:
        today = date.fromisoformat(day)
    except ValueError:
        return None
    steps = [timedelta(days=sign * days) for sign in (-1, 1) for days in (1, 2, 7, 30, 365)]
    return {
        "links": [link.format(today + step) for step in steps if 1 < (today + step).year < 9000]
    }


def _month(parts: list[str]) -> Fields | None:
    year, month, *_ = [*map(int, parts), 1]
    days = [f"/months/{year}/{month:02}/{day:02}/" for day in range(1, 29)]
    others = [(year - 1, month), (year + 1, month)]
    others += [(year + number // 12, number % 12 + 1) for number in (month - 2, month)]
    return {"links": [*days, *(f"/months/{year}/{month:02}/" for year, month in others)]}


def _archive(path: str) -> Fields:
    days = [date(2017, 1, 1) + timedelta(number) for number in range(365)]
    all_paths = [f"/archive/{day:%Y/%m/%d}/story" for day in days]
    parts = path.count("/") + 1
    found = {other for other in all_paths if other.startswith(path) and other != path}
    return {"links": sorted({_start(other, parts) for other in found})}


def _start(path: str, parts: int) -> str:
    start = "/".join(path.split("/")[:parts])
    return start if start == path else f"{start}/"


def _facets(chosen: dict[str, str]) -> list[str]:
    others = [(name, value) for name in FILTERS for value in "123456789"]
    return [
        "/shop?" + urlencode(sorted({**chosen, name: value}.items()))
        for name, value in others
        if chosen.get(name) != value
    ]


def _sessions(target: str) -> list[str]:
    session = _digest(target)
    return [f"/s/page-{number}?zenid={session}" for number in range(1, 21)]


def _visits(page: int, visit: int) -> list[str]:
    pages = range(1, 21) if page < 10 else [1]
    return [f"/v/page-{number}?visit={visit}" for number in pages]


def _filters(path: str, chosen: dict[str, str]) -> list[str]:
    return [
        f"{path}?" + urlencode({**chosen, name: value})
        for name in FILTERS[:4]
        if name not in chosen
        for value in range(10)
    ]


def _tags(tags: str) -> list[str]:
    chosen = set(tags.split("+")) - {""}
    return ["/tag/" + "+".join(sorted({*chosen, letter})) for letter in LETTERS]


def _digest(target: str) -> str:
    return md5(target.encode(), usedforsecurity=False).hexdigest()
