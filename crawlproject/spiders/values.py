"""From what a user wrote to a value, or to a message that says what would be right. Pure."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from crawlproject.errors import BadArgument
from crawlproject.scope.scope import Mode
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of
from crawlproject.urls.patterns import TooSlow, search_of

if TYPE_CHECKING:
    from collections.abc import Callable

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_HOST = re.compile(r"[^\s/:@?#,*]+")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", 10, 20, 30, 40, 50)
_LEAST_PART = 0.1
_LEAST_CHANCE, _LARGEST_CHANCE = 0.01, 0.99
_LARGEST_PORT = 65_535
# As RFC 9110 and RFC 6265 have them.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]+")
_COOKIE_VALUE = re.compile(r'[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e"]*')
_BY_CLIENT = "the crawler sets it itself"
_OTHERWISE = {
    "cookie": "use cookie=",
    "user-agent": "use user_agent=",
    **dict.fromkeys(("host", "connection", "content-length", "transfer-encoding"), _BY_CLIENT),
    **dict.fromkeys(("if-none-match", "if-modified-since", "accept-encoding"), _BY_CLIENT),
}
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})


def whole_number(
    minimum: int | None = None, maximum: int | None = None
) -> Callable[[str, Any], int]:
    digits = 18 if maximum is None else 9
    limits = "" if minimum is None else f" of {minimum} or more"
    if maximum is not None:
        limits = f" from {minimum} to {maximum}"

    def parse(name: str, value: Any) -> int:
        text = str(value).strip()
        if re.fullmatch(f"-?[0-9]{{1,{digits}}}", text):
            number = int(text)
            if (minimum is None or number >= minimum) and (maximum is None or number <= maximum):
                return number
        most = " (of 18 digits at most)" if re.fullmatch("[0-9]{19,}", text) else ""
        raise BadArgument(name, f"{text[:50]!r} is not a whole number{limits}{most}")

    return parse


def indent(name: str, value: Any) -> int | None:
    return None if value is None else whole_number()(name, value)


def headers(name: str, value: Any) -> dict[str, str]:
    """'Name: value', several separated by a new line or by ' | '; or a mapping, also as JSON."""
    value = _mapping(value)
    if isinstance(value, Mapping):
        pairs = [(str(one), str(other)) for one, other in value.items()]
    else:
        lines = [line for line in re.split(r"\n| \| ", str(value)) if line.strip()]
        # The value is a secret, so it is not in the message.
        for number, line in enumerate(lines, start=1):
            if ":" not in line:
                raise BadArgument(name, f"header {number} is not 'Name: value' (several: by ' | ')")
        pairs = [(line.partition(":")[0], line.partition(":")[2]) for line in lines]
    found = {}
    for one, other in pairs:
        header, text = one.strip(), other.strip()
        if not _TOKEN.fullmatch(header):
            raise BadArgument(name, f"{header[:50]!r} is no name of a header, as X-Env is")
        if instead := _OTHERWISE.get(header.lower()):
            raise BadArgument(name, f"{header} can't be given: {instead}")
        if not _HEADER_VALUE.fullmatch(text):
            raise BadArgument(name, f"the value of {header} is empty, or not Latin-1 text")
        found[header] = text
    return found


def cookies(name: str, value: Any) -> dict[str, str]:
    """'name=value; name=value', as a browser sends them; or a mapping, also as JSON."""
    value = _mapping(value)
    if isinstance(value, Mapping):
        pairs = [(str(one), str(other)) for one, other in value.items()]
    else:
        parts = [part.strip() for part in str(value).split(";") if part.strip()]
        for number, part in enumerate(parts, start=1):
            if "=" not in part:
                raise BadArgument(name, f"cookie {number} is not name=value (several: a=b; c=d)")
        pairs = [(part.partition("=")[0], part.partition("=")[2]) for part in parts]
    for one, other in pairs:
        if not _TOKEN.fullmatch(one.strip()) or not _COOKIE_VALUE.fullmatch(other.strip()):
            raise BadArgument(
                name, f"the cookie {one.strip()[:50]!r} has characters that no cookie has"
            )
    return {one.strip(): other.strip() for one, other in pairs}


def _mapping(value: Any) -> Any:
    """What JSON says, if it is an object; else the value itself."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(ValueError):
            return json.loads(value)
    return value


def port(name: str, value: Any, zero: str = "none") -> int:
    """A port to listen on; ``zero`` says what 0 means."""
    text = str(value or 0).strip()
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > _LARGEST_PORT:
        raise BadArgument(
            name, f"{str(value)[:50]!r} is not a port from 1 to {_LARGEST_PORT} (0: {zero})"
        )
    return int(text)


def ports(name: str, value: Any) -> list[int]:
    """The first and the last port of a range, or one port; none: any free one."""
    given = value if isinstance(value, list | tuple) else _split(value or "")
    if len(given) > 2:
        raise BadArgument(name, f"{str(value)[:50]!r} is not a port, or two, such as 6023,6073")
    return [port(name, one, "any free one") for one in given]


def part(name: str, value: Any) -> float:
    """A share of a whole: not so little that everything has it."""
    try:
        number = float(str(value).strip())
    except ValueError:
        number = -1.0
    if not _LEAST_PART <= number <= 1:
        raise BadArgument(name, f"{str(value)[:50]!r} is not a number from {_LEAST_PART:g} to 1")
    return number


def share(name: str, value: Any) -> float:
    """A part of a whole, which may be none of it, or all."""
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        raise BadArgument(name, f"{str(value)[:50]!r} is not a number from 0 to 1")
    return number


def chance(name: str, value: Any) -> float:
    """Neither impossible nor certain."""
    number = _number(value)
    if number is None or not _LEAST_CHANCE <= number <= _LARGEST_CHANCE:
        raise BadArgument(
            name,
            f"{str(value)[:50]!r} is not a number from {_LEAST_CHANCE:g} to {_LARGEST_CHANCE:g}",
        )
    return number


def depth(name: str, value: Any) -> int | None:
    """Links from a seed; None for no limit."""
    text = str(value).strip().lower()
    if text == "none":
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text):
        zero = "no limit" if name.isupper() else "the seeds only"
        raise BadArgument(
            name, f"{text[:50]!r} is not a number of links (0 = {zero}) or 'none' (no limit)"
        )
    return int(text)


def duration(name: str, value: Any) -> float:
    match = _DURATION.fullmatch(str(value).strip())
    if not match or not float(match[1]):
        raise BadArgument(name, f"{str(value)!r} is not a time such as 90, 30s, 2m or 1h")
    return float(match[1]) * _SECONDS[(match[2] or "s").lower()]


def seconds(name: str, value: Any) -> float:
    number = _number(value)
    if number is None or number < 0:
        raise BadArgument(name, f"{str(value)!r} is not a number of seconds such as 0.5 or 2")
    return number


def some_time(name: str, value: Any) -> float:
    number = seconds(name, value)
    if not number:
        raise BadArgument(name, "0 is no time at all: give a number of seconds such as 30")
    return number


def encoding(name: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        return codecs.lookup(str(value)).name
    except LookupError:
        raise BadArgument(
            name, f"{str(value)!r} is not an encoding such as utf-8 or ascii"
        ) from None


def statuses(name: str, value: Any) -> list[int]:
    numbers = value if isinstance(value, list | tuple) else _split(value)
    for number in numbers:
        if not re.fullmatch(r"[1-9][0-9]{2}", str(number).strip()):
            raise BadArgument(name, f"{str(number)!r} is not a status such as 503")
    return [int(number) for number in numbers]


def per_second(name: str, value: Any) -> float:
    """Requests a second."""
    number = _number(value)
    if number is None or number <= 0 or not math.isfinite(1 / number):
        raise BadArgument(name, f"{str(value)!r} is not a number of requests a second above 0")
    return number


def above_zero(name: str, value: Any) -> float:
    number = _number(value)
    if number is None or number <= 0:
        raise BadArgument(name, f"{str(value)!r} is not a number above 0 such as 1 or 2.5")
    return number


def yes_or_no(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in _YES | _NO:
        raise BadArgument(name, f"{str(value)!r} is not 'yes' or 'no'")
    return text in _YES


def log_level(name: str, value: Any) -> str | int:
    level = value.upper() if isinstance(value, str) else value
    if level not in _LEVELS:
        raise BadArgument(name, f"{str(value)!r} is not DEBUG, INFO, WARNING, ERROR or CRITICAL")
    return cast("str | int", level)


def mode(name: str, value: Any) -> Mode:
    try:
        return Mode(str(value).strip().lower())
    except ValueError:
        choices = ", ".join(Mode)
        raise BadArgument(name, f"{str(value)!r} is not one of {choices}") from None


def hosts(name: str, value: Any) -> list[str]:
    """Hosts or domains, separated by white space or commas."""
    names = [str(part) for part in value] if isinstance(value, list | tuple) else _split(value)
    return [_host(name, host) for host in names]


def _host(name: str, host: str, hint: str = "; its subdomains are included") -> str:
    try:
        if not _HOST.fullmatch(host):
            raise NotCrawlable(host)
        return host_of(canonicalize(f"http://{host}/"))
    except NotCrawlable:
        raise BadArgument(
            name, f"{host!r} is not a host such as example.com (no scheme, port or path{hint})"
        ) from None


def one_of(*choices: str) -> Callable[[str, Any], str]:
    def parse(name: str, value: Any) -> str:
        text = str(value).strip().lower()
        if text not in choices:
            raise BadArgument(name, f"{str(value)!r} is not one of {', '.join(choices)}")
        return text

    return parse


def some_of(*choices: str) -> Callable[[str, Any], list[str]]:
    """Any of the choices, as a list, which may be written in JSON or with commas; also none."""

    def parse(name: str, value: Any) -> list[str]:
        if isinstance(value, str) and value.strip().startswith("["):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        parts = value if isinstance(value, list | tuple) else _split(value or "")
        several = [str(part).strip().lower() for part in parts]
        for part in several:
            if part not in choices:
                raise BadArgument(name, f"{part[:50]!r} is not one of {', '.join(choices)}")
        return list(dict.fromkeys(several))

    return parse


def host_limits(name: str, value: Any) -> dict[str, dict[str, float]]:
    """Limits of single hosts, as an object or written in JSON."""
    parsers: dict[str, Callable[[str, Any], float]] = {
        "delay": seconds,
        "concurrency": whole_number(1),
        "rate": per_second,
    }
    return {
        _host(name, host, hint=""): _limits(name, host, limits, parsers)
        for host, limits in _object_of_objects(name, value).items()
    }


def download_slots(name: str, value: Any) -> dict[str, dict[str, float]]:
    """Scrapy's limits of single slots, of which most are named like their host."""
    parsers: dict[str, Callable[[str, Any], float]] = {
        "delay": seconds,
        "concurrency": whole_number(1),
        "jitter": seconds,
        "randomize_delay": yes_or_no,
    }
    return {
        slot: _limits(name, slot, limits, parsers)
        for slot, limits in _object_of_objects(name, value).items()
    }


def _object_of_objects(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, Mapping):
        raise BadArgument(
            name, f'{str(value)[:50]!r} is not an object such as {{"example.com": {{"delay": 2}}}}'
        )
    return {str(key): member for key, member in value.items()}


def _limits(
    name: str, host: str, limits: Any, parsers: dict[str, Callable[[str, Any], float]]
) -> dict[str, float]:
    if not isinstance(limits, Mapping):
        raise BadArgument(
            name, f'{str(limits)[:50]!r} for {host} is not an object such as {{"delay": 2}}'
        )
    checked = {}
    for key, value in limits.items():
        if key not in parsers:
            raise BadArgument(name, f"{str(key)!r} for {host} is not one of {', '.join(parsers)}")
        try:
            checked[str(key)] = parsers[key](name, value)
        except BadArgument as error:
            raise BadArgument(name, f"{key} for {host}: {error.problem}") from None
    return checked


def patterns(name: str, value: Any) -> list[str]:
    """A regular expression, or a list of them, which may be written in JSON."""
    if isinstance(value, str) and value.startswith('["'):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    expressions = [str(part) for part in value] if isinstance(value, list | tuple) else [str(value)]
    for expression in expressions:
        try:
            search_of(expression)
        except TooSlow as error:
            raise BadArgument(name, str(error)) from None
        except (re.error, OverflowError, RecursionError) as error:
            raise BadArgument(
                name, f"{expression[:200]!r} is not a regular expression: {error}"
            ) from None
    return [expression for expression in expressions if expression]


def text(name: str, value: Any) -> str:
    stripped = str(value).strip()
    if not stripped or not stripped.isprintable():
        raise BadArgument(name, f"{str(value)!r} is not a line of text")
    return stripped


def text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else text(name, value)


def file_or_none(name: str, value: Any) -> str | None:
    """The name of a file; where there is nothing, none."""
    return None if value in (None, "") else text(name, value)


def some_stats(name: str, value: Any) -> Any:
    """Which stats are logged: all (true), none, or those with certain words in their name."""
    value = _mapping(value)
    if isinstance(value, Mapping):
        if value.keys() <= {"enabled", "include", "exclude"}:
            return value
    elif value is None or str(value).strip().lower() in _YES | _NO:
        return None if value is None else yes_or_no(name, value)
    raise BadArgument(
        name,
        f"{str(value)[:50]!r} is not 'yes', 'no' or an object such as {{\"include\": [\"item_\"]}}",
    )


def fields(name: str, value: Any) -> Any:
    """Names of fields, or an object of names; the text of one is to be JSON."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise BadArgument(
                name,
                f"{value[:50]!r} is not names with commas between, or a list or object in JSON",
            ) from None
    if value is None or isinstance(value, str | list | tuple | Mapping):
        return value
    raise BadArgument(name, f"{value!r} is not a list of names, or an object of names")


def crawl_name(name: str, value: Any) -> str | None:
    """What all keys of a shared crawl have in their name."""
    if value is None:
        return None
    if not re.fullmatch(r"[\w.:-]{1,100}", str(value), re.ASCII):
        raise BadArgument(
            name, f"{value!r} is no name of a crawl: letters, digits and . _ : - (at most 100)"
        )
    return str(value)


def _split(value: Any) -> list[str]:
    return re.split(r"[\s,]+", str(value).strip(" \t\r\n,")) if str(value).strip(" ,") else []


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
