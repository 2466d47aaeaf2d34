"""From the body of a request to a job: what may be ordered, and how it is checked.

The options of an order are the arguments of the spider, and are checked as those of the command
line are (``spiders/arguments.py``). Each says here which values it takes in JSON, for the
checks and for the API's own description (``openapi.py``).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.utils.misc import load_object

from crawlproject.errors import BadArgument
from crawlproject.frontier.rounds import MODES as ROUND_MODES
from crawlproject.private_files import create_new, make_private
from crawlproject.render.install import MODES
from crawlproject.scope.scope import Mode
from crawlproject.service.layout import FILES, feeds
from crawlproject.spiders import arguments
from crawlproject.spiders.sitemaps import MODES as SITEMAP_MODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from scrapy.settings import Settings

    Schema = dict[str, Any]

MOST_SEEDS = 10_000
# Characters of seeds that fit into a command line; more are in a file.
_FITTING = 20_000
# Of the texts, and of lists of them.
_LONGEST, _MOST_STRINGS = 500, 100
# Of the numbers that arguments take.
_LARGEST, _DEEPEST = 10**18 - 1, 10**9 - 1


class Option(NamedTuple):
    schema: Schema
    # From a value of JSON to an argument as scrapyd has it. Raises TypeError for another.
    text: Callable[[Any], str]
    what: str


def _integer(value: Any) -> str:
    # To JSON, 3.0 is a whole number too.
    if type(value) is not int and not (type(value) is float and value.is_integer()):
        raise TypeError
    return str(int(value))


def _number(value: Any) -> str:
    if type(value) not in (int, float):
        raise TypeError
    return repr(value)


def _string(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _short(value: Any) -> str:
    return _strings([value])[0]


def _flag(value: Any) -> str:
    if type(value) is not bool:
        raise TypeError
    return "yes" if value else "no"


def _depth(value: Any) -> str:
    return value if value == "none" and type(value) is str else _integer(value)


def _duration(value: Any) -> str:
    # Without an exponent.
    return value if type(value) is str else f"{float(_number(value)):f}"


def _hosts(value: Any) -> str:
    hosts = _strings(value)
    # By these they are told apart.
    if any("," in host or host.split() != [host] for host in hosts):
        raise TypeError
    return ",".join(hosts)


def _headers(value: Any) -> str:
    lines = _strings(value)
    # By these they are told apart.
    if any("\n" in line or "|" in line for line in lines):
        raise TypeError
    return "\n".join(lines)


def _patterns(value: Any) -> str:
    """One or several regular expressions."""
    return json.dumps(_strings([value] if type(value) is str else value))


def _strings(value: Any) -> list[str]:
    if type(value) is not list or not 0 < len(value) <= _MOST_STRINGS:
        raise TypeError
    if not all(type(one) is str and 0 < len(one) <= _LONGEST for one in value):
        raise TypeError
    return value


def _whole(minimum: int, maximum: int = _LARGEST) -> Schema:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def _array(items: Schema) -> Schema:
    return {"type": "array", "minItems": 1, "maxItems": _MOST_STRINGS, "items": items}


def _text(pattern: str | None = None) -> Schema:
    schema = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
    return schema if pattern is None else {**schema, "pattern": pattern}


_SECONDS: Schema = {"type": "number", "minimum": 0}
_EXPRESSION: Schema = _text()
_SEVERAL = "a regular expression, or a list of some (500 characters each, at most)"

OPTIONS: dict[str, Option] = {
    "depth": Option(
        {"oneOf": [_whole(0, _DEEPEST), {"type": "string", "enum": ["none"]}]},
        _depth,
        "a whole number of links, or 'none'",
    ),
    "max_pages": Option(_whole(1), _integer, "a whole number of 1 or more"),
    "timeout": Option(
        {
            "oneOf": [
                {"type": "number", "minimum": 1},
                {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*[smhSMH]?\s*$"},
            ]
        },
        _duration,
        "seconds, or a time such as '30s', '2m' or '1h'",
    ),
    "scope": Option({"type": "string", "enum": [str(mode) for mode in Mode]}, _string, "a string"),
    "allow": Option(_array(_text(r"^[^\s/:@?#,*]+$")), _hosts, "a list of hosts"),
    "include": Option({"oneOf": [_EXPRESSION, _array(_EXPRESSION)]}, _patterns, _SEVERAL),
    "exclude": Option({"oneOf": [_EXPRESSION, _array(_EXPRESSION)]}, _patterns, _SEVERAL),
    "delay": Option(_SECONDS, _number, "a number of seconds"),
    "rate": Option(
        {"type": "number", "exclusiveMinimum": 0},
        _number,
        "a number of requests a second",
    ),
    "concurrency": Option(_whole(1), _integer, "a whole number of 1 or more"),
    "workers": Option(_whole(1), _integer, "a whole number of 1 or more"),
    "user_agent": Option(_text(), _short, "a line of text (500 characters at most)"),
    "header": Option(_array(_text(r"^[^\n|]+$")), _headers, "a list of 'Name: value'"),
    "cookie": Option(_text(), _short, "'name=value; name=value' (500 characters at most)"),
    "cookies": Option({"type": "boolean"}, _flag, "true or false"),
    "render": Option({"type": "string", "enum": list(MODES)}, _string, "a string"),
    "sitemaps": Option({"type": "string", "enum": list(SITEMAP_MODES)}, _string, "a string"),
    "recrawl": Option({"type": "string", "enum": list(ROUND_MODES)}, _string, "a string"),
    "respect_nofollow": Option({"type": "boolean"}, _flag, "true or false"),
}
# What an order has besides.
EXTRA: dict[str, Schema] = {
    "outputs": {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"type": "string", "enum": list(FILES)},
    },
    "store_bodies": {"type": "boolean"},
}


class Order(NamedTuple):
    seeds: list[str]
    # Of the spider, as scrapyd has them.
    arguments: dict[str, str]
    formats: list[str]
    store_bodies: bool

    def message(self, folder: Path, seeds_file: Path) -> dict[str, Any]:
        """The job, for scrapyd's queue. Many seeds need a file, which is written here."""
        together = " ".join(self.seeds)
        # A comma may separate seeds, or be part of one.
        if len(together) <= _FITTING and "," not in together:
            given = {"seed": together}
        else:
            make_private(seeds_file.parent)
            with create_new(seeds_file) as file:
                file.write(("\n".join(self.seeds) + "\n").encode())
            given = {"seeds_file": str(seeds_file.absolute())}
        settings = {"FEEDS": feeds(folder, self.formats), "STORE_BODIES": str(self.store_bodies)}
        return {**given, **self.arguments, "settings": settings}


class Desk:
    """Takes orders. ``settings`` are the project's own."""

    def __init__(self, settings: Settings, *, allow_internal: bool, store_bodies: bool) -> None:
        self._settings = settings
        self._allow_internal = allow_internal
        self._store_bodies = store_bodies

    def order(self, body: Mapping[str, Any]) -> Order:
        """By ``url`` or ``urls``, and options. Raises BadArgument."""
        rest = dict(body)
        seeds = _seeds(rest)
        formats = _formats(rest.pop("outputs", ["json"]))
        store_bodies = rest.pop("store_bodies", self._store_bodies)
        if type(store_bodies) is not bool:
            raise BadArgument("store_bodies", f"{_shown(store_bodies)} is not true or false")
        if "warc.gz" in formats and not store_bodies:
            raise BadArgument("store_bodies", "an archive (warc.gz) has bodies: leave out false")
        self._check_formats(formats)
        given = {name: _argument(name, value) for name, value in rest.items()}
        return Order(self.check(seeds, given), given, formats, store_bodies)

    def _check_formats(self, formats: list[str]) -> None:
        """Raise BadArgument for one that needs a package that is not there."""
        exporters = self._settings.getdict("FEED_EXPORTERS")
        for name in formats:
            find_problem = getattr(load_object(exporters[name]), "problem", None)
            if find_problem is not None and (problem := find_problem({})):
                raise BadArgument("outputs", f"{name}: {problem}")

    def check(self, seeds: list[str], given: Mapping[str, str]) -> list[str]:
        """The seeds as they are crawled. Raises BadArgument, as the command line does."""
        return self.check_arguments({**given, "seed": seeds})

    def check_arguments(
        self, given: Mapping[str, Any], more: Mapping[str, str] | None = None
    ) -> list[str]:
        """The same for arguments as scrapyd has them, and settings."""
        settings = self._settings.copy()
        settings.setdict(more or {}, priority="cmdline")
        settings.set("SCOPE_INTERNAL_SEEDS", self._allow_internal, priority="cmdline")
        return arguments.apply(given, settings)


def _seeds(body: dict[str, Any]) -> list[str]:
    if "url" in body and "urls" in body:
        raise BadArgument("urls", "give url or urls, not both")
    if "url" in body:
        name, urls = "url", [body.pop("url")]
    else:
        name, urls = "urls", body.pop("urls", None)
        if urls is None:
            raise BadArgument("url", 'missing: give a URL, as in {"url": "https://example.com"}')
    if type(urls) is not list or not urls:
        raise BadArgument(name, f"{_shown(urls)} is not a list of URLs")
    if len(urls) > MOST_SEEDS:
        raise BadArgument(name, f"{len(urls):,} URLs are too many: give {MOST_SEEDS:,} at most")
    for url in urls:
        if type(url) is not str or not url.strip():
            raise BadArgument(name, f"{_shown(url)} is not a URL such as 'https://example.com'")
    return urls


def _formats(value: Any) -> list[str]:
    known = ", ".join(FILES)
    if type(value) is not list or not value:
        raise BadArgument("outputs", f"{_shown(value)} is not a list of some of {known}")
    for one in value:
        if type(one) is not str or one not in FILES:
            raise BadArgument("outputs", f"{_shown(one)} is not one of {known}")
    if len(set(value)) < len(value):
        raise BadArgument("outputs", "a format stands there twice")
    return value


def _argument(name: str, value: Any) -> str:
    if name not in OPTIONS:
        known = ", ".join((*OPTIONS, *EXTRA))
        raise BadArgument(name[:50], f"no such option; there are {known}")
    try:
        return OPTIONS[name].text(value)
    except TypeError:
        raise BadArgument(name, f"{_shown(value)} is not {OPTIONS[name].what}") from None


def _shown(value: Any) -> str:
    """A value as the user wrote it, or its beginning."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "something of many levels"
    return text if len(text) <= 60 else f"{text[:60]}…"
