"""The seeds: from arguments and files to canonical URLs, or to a message."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadArgument
from crawlproject.scope.internal import is_internal
from crawlproject.urls.canonical import NotCrawlable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# A comma may be part of a path, so it separates only before a space, a scheme or the end.
_SEPARATOR = re.compile(r"\s*,(?=\s|[A-Za-z][A-Za-z0-9+.-]*://|$)\s*|\s+")
_AUTHORITY = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
# Behind any scheme, or none: what a user may have meant as a name and a password.
_LOGIN = re.compile(
    r"(?!mailto:)(?:[a-z][a-z0-9+.-]*:(?=[/\\]))?[/\\]*[^/?#\\@:]*:[^/?#\\]*@", re.IGNORECASE
)
_BARE_HOST = re.compile(r"(localhost|[\w-]+(?:\.[\w-]+)+)(:\d+)?([/?#].*)?")


def split_seeds(value: Any) -> list[str]:
    """Seeds as written: a list, or one string separated by white space or commas."""
    if isinstance(value, list | tuple):
        return [str(seed) for seed in value]
    return [part for part in _SEPARATOR.split(str(value).strip()) if part]


def read_seeds_file(name: str, path: str) -> list[tuple[int, str]]:
    """The seeds of a file, one a line, with their line numbers; ``#`` starts a comment."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadArgument(name, f"can't read {path!r}: {error.strerror}") from None
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        lines = ["\0"]
    if any("\0" in line for line in lines):
        raise BadArgument(name, f"{path!r} is not a text file: it must hold one URL a line")
    stripped = [re.sub(r"(^|\s)#.*", "", line).strip() for line in lines]
    seeds = [(number, line) for number, line in enumerate(stripped, start=1) if line]
    if not seeds:
        raise BadArgument(name, f"{path!r} holds no URL: it must hold one a line")
    return seeds


def canonical_seeds(
    name: str, seeds: Iterable[str], canonicalize: Callable[[str], str]
) -> list[str]:
    """Unique canonical URLs, in the order given."""
    return list(dict.fromkeys(_canonical(name, seed, canonicalize) for seed in seeds))


def seeds_of_file(name: str, path: str, canonicalize: Callable[[str], str]) -> list[str]:
    return list(
        dict.fromkeys(
            _canonical(f"{name}: {path}, line {number}", seed, canonicalize)
            for number, seed in read_seeds_file(name, path)
        )
    )


def _canonical(name: str, seed: str, canonicalize: Callable[[str], str]) -> str:
    authority = _AUTHORITY.match(seed)
    if (authority and "@" in authority[1]) or _LOGIN.match(seed):
        raise BadArgument(
            name,
            "a name and password in the URL would be in every output: give them as "
            "-s HTTPAUTH_USER=…, and CRAWLPROJECT_HTTPAUTH_PASS=… in the environment",
        )
    if authority and "," in authority[1]:
        raise BadArgument(name, f"{seed!r}: give every seed its own http:// or https://")
    if not authority and (bare := _BARE_HOST.fullmatch(seed)):
        scheme = "http" if is_internal(bare[1]) else "https"
        raise BadArgument(name, f"{seed!r} has no scheme: did you mean {scheme}://{seed} ?")
    if re.search(r"\s", seed):
        raise BadArgument(name, f"{seed!r} holds a space: write it as %20")
    try:
        return canonicalize(seed)
    except NotCrawlable as error:
        hint = "" if authority else " (white space separates seeds; inside a URL it is %20)"
        raise BadArgument(name, f"{error}{hint}") from None
