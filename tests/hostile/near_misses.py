"""Adversarial inputs for a regular expression, made from the expression itself.

For each repeat in a pattern: what leads to it, what it repeats many times, and an end that does not
match; and prefixes of what the pattern matches, repeated.
"""

from __future__ import annotations

from re import _constants as op  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

from tests.matching import ONE_CHARACTER, REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.matching import Matcher

# Candidates for a member of a character class, in this order.
_LIKELY = "a1 A-/<>=\"'&;:,.?#%_()[]{}*\\\n\t\0é\udc80\u4e00"


def inputs_for(matcher: Matcher, size: int) -> list[Callable[[int], str]]:
    """Up to ``size`` functions that make a text of about a given length."""
    units: dict[tuple[str, str, str], None] = {}
    for before, body in _repeats(matcher, matcher.tree, ""):
        for behind in ("", "\0", "!", " x"):
            units[before, body, behind] = None
        units["", before + body, ""] = None
        units["", before, ""] = None
    for sample in _samples(matcher, matcher.tree)[:4]:
        for end in range(1, min(len(sample), 24) + 1):
            units["", sample[:end], ""] = None
    return [_grown(*unit) for unit in list(units)[:size] if unit[1]]


def _grown(before: str, body: str, behind: str) -> Callable[[int], str]:
    return lambda length: before + body * max(length // len(body), 1) + behind


def _samples(matcher: Matcher, items: Any) -> list[str]:
    """Texts that a part of a pattern matches, ignoring look-around assertions."""
    found = [""]
    for code, value in items:
        found = [
            text + more for text in found[:3] for more in _samples_of(matcher, code, value)[:8]
        ]
    return found


def _samples_of(matcher: Matcher, code: Any, value: Any) -> list[str]:
    if code in ONE_CHARACTER:
        has = matcher.set_of(code, value, matcher.tree.state.flags)
        own = [chr(what) for kind, what in value if kind is op.LITERAL] if code is op.IN else []
        if code is op.LITERAL:
            own = [chr(value)]
        elif code is op.IN:
            own += [chr(what[0]) for kind, what in value if kind is op.RANGE]
        return [c for c in (*own[:2], *_LIKELY) if has(c) and (not matcher.is_bytes or c < "Ā")][:2]
    if code in REPEATS:
        least, most, inner = value
        return [text * max(least, 1) for text in _samples(matcher, inner)] if most else [""]
    if code is op.BRANCH:
        return [text for choice in value[1] for text in _samples(matcher, choice)[:2]]
    if code is op.SUBPATTERN:
        return _samples(matcher, value[3])
    if code is op.ATOMIC_GROUP:
        return _samples(matcher, value)
    return [""]


def _repeats(matcher: Matcher, items: Any, before: str) -> Iterator[tuple[str, str]]:
    """For each repeat in a pattern: a text that leads to it, and a text that it repeats."""
    for code, value in items:
        if code in REPEATS:
            if int(value[1]) > 1:
                for body in _samples(matcher, value[2])[:3]:
                    yield before, body
            yield from _repeats(matcher, value[2], before)
        elif code is op.BRANCH:
            for choice in value[1]:
                yield from _repeats(matcher, choice, before)
        elif code is op.SUBPATTERN:
            yield from _repeats(matcher, value[3], before)
        elif code in (op.ASSERT, op.ASSERT_NOT):
            yield from _repeats(matcher, value[1], before)
        elif code is op.ATOMIC_GROUP:
            yield from _repeats(matcher, value, before)
        samples = _samples_of(matcher, code, value)
        before += samples[0] if samples else ""
