"""Which rule of a robots.txt decides about a path (RFC 9309, 2.2.2 and 2.2.3). *Pure.*

The longest pattern that matches wins, and of two that are equally long the one that allows.
Patterns and paths are compared in one spelling: percent-encoded, except for what never needs it.

A site may write tens of thousands of patterns, so they are not tried one after the other:

- without wildcard: looked up by the prefixes of the path that are as long as some pattern;
- ending with ``$``, without another wildcard: looked up by the whole path;
- with ``*``: indexed by the literal that the fewest other patterns have, be it the one before the
  first ``*`` or one behind it. A pattern is tried only if the path has that literal. Trying it is
  a search for one literal after the other, each from where the one before has ended: the leftmost
  place of each is as good as any, so there is no backtracking.

Literals can be chosen so that a path has most of them and yet matches none of the patterns. So
the work on one path is bounded, and a path that would need more is denied.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")

# Steps for one path: look-ups and searches, each for so many characters at most.
MAX_STEPS = 20_000
_STEP_CHARS = 256
# What takes memory: the objects, and the places in the indexes.
_BYTES_PER_RULE, _BYTES_PER_LITERAL = 400, 64

_PLAIN_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*(/[A-Za-z0-9_.~/=-]*)").fullmatch
_PLAIN_PATTERN = re.compile(r"[A-Za-z0-9_.~/=*-]+").fullmatch
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_ODD_IN_URL = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.~/=%-]+")
_ODD_IN_PATTERN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.~/=%*-]+")
_NEVER_ENCODED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~=-")
# Where it is allowed, so is the folder that it stands for.
_INDEX_PAGE = "/index.html"


class TooComplex(Exception):
    """The bound for the work on one path was reached."""


class Wildcard(NamedTuple):
    """A pattern with ``*``: literals in the order in which a path must have them."""

    # The length of the pattern times two, and one more if it allows.
    rank: int
    prefix: str
    literals: tuple[str, ...]
    # Whether the path ends with the last literal.
    is_anchored: bool
    # A shorter path does not match.
    least_chars: int

    def matches(self, path: str) -> bool:
        if not path.startswith(self.prefix):
            return False
        literals = self.literals
        end = len(path)
        if self.is_anchored:
            if not path.endswith(literals[-1]):
                return False
            end -= len(literals[-1])
            literals = literals[:-1]
        position = len(self.prefix)
        for literal in literals:
            position = path.find(literal, position, end)
            if position < 0:
                return False
            position += len(literal)
        return position <= end


def path_of(url: str) -> str:
    """Path and query of a URL, in the spelling that is compared."""
    if plain := _PLAIN_URL(url):
        return plain[1]
    origin = _ORIGIN.match(url)
    path = url[origin.end() if origin else 0 :].partition("#")[0]
    path = _ODD_IN_URL.sub(_encoded, path)
    return path if path.startswith("/") else f"/{path}"


def patterns_of(value: str, *, allows: bool) -> Iterator[str]:
    """The patterns that the value of a line means, in the spelling that is compared."""
    if value.startswith(("http://", "https://")):
        value = f"/{value}"
    anchor = "$" if value.endswith("$") else ""
    literal = value.removesuffix("$")
    if not _PLAIN_PATTERN(literal):
        literal = _ODD_IN_PATTERN.sub(_encoded, literal)
    if anchor:
        # Somebody may have meant the character.
        yield f"{literal}%24"
    yield literal + anchor
    if allows and not anchor and literal.endswith(_INDEX_PAGE):
        yield f"{literal.removesuffix(_INDEX_PAGE)}/$"


def _encoded(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] != "%":
        return quote(text, safe="", errors="surrogatepass")
    char = chr(int(text[1:], 16))
    return char if char in _NEVER_ENCODED else text.upper()


class RuleIndex:
    """The rules of one group: values of ``Allow`` and ``Disallow`` lines."""

    __slots__ = ("_by_literal", "_by_prefix", "_exact", "_prefixes", "size")

    def __init__(self, rules: Iterable[tuple[str, bool]]) -> None:
        allowed: dict[str, bool] = {}
        for value, allows in rules:
            for pattern in patterns_of(value, allows=allows):
                # A path begins with a slash, so no other pattern matches any.
                if pattern.startswith(("/", "*")):
                    allowed[pattern] = allows or allowed.get(pattern, False)
        self._exact: dict[str, int] = {}
        # By length, what is that long.
        self._prefixes: dict[int, dict[str, int]] = {}
        self._by_prefix: dict[int, dict[str, list[Wildcard]]] = {}
        self._by_literal: dict[int, dict[str, list[Wildcard]]] = {}
        # Bytes of memory, not less than it takes.
        self.size = sum(_BYTES_PER_RULE + len(pattern) for pattern in allowed)
        self._fill(allowed)

    def allows(self, path: str) -> bool:
        """Whether a path, as ``path_of`` spells it, may be fetched; or TooComplex."""
        rank = self._exact.get(path, 1)
        steps = 0
        for length, ranks in self._prefixes.items():
            if length > len(path):
                break
            steps += 1 + length // _STEP_CHARS
            found = ranks.get(path[:length], 1)
            if found > rank:
                rank = found
        for wildcards in self._candidates(path):
            for wildcard in wildcards:
                if wildcard.rank <= rank:
                    break
                steps += 1
                if wildcard.least_chars <= len(path):
                    steps += len(wildcard.literals) * (1 + len(path) // _STEP_CHARS)
                    if wildcard.matches(path):
                        rank = wildcard.rank
                if steps > MAX_STEPS:
                    raise TooComplex
        return bool(rank % 2)

    def _fill(self, allowed: dict[str, bool]) -> None:
        wildcards: list[Wildcard] = []
        prefixes: dict[str, int] = {}
        for pattern, allows in allowed.items():
            rank = 2 * len(pattern) + allows
            is_anchored = pattern.endswith("$")
            prefix, *rest = pattern.removesuffix("$").split("*")
            literals = tuple(filter(None, rest))
            if literals:
                is_anchored = is_anchored and bool(rest[-1])
                least = len(prefix) + sum(map(len, literals))
                self.size += _BYTES_PER_LITERAL * len(literals)
                wildcards.append(Wildcard(rank, prefix, literals, is_anchored, least))
            elif is_anchored and not rest:
                self._exact[prefix] = rank
            else:
                # '/a*' and '/a*$' are as good as '/a'.
                prefixes[prefix] = max(rank, prefixes.get(prefix, 0))
        _by_length(self._prefixes, prefixes)
        self._index(wildcards)

    def _index(self, wildcards: list[Wildcard]) -> None:
        # The first found is the one that decides.
        wildcards.sort(reverse=True, key=lambda wildcard: wildcard.rank)
        prefixes = Counter(wildcard.prefix for wildcard in wildcards)
        literals = Counter(literal for wildcard in wildcards for literal in set(wildcard.literals))
        by_prefix: dict[str, list[Wildcard]] = defaultdict(list)
        by_literal: dict[str, list[Wildcard]] = defaultdict(list)
        for wildcard in wildcards:
            rarest = min(wildcard.literals, key=literals.__getitem__)
            if prefixes[wildcard.prefix] <= literals[rarest]:
                by_prefix[wildcard.prefix].append(wildcard)
            else:
                by_literal[rarest].append(wildcard)
        _by_length(self._by_prefix, by_prefix)
        _by_length(self._by_literal, by_literal)

    def _candidates(self, path: str) -> Iterator[list[Wildcard]]:
        """The wildcards whose rarest literal the path has."""
        steps = 0
        for length, by_prefix in self._by_prefix.items():
            if wildcards := by_prefix.get(path[:length]):
                yield wildcards
        for length, by_literal in self._by_literal.items():
            places = len(path) - length + 1
            if places <= 0:
                break
            few = min(len(by_literal), places)
            steps += few * (1 + (length if few == places else len(path)) // _STEP_CHARS)
            if steps > MAX_STEPS:
                raise TooComplex
            if few < places:
                for literal, wildcards in by_literal.items():
                    if literal in path:
                        yield wildcards
            else:
                parts = {path[start : start + length] for start in range(places)}
                for literal in parts & by_literal.keys():
                    yield by_literal[literal]


def _by_length(by_length: dict[int, dict[str, T]], by_text: dict[str, T]) -> None:
    for text in sorted(by_text, key=len):
        by_length.setdefault(len(text), {})[text] = by_text[text]
