"""Where the Redis is: the settings, checked before anybody is asked, and what may be shown of them.

Settings read: ``REDIS_URL``, ``REDIS_HOST``, ``REDIS_PORT``, ``REDIS_DB``, ``REDIS_PARAMS``, as
scrapy-redis understands them. What says how the connection behaves is ours where the user says
nothing; what would break a shared crawl is ours in any case.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_SCHEMES = ("redis", "rediss", "unix")
_RIGHT = "write redis://HOST:PORT/DB, rediss://HOST:PORT/DB for TLS, or unix:///PATH"
_ENCODE = "are special characters of the password written as %40 and the like?"

# Seconds. A Redis that is there answers in milliseconds; a worker must notice one that is not
# before its session runs out.
_USUAL: dict[str, Any] = {"socket_timeout": 15, "socket_connect_timeout": 5}

_NUMBERS = {"port": (1, 65_535), "db": (0, 2**31 - 1)}

# What we keep in Redis is binary, and our keys are the same for every worker: REDIS_ENCODING is
# for the seeds that are fed.
_FIXED: dict[str, Any] = {"decode_responses": False, "encoding": "utf-8", "protocol": 2}


def is_shared(settings: BaseSettings) -> bool:
    """Whether the crawl is one of several workers."""
    params = settings.get("REDIS_PARAMS")
    told = params if isinstance(params, dict) else {}
    where = {
        name: (settings.get(f"REDIS_{name.upper()}"), told.get(name))
        for name in ("url", "host", "port", "db")
    }
    # An empty URL or host is an error that the user is told of; an empty number is none.
    return any(
        value is not None and (value != "" or name in ("url", "host"))
        for name, values in where.items()
        for value in values
    )


def is_address(text: str) -> bool:
    """Whether something is written as the address of a Redis, and not as a path."""
    scheme, separator, _ = text.strip().partition("://")
    return bool(separator) and scheme.lower() in _SCHEMES


def check_address(name: str, address: str) -> None:
    """Raise BadArgument for what is no address of a Redis; ``name`` is that of the argument."""
    _url(name, address)


def checked_settings(settings: BaseSettings) -> BaseSettings:
    """What scrapy-redis is to read. Raises BadArgument."""
    params = _params(settings)
    checked: dict[str, Any] = {"REDIS_PARAMS": params}
    if settings.get("REDIS_URL") is not None:
        checked["REDIS_URL"] = _url("REDIS_URL", settings["REDIS_URL"])
    elif "url" in params:
        params["url"] = _url("REDIS_PARAMS: url", params["url"])
    checked["REDIS_HOST"] = settings.get("REDIS_HOST")
    for option in ("port", "db"):
        name = f"REDIS_{option.upper()}"
        if settings.get(name) not in (None, ""):
            checked[name] = _checked(name, option, settings[name])
    return BaseSettings(checked)


def shown(url: object) -> str:
    """A URL of which nobody learns a password, even if it is broken."""
    try:
        parts = urlsplit(str(url).strip())
        port = parts.port
    except ValueError:
        return "(not shown: it may hold a password)"
    rest = parts.path + parts.query + parts.fragment
    if parts.scheme not in _SCHEMES or "@" in rest:
        # Where the password ends is anybody's guess.
        is_guess = "@" in str(url) or parts.query
        return "(not shown: it may hold a password)" if is_guess else repr(url)
    # Alone, it may be meant as the password.
    user = f"{parts.username}@" if parts.username and parts.password else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{user}{host}{f':{port}' if port else ''}{parts.path}"


def _params(settings: BaseSettings) -> dict[str, Any]:
    value = settings.get("REDIS_PARAMS")
    try:
        given = settings.getdict("REDIS_PARAMS")
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise BadArgument(
            "REDIS_PARAMS",
            f"must be a dict such as {{'socket_timeout': 30}}, or one as JSON, and is a {kind}",
        ) from None
    if isinstance(given.get("redis_cls"), str):
        try:
            given["redis_cls"] = load_object(given["redis_cls"])
        except (ImportError, NameError, ValueError) as error:
            raise BadArgument("REDIS_PARAMS: redis_cls", f"can't be loaded: {error}") from None
    params = {**_USUAL, **given, **_FIXED}
    params = {name: _checked(f"REDIS_PARAMS: {name}", name, params[name]) for name in params}
    if params.get("db") == 0:
        # It is the usual one, and the client of a cluster does not want to hear of any.
        del params["db"]
    return params


def _url(name: str, value: object) -> str:
    text = str(value).strip()
    if not text:
        raise BadArgument(name, f"is empty: {_RIGHT}")
    scheme, separator, _ = text.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise BadArgument(name, f"{shown(text)} is no address of a Redis: {_RIGHT}")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise BadArgument(name, f"{shown(text)}: {error}: {_RIGHT}") from None
    if "#" in text or "@" in parts.path + parts.query:
        raise BadArgument(name, f"{shown(text)} can't be read: {_ENCODE}")
    if scheme == "unix":
        if not parts.path.strip("/"):
            raise BadArgument(name, f"{shown(text)} names no socket: {_RIGHT}")
    else:
        _check_server(name, parts)
    options = _without_fixed(name, parts)
    # Not put together from its parts: that makes another path of unix:///PATH.
    return text.partition("?")[0] + (f"?{options}" if options else "")


def _check_server(name: str, parts: SplitResult) -> None:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise BadArgument(name, f"the port must be a number from 1 to 65535; {_ENCODE}")
    url = shown(parts.geturl())
    if not parts.hostname:
        raise BadArgument(name, f"{url} names no host: {_RIGHT}")
    if not re.fullmatch(r"/?|/\d+", parts.path, re.ASCII):
        raise BadArgument(
            name, f"{url}: what follows the host must be the number of a database, as in /0"
        )


def _without_fixed(name: str, parts: SplitResult) -> str:
    """Its options, but for those that are ours."""
    options = parse_qsl(parts.query, keep_blank_values=True)
    for option, value in options:
        _checked(f"{name}: {option}", option, value)
    return urlencode([(option, value) for option, value in options if option not in _FIXED])


def _checked(name: str, option: str, value: Any) -> Any:
    """The value of an option, as a number where it is one."""
    if option in _NUMBERS:
        lowest, highest = _NUMBERS[option]
        try:
            number = int(str(value))
        except ValueError:
            number = lowest - 1
        if lowest <= number <= highest:
            return number
        raise BadArgument(
            name, f"must be a whole number from {lowest} to {highest}, and is {value!r}"
        )
    if option in _USUAL and value is not None:
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = 0.0
        if 0 < seconds < math.inf:
            return seconds
        raise BadArgument(name, f"must be a number of seconds above 0, and is {value!r}")
    return value
