"""URLs of a shape that can be counted up without end, and the group they belong to. Pure.

Some parts of a URL vary, others name what is there. Three parts that vary make a shape
without end: the combinations of two small values stay small by themselves.

| a part that varies | example | counts |
|---|---|---|
| a query or path parameter | ``?color=red``, ``;color=red`` | 1 |
| … with a list in it | ``?bbox=1,2,3,4`` | 1 each |
| a date, in a parameter or a segment | ``2026-11-16``, ``20261116``, ``?time=1794787200`` | 3 |
| a search | ``?q=red+shoes`` | 3 |
| a month, a week | ``2026-11``, ``/nov-2026``, ``?ym=202611``, ``2026-W46`` | 2 |
| a year, and what else of a date stands beside it | ``?year=2026&month=11`` | 1 each |
| months from today on, or days and weeks with a sign | ``?month=13``, ``?week=-3`` | 1 |
| numbers at the end of the path that are a date | ``/cal/2026/11/16/``, ``/16/nov/2026`` | 1 each |
| other numbers there, but the first | ``/board/7/120/3`` | 1 each |

| a part that names | example |
|---|---|
| a segment with letters, and all before it | ``/2026/11/16/some-title`` |
| an ID: five digits and more that are no date | ``/item/12345``, ``?nr=12345`` |
| … or a random token that is called one | ``?id=6fa459ea-ee8a-3ca4-894e-db77e160355e`` |
| a parameter that says what is shown | ``?view=month``, ``?Itemid=7``, ``?lang=en`` |
| a checksum, of the file or of the other parameters | ``?cHash=…`` |

Two filters, or a list of two and more, are such a shape too where the site offers each of
them *alone*: ``?brand=b&color=c`` beside ``?brand=b`` and ``?color=c``, ``/tag/a+b`` beside
``/tag/a`` and ``/tag/b``. A city in its state (``?state=CA&city=Fresno``) is not.

The years, months and days of one calendar are one shape: by them an archive leads to its
days, and a calendar from day to day.

A random token that is called no ID, and whatever is called random, is a session: all URLs
that have one are in a group, for the host.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from crawlproject.scope.dates import (
    COUNTED,
    FIELDS,
    IS_NAME,
    MONTHLY,
    SMALL_DIGITS,
    TIMES,
    YEAR_AND_MONTH,
    YEARS,
    is_at_most,
    is_count,
    is_date_value,
    is_month_value,
    is_plain_month,
    is_timestamp,
    is_year,
    read_path,
    segment_parts,
    words,
)
from crawlproject.urls.canonical import host_of, name_of

# How many parts of a URL must vary.
_MANY = 3
_TOKEN_LENGTH = 16
_SHORT_TOKEN = 8
_TOKEN_LETTERS = 12

_id_value = re.compile(rf"\d{{{SMALL_DIGITS + 1},}}(?![A-Za-z\d])", re.ASCII).match
_list_separators = re.compile(r",|%2C|%7C").findall
_pieces = re.compile(r",|%2C|%7C|\+|%20").split
_separators = re.compile("[&;]").split
_path_params = re.compile(r";([^;/]+)").findall
_ESCAPE = re.compile("%[0-9A-F]{2}")
_SEPARATOR = re.compile(r"[-_.+=~/]")
_is_mixed = re.compile("(?=.*[0-9])(?=.*[A-Za-z])[0-9A-Za-z]+").fullmatch
_is_hexadecimal = re.compile("[0-9a-f]+|[0-9A-F]+").fullmatch
# Changes between lower case, upper case and digits.
_changes = re.compile(r"(?<=[a-z])[A-Z\d]|(?<=[A-Z])[a-z\d]|(?<=\d)[A-Za-z]").findall
# How ASP.NET writes a session into the path: /(S(lit3py55t21z5v55vlm25s55))/
_session_segment = re.compile(r"/\((?:[A-Z]\([0-9A-Za-z]{24}\))+\)/").search


# What is shown, where other parameters say how. Whatever ends in 'id' is one too.
_NAMING = words(
    "act action article board cmd commit controller do doc document entry f file forum hl image "
    "img item key lang language locale mod module news op option post product record route "
    "section sku slug t task thread title topic video view"
)
_CHECKSUMS = words("chash checksum h hash itok md5 rev sig signature v ver version")
_SEARCHES = words("keyword keywords q query s search search_query searchterm searchword")
# Which part of a list: it has as many as the list is long.
_PAGES = words(
    "cursor limitstart offset p page page_no pageno pagenum pagenumber paged pg skip start"
)
_SESSIONS = words("sess sess_id sessid")
_RANDOM = words("_ cachebuster nocache rand random rnd")


class Shape(NamedTuple):
    """The group of a URL; if ``alone`` names URLs, only where the site has all of them."""

    group: str
    alone: tuple[str, ...] = ()
    # Whether nothing varies but a date.
    is_date: bool = False


def shape_of(url: str) -> Shape | None:
    """The shape of a canonical URL that may have no end, or that carries a session."""
    location, _, query = url.partition("?")
    is_odd = ";" in location or "/(" in location
    # What most URLs are: a path that ends in a name.
    last = location.removesuffix("/").rpartition("/")[2]
    is_plain = segment_parts(last) == IS_NAME
    if is_plain and not query and not is_odd:
        return _tags(url, last) if "+" in last or "," in last else None
    path = location.split("/", 3)[3]
    params = _separators(query) if query else []
    if is_odd:
        if found := _session_segment(location):
            return Shape(f"{found[0][1:3]}(...)) on {host_of(url)}")
        params += _path_params(path)
        path = "/".join(segment.partition(";")[0] for segment in path.split("/"))
        is_plain = False
    return _shape(url, path, params, is_plain)


def _shape(url: str, path: str, params: list[str], is_plain: bool) -> Shape | None:
    varying = dates = years = fields = 0
    fixed = []
    filters = []
    for param in params:
        kind, parts = _read_param(param)
        varying += parts
        if kind is _Kind.SESSION:
            return Shape(f"{param.partition('=')[0]}= on {host_of(url)}")
        if kind is _Kind.FIXED:
            fixed.append(param)
        elif kind is _Kind.DATE:
            dates += parts
        elif kind is not _Kind.VARIES:
            years += kind is _Kind.YEAR
            fields += kind is _Kind.FIELD
            filters.append(param)
    if years:
        # Without a year, a day is a small number like any other.
        dates += years + fields
    alone = _alone(url, params, filters)
    if is_plain and varying < _MANY and not dates and not alone:
        return None
    read = read_path(path)
    varying += read.parts
    is_date = 0 < varying == dates + read.parts * read.is_date
    if varying >= _MANY or is_date:
        alone = ()
    elif not alone:
        return None
    prefix = f"{host_of(url)}/{read.kept}"
    return Shape(f"{prefix}?{'&'.join(fixed)}" if fixed else prefix, alone, is_date)


def _alone(url: str, params: list[str], filters: list[str]) -> tuple[str, ...]:
    """The URLs with one filter each, if two or a list of them are combined here."""
    location, _, query = url.partition("?")
    if not filters or query.count("&") + 1 != len(params):
        # None, or some are in the path.
        return ()
    singles = filters
    if len(filters) == 1:
        name, equals, value = filters[0].partition("=")
        singles = [f"{name}{equals}{piece}" for piece in _parts_of_list(value)]
    others = [param for param in params if param not in filters]
    return tuple(
        f"{location}?{'&'.join(sorted([*others, single], key=name_of))}" for single in singles
    )


def _tags(url: str, last: str) -> Shape | None:
    """The shape of a path that ends in a list."""
    start = url.rindex(last)
    before, after = url[:start], url[start + len(last) :]
    alone = tuple(f"{before}{piece}{after}" for piece in _parts_of_list(last))
    return Shape(f"{host_of(url)}/{before.split('/', 3)[3]}", alone) if alone else None


def _parts_of_list(text: str) -> list[str]:
    pieces = _pieces(text)
    return pieces if len(pieces) > 1 and all(pieces) else []


class _Kind(Enum):
    VARIES = auto()
    # It varies too, and is a day or a month.
    DATE = auto()
    # It varies too, and picks some of a list.
    FILTER = auto()
    # So do these, unless they are a date between them.
    YEAR = auto()
    FIELD = auto()
    FIXED = auto()
    SESSION = auto()


@lru_cache(maxsize=4_096)
def _read_param(param: str) -> tuple[_Kind, int]:
    """What a parameter is, and how many parts of it vary."""
    name, _, value = param.partition("=")
    word = _word(name)
    if word in _CHECKSUMS and len(value) >= 8:
        return _Kind.VARIES, 0
    says_what = word in _NAMING or word.endswith("id") or word.startswith("id_")
    if is_token(value):
        is_session = "sess" in word or "token" in word or word.endswith(("sid", "zenid"))
        return (_Kind.FIXED if says_what and not is_session else _Kind.SESSION), 0
    if word in _RANDOM and len(value) > SMALL_DIGITS:
        return _Kind.SESSION, 0
    if word in _SESSIONS and len(value) >= _SHORT_TOKEN:
        return _Kind.SESSION, 0
    if word in YEAR_AND_MONTH and is_plain_month(value):
        return _Kind.DATE, 2
    if (word in TIMES and is_timestamp(value)) or (not says_what and is_date_value(value)):
        return _Kind.DATE, 3
    if _id_value(value) or says_what:
        return _Kind.FIXED, 0
    if word in _SEARCHES and not _names_place(value):
        return _Kind.VARIES, 3
    if is_month_value(value):
        return _Kind.DATE, 2
    if word in _PAGES:
        return _Kind.VARIES, 1
    last = word.rpartition("_")[2]
    if last in YEARS and is_year(value):
        return _Kind.YEAR, 1
    if last in FIELDS and is_at_most(value, FIELDS[last]):
        return _Kind.FIELD, 1
    if word in COUNTED and is_count(value) and (word in MONTHLY or not value.isdecimal()):
        return _Kind.DATE, 1
    return _Kind.FILTER, 1 + len(_list_separators(value))


def _names_place(value: str) -> bool:
    """Whether a search value is a path or a number, not words that a person typed."""
    return "/" in value or "%2F" in value or not value or value.isdecimal()


def _word(name: str) -> str:
    """The name that counts: ``action`` of ``tx_news_pi1[action]``, but all of ``f[0]``."""
    name = name.lower().replace("%5b", "[").replace("%5d", "]")
    inner = name.rpartition("[")[2].rstrip("]")
    return name if not inner or inner.isdecimal() else inner


def is_token(value: str) -> bool:
    """Whether a value looks random: hexadecimal, or letters and digits in a wild mix."""
    if len(value) < _TOKEN_LENGTH:
        return False
    value = _ESCAPE.sub("-", value)
    letters = _SEPARATOR.sub("", value)
    separators = len(value) - len(letters)
    if len(letters) < _TOKEN_LETTERS or len(value) < _TOKEN_LENGTH or separators * 6 > len(value):
        return False
    if not _is_mixed(letters):
        return False
    if _is_hexadecimal(letters):
        return True
    # Words and the years behind them change rarely between small letters, capitals and digits.
    changes = len(_changes(letters))
    return changes >= (len(letters) // 4 if separators else 3)
