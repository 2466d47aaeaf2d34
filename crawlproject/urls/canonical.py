"""The one spelling of a URL: what is fetched, stored and compared everywhere.

Two steps. A WHATWG parser reads the URL as browsers do: it joins, strips white space,
lower-cases, resolves dot segments, turns host names into ASCII and IPv4 spellings into
four numbers. What it leaves open is closed here: one spelling of each percent escape,
sorted parameters, no fragment, no user-info, no tracking.

Only what cannot change the meaning is touched. Reserved characters stay as they came
(``%2F`` is not ``/``), repeated parameters keep their order, ``a`` and ``a=`` differ.
"""

from __future__ import annotations

import atexit
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

import can_ada

from crawlproject.redaction import without_passwords

if TYPE_CHECKING:
    from collections.abc import Iterable

# Parameters that say who came or from where, never what to show. ``*`` ends a prefix.
DEFAULT_TRACKING_PARAMS: tuple[str, ...] = (
    # campaigns and clicks
    "utm_*",
    "gclid",
    "gclsrc",
    "gbraid",
    "wbraid",
    "dclid",
    "fbclid",
    "igshid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "_ga",
    "_gl",
    # sessions
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "sessionid",
    "session_id",
    "sid",
    "cfid",
    "cftoken",
)

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_HEX = "0123456789abcdefABCDEF"

# Longer URLs take the slow path, which also measures the host.
_FAST_LENGTH = 250
_MAX_HOST = 253
_SHOWN = 100

# No group that may match in part is possessive: CPython before 3.11.5 goes on behind that part.
_HOST_NAME = r"[a-z0-9_-]{1,63}+(?:\.[a-z0-9_-]{1,63}+)*"
_HOST = re.compile(rf"{_HOST_NAME}|\[[0-9a-f:]+\]").fullmatch
_PLAIN = "[A-Za-z0-9\\-._~!$&'()*+,=:@/]*+"
_KEPT_ESCAPE = "%(?:[89A-F][0-9A-F]|2[0-9A-CF])"
_CLEAN = re.compile(
    rf"https?://{_HOST_NAME}(?::[1-9][0-9]*)?/{_PLAIN}(?:{_KEPT_ESCAPE}{_PLAIN})*"
).fullmatch
_CLEAN_QUERY = re.compile(r"[A-Za-z0-9\-._~!$&()*+,;=:@/?]*").fullmatch
_ODD_IN_PATH = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]")
_ODD_IN_QUERY = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&()*+,;=:@/?]")
_PATH_PARAM = re.compile(r";([^;/=]*)=[^;/]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SCHEME = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]*):").match
# Where a relative URL starts, and names on from there in which nothing can be spelled otherwise.
_NAME = "[A-Za-z0-9_~-][A-Za-z0-9._~-]*+"
_PLAIN_NAMES = re.compile(rf"(/|\.\./|)({_NAME}(?:/{_NAME})*/?)").fullmatch
# Pages of one directory have the same, and often come together.
_STARTS = 256


def _spellings() -> dict[str, str]:
    """How each character and escape that may be odd is written: ``%7e`` as ``~``, ``|`` as ``%7C``.

    A ``%`` that starts no escape is itself escaped, or ``%%341`` would become ``%41``,
    and that, next time, ``A``.
    """
    table = {chr(code): f"%{code:02X}" for code in range(128)}
    for first in _HEX:
        for second in _HEX:
            char = chr(int(first + second, 16))
            table[f"%{first}{second}"] = (
                char if char in _UNRESERVED else f"%{first}{second}".upper()
            )
    return table


_SPELLING = _spellings()


def _spell(odd: re.Match[str]) -> str:
    return _SPELLING[odd[0]]


class NotCrawlable(ValueError):
    """The URL names nothing that can be asked for over HTTP; the message says why."""


def _refusal(url: str, reason: str) -> NotCrawlable:
    # Before it is cut, which may be in the middle of a password.
    url = without_passwords(url)
    shown = f"{url!a}" if len(url) <= _SHOWN else f"{url[:_SHOWN]!a}…"
    return NotCrawlable(f"not a crawlable URL: {shown}: {reason}")


@lru_cache(maxsize=256)
def _parse_base(base: str) -> can_ada.URL | None:
    try:
        return can_ada.parse(_SURROGATE.sub("\ufffd", base))
    except ValueError:
        return None


# At the end of a process that is in a hurry (Ctrl-C twice), can_ada complains of its
# objects that are still alive.
atexit.register(_parse_base.cache_clear)


def _why_unparsable(url: str, base: str | None) -> str:
    if _SCHEME(url) or url.startswith("//"):
        return "its host or port is not valid"
    if base is None:
        return "it has no scheme; write https://host/path"
    return f"it is relative, and its base {base[:_SHOWN]!a} is no http(s) URL"


def resolve(url: str, base: str | None = None) -> str:
    """The absolute http(s) URL that a browser reads, not yet canonical. Raises NotCrawlable."""
    try:
        if base is not None and (parsed_base := _parse_base(base)) is not None:
            href = (parsed_base + url).href
        else:
            href = can_ada.parse(url).href
    except ValueError:
        raise _refusal(url, _why_unparsable(url, base)) from None
    except TypeError:
        # Half of a surrogate pair is not text; browsers read U+FFFD in its place.
        if not isinstance(url, str) or not _SURROGATE.search(url):
            raise
        return resolve(_SURROGATE.sub("\ufffd", url), base)
    if href.startswith(("https://", "http://")):
        return href
    scheme = href.partition(":")[0]
    raise _refusal(url, f"its scheme is {scheme[:_SHOWN]}, not http or https")


def wire_url(url: str, base: str | None = None) -> str:
    """The URL as it is sent: spelled as given, but with the canonical host. Raises NotCrawlable.

    No other code may turn a host name into ASCII. Libraries follow other versions of IDNA, and
    would connect to another host than the one that is recorded.
    """
    location = resolve(url, base).partition("#")[0]
    scheme, _, rest = location.partition("://")
    authority, _, path = rest.partition("/")
    return f"{scheme}://{_authority(url, authority)}/{path}"


def _authority(url: str, authority: str) -> str:
    """Host and port without user-info, in their one spelling. Raises NotCrawlable."""
    authority = authority.rpartition("@")[2]
    host, colon, port = authority.partition(":")
    if authority.startswith("["):
        host, bracket, port = authority.partition("]")
        host += bracket
        port = port[1:]
        colon = ":" if port else ""
    host = host.removesuffix(".")
    if not _HOST(host) or len(host) > _MAX_HOST:
        raise _refusal(
            url,
            f"{host[:_SHOWN]!a} is no host name; one has labels of 1 to 63 letters, "
            f"digits, '-' or '_', and {_MAX_HOST} characters at most",
        )
    if port == "0":
        raise _refusal(url, "port 0 cannot be connected to; use 1 to 65535")
    return f"{host}{colon}{port}"


class Canonicalizer:
    """Writes URLs in their one spelling, with a choice of what does not count.

    ``join_schemes`` takes http and https for the same page and writes both as https,
    because the canonical URL is also the one that is fetched.
    """

    def __init__(
        self,
        tracking_params: Iterable[str] = DEFAULT_TRACKING_PARAMS,
        join_schemes: bool = False,
    ) -> None:
        # Names are compared as the query spells them.
        names = {quote(name, safe="!$&()*+,;:@/?%~").lower() for name in tracking_params if name}
        self._tracking_prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
        self._tracking_names = frozenset(name for name in names if not name.endswith("*"))
        self.join_schemes = join_schemes
        self._start = lru_cache(maxsize=_STARTS)(self._find_start)

    def __call__(self, url: str, base: str | None = None) -> str:
        """The canonical form of url, read relative to base. Raises NotCrawlable."""
        if base is not None and (plain := _PLAIN_NAMES(url)):
            # What most links are, in a third of the time.
            start, names = plain.groups()
            if (found := self._start(start, base)) is not None:
                return found + names
        location, query = resolve(url, base), ""
        if "#" in location:
            location, _, _ = location.partition("#")
        if "?" in location:
            location, _, query = location.partition("?")
        if len(location) > _FAST_LENGTH or not _CLEAN(location):
            location = self._location(url, location)
        if self.join_schemes and location.startswith("http://"):
            location = _as_https(location)
        if query and (query := self._query(query)):
            return f"{location}?{query}"
        return location

    def _find_start(self, start: str, base: str) -> str | None:
        try:
            return self(start or ".", base)
        except NotCrawlable:
            return None

    def _location(self, url: str, location: str) -> str:
        scheme, _, rest = location.partition("://")
        authority, _, path = rest.partition("/")
        authority = _authority(url, authority)
        path = _ODD_IN_PATH.sub(_spell, path)
        if ";" in path:
            path = _PATH_PARAM.sub(self._path_param, f"/{path}")[1:]
        return f"{scheme}://{authority}/{path}"

    def _path_param(self, param: re.Match[str]) -> str:
        # Without its parameter ``..;sid=1`` would be a dot segment and change the path.
        before = param.string[max(0, param.start() - 3) : param.start()]
        if before.endswith(("/.", "/..")) or not self._is_tracking(param[1]):
            return param[0]
        return ""

    def _query(self, query: str) -> str:
        if not _CLEAN_QUERY(query):
            query = _ODD_IN_QUERY.sub(_spell, query)
        params = []
        for param in query.split("&"):
            name = param.partition("=")[0].lower()
            if (
                param
                and name not in self._tracking_names
                and not name.startswith(self._tracking_prefixes)
            ):
                params.append(param)
        if len(params) > 1:
            # Sorting is stable: parameters of one name stay in order.
            params.sort(key=name_of)
        return "&".join(params)

    def _is_tracking(self, name: str) -> bool:
        name = name.lower()
        return name in self._tracking_names or name.startswith(self._tracking_prefixes)


def name_of(param: str) -> str:
    """The name of a parameter."""
    return param.partition("=")[0]


def _as_https(location: str) -> str:
    authority, slash, path = location.removeprefix("http://").partition("/")
    return f"https://{authority.removesuffix(':443')}{slash}{path}"


canonicalize = Canonicalizer()


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL."""
    return "/".join(url.split("/", 3)[:3])


def host_of(canonical_url: str) -> str:
    """The host name in a canonical URL, without port and without the brackets of IPv6."""
    try:
        authority = canonical_url.split("/", 3)[2]
    except IndexError:
        # No canonical URL, but a spider may ask for it itself: data: has no host.
        return ""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]
