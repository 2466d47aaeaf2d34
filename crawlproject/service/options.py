"""The section ``[crawlproject]`` of ``scrapyd.conf``: every option, its default, one line.

``docs/operations.md`` says more about each; a test keeps the three together.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadArgument, BadInput
from crawlproject.scope.internal import is_loopback
from crawlproject.spiders import values

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapyd.config import Config

SECTION = "crawlproject"


@dataclass(frozen=True, slots=True)
class Options:
    # Whose spider the API starts. scrapyd's own services start any.
    project: str = "crawlproject"
    spider: str = "site"
    # Whether a job's seed may be an internal address.
    allow_internal: bool = False
    # Jobs that wait, at most: more are refused with 429.
    max_pending: int = 100
    # Whether jobs keep the bodies of pages, for /storage/get-page.
    store_bodies: bool = True
    # Ended jobs that are kept, with all they have found; 0: all.
    keep_jobs: int = 1000
    # Names by which the service may be called without a password, besides this machine's own.
    allowed_hosts: tuple[str, ...] = ()
    # Whether it may listen beyond this machine without a password.
    allow_unprotected: bool = False
    # Connections at once; above, the one that is waited for longest is closed.
    max_connections: int = 200
    # Seconds a client may take for a request's headers, for its body, between two requests, and
    # for the next 64 KB of a response.
    header_seconds: float = 10.0
    body_seconds: float = 300.0
    idle_seconds: float = 60.0
    response_seconds: float = 60.0


def _names(name: str, value: Any) -> tuple[str, ...]:
    return tuple(str(value).replace(",", " ").lower().split())


_PARSERS: dict[str, Callable[[str, Any], Any]] = {
    "str": values.text,
    "bool": values.yes_or_no,
    "int": values.whole_number(0),
    "float": values.some_time,
    "tuple[str, ...]": _names,
}


def options_from(config: Config) -> Options:
    """Raises BadArgument."""
    parsers = {field.name: _PARSERS[str(field.type)] for field in fields(Options)}
    given = {}
    for name, value in config.items(SECTION, default=[]):
        # Those that stand in [DEFAULT] belong to nobody.
        if name in config.cp.defaults():
            continue
        if name not in parsers:
            raise BadArgument(
                f"scrapyd.conf: [{SECTION}] {name}",
                f"no such option; there are {', '.join(parsers)}",
            )
        given[name] = parsers[name](f"scrapyd.conf: [{SECTION}] {name}", value)
    options = Options(**given)
    if not options.max_connections:
        raise BadArgument(
            f"scrapyd.conf: [{SECTION}] max_connections", "0 lets nobody in: give 1 or more"
        )
    return options


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the service can be reached, and who may."""

    address: str
    port: int
    # A name and a password are asked of everybody.
    is_protected: bool

    @property
    def url(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}"


def credentials_from(config: Config) -> tuple[str, str]:
    """Username and password, as scrapyd has them."""
    username = os.environ.get("SCRAPYD_USERNAME") or config.get("username", "")
    password = os.environ.get("SCRAPYD_PASSWORD") or config.get("password", "")
    return username, password


def listening_from(config: Config, options: Options) -> Listening:
    """As scrapyd understands its options and environment. Raises BadInput for what is not safe."""
    address = os.environ.get("SCRAPYD_BIND_ADDRESS") or config.get("bind_address", "127.0.0.1")
    port = values.whole_number(1, 65_535)(
        "http_port", os.environ.get("SCRAPYD_HTTP_PORT") or config.get("http_port", "6800")
    )
    username, password = credentials_from(config)
    if bool(username) != bool(password):
        missing = "password" if username else "username"
        # scrapyd would let everybody in.
        raise BadArgument(missing, "missing: give both a username and a password, or neither")
    if ":" in username:
        raise BadArgument("username", f"{username!r} holds a colon, which HTTP has no place for")
    is_protected = bool(username)
    if not is_protected and not is_loopback(address) and not options.allow_unprotected:
        raise BadInput(
            f"bind_address: {address!r} is open to others: set a username and a password, "
            "or allow_unprotected = yes if something else protects it"
        )
    return Listening(address, port, is_protected)
