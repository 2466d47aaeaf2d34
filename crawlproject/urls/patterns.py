"""The user's own regular expressions, which see the URLs that a site made. *Pure.*

A site must not be able to choose a URL for which a pattern takes for ever. How much work ``re`` may
have is bounded by how a pattern is written and by how long a URL is. URLs for which that is little
are matched by ``re``, and longer ones by RE2, which takes linear time in every thread and says
the same. It has no look-around and no back-references: such a pattern is refused if it may take
exponential time.
"""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.urls.regex_syntax import alternatives, is_begin, is_left_once, parse, repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Steps that ``re`` may take in one URL, at most: a few milliseconds.
_MOST_STEPS = 200_000
# More steps than that, in a URL of that length, are no polynomial.
_LONG, _TOO_MANY = 1_000, 1e30
_FLAGS = {re.IGNORECASE: "i", re.DOTALL: "s", re.MULTILINE: "m"}


class TooSlow(ValueError):
    """A pattern that may take exponential time."""


def search_of(pattern: str | re.Pattern[str], longest: int = 0) -> Callable[[str], object]:
    """What finds a pattern in a URL of at most ``longest`` characters (0: of any length).

    Raises TooSlow, and what ``re.compile`` raises.
    """
    compiled = re.compile(pattern)
    search = compiled.search
    items = parse(compiled)
    if longest and _steps(items, longest) <= _MOST_STEPS:
        return search
    # The same for each character, however many there are.
    if _work(items, _LONG).steps == _work(items, 2 * _LONG).steps < _LONG:
        return search
    try:
        matches = linear(compiled)
    except Unsupported as error:
        if _steps(items, _LONG) > _TOO_MANY:
            raise TooSlow(
                f"{compiled.pattern[:200]!r} may take exponential time: it repeats what repeats, "
                f"and can't be matched by RE2 ({error})"
            ) from None
        # Of polynomial time, such as Nutch's rule against repeated segments. It is capped with the
        # page that has the URL.
        return search
    short = next(
        length for length in range(_MOST_STEPS + 1) if _steps(items, length + 1) > _MOST_STEPS
    )

    def find(url: str) -> object:
        return search(url) if len(url) <= short else matches(url)

    return find


class Unsupported(ValueError):
    """RE2 does not know what the pattern says."""


def linear(pattern: re.Pattern[str]) -> Callable[[str], object]:
    """What finds a pattern in linear time. Raises Unsupported."""
    # Few crawls need it.
    import re2

    for different in ("{,", "[[:"):
        if different in pattern.pattern:
            raise Unsupported(f"{different} has another meaning there")
    options = re2.Options()
    options.log_errors = False
    flags = "".join(letter for flag, letter in _FLAGS.items() if pattern.flags & flag)
    try:
        search = re2.compile(f"(?{flags}){pattern.pattern}" if flags else pattern.pattern, options)
    except re2.error as error:
        message = error.args[0] if error.args else error
        raise Unsupported(
            message.decode() if isinstance(message, bytes) else str(message)
        ) from None
    return search.search  # type: ignore[no-any-return]


class _Work(NamedTuple):
    """To match at one place: the paths on which ``re`` may go on, and its steps, at most."""

    paths: float
    steps: float


def _steps(items: Sequence[Any], length: int) -> float:
    """To search a text of that length."""
    steps = _work(items, length).steps
    return length + steps if is_begin(items) else length * steps


def _work(items: Sequence[Any], length: int) -> _Work:
    paths, steps = 1.0, 0.0
    for item in items:
        more = _work_of(item, length)
        steps += paths * more.steps
        paths *= more.paths
    return _Work(paths, steps)


def _work_of(item: Any, length: int) -> _Work:
    if repeated := repeat(item):
        least, most, items = repeated
        paths, steps = _work(items, length)
        most = min(most, length)
        if paths == 1:
            work = _Work(max(most - least + 1, 1), max(most, 1) * steps)
        else:
            try:
                work = _Work(paths**most, paths**most * steps)
            except OverflowError:
                work = _Work(inf, inf)
    elif choices := alternatives(item):
        works = [_work(choice, length) for choice in choices]
        work = _Work(sum(one.paths for one in works), sum(one.steps for one in works))
    else:
        work = _Work(1, 1)
    return work._replace(paths=1.0) if is_left_once(item) else work
