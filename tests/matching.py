"""A regular-expression matcher that counts its steps.

It interprets the parse tree of Python's own parser and backtracks as Python's matcher does, but
without its shortcuts. A pattern that takes Python quadratic time takes this matcher a quadratic
number of steps.
"""

from __future__ import annotations

import re
import sys
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    # Matches the rest of the pattern at a position.
    Rest = Callable[[int], bool]

REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
ONE_CHARACTER = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}


class TooManySteps(Exception):
    """The limit was reached: exponential patterns would run for years."""


class Matcher:
    def __init__(self, pattern: re.Pattern[Any], most_steps: int = 1_000_000) -> None:
        self.steps = 0
        self._most_steps = most_steps
        self.is_bytes = isinstance(pattern.pattern, bytes)
        tree = parser.parse(pattern.pattern, pattern.flags)
        self.tree = tree
        self._text: list[str] = []
        self._groups: dict[int, tuple[int, int]] = {}
        self._start = self._end = self._not_empty = -1
        self._must_end = False
        self._match = self._sequence(tree, pattern.flags, self._final)

    def spans(self, text: str | bytes, how: str) -> list[tuple[int, int]]:
        """The matches in a text. ``how`` is a method of a pattern, or 'scan': one ``match`` after
        the other. Bytes are read as Latin-1.
        """
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(200_000)
        try:
            return list(self._spans(text, how))
        finally:
            sys.setrecursionlimit(limit)

    def _spans(self, text: str | bytes, how: str) -> Iterator[tuple[int, int]]:
        self._text = list(text.decode("latin-1") if isinstance(text, bytes) else text)
        self._must_end = how == "fullmatch"
        place, self._not_empty = 0, -1
        while place <= len(self._text):
            self._groups.clear()
            self.steps += 1
            self._start = place
            if self._match(place):
                yield place, self._end
                if how in ("match", "fullmatch", "search"):
                    return
                # An empty match is not found again at the same position.
                self._not_empty = place if self._end == place else -1
                place = self._end
            elif how in ("match", "fullmatch", "scan"):
                return
            else:
                place += 1

    def _count(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > self._most_steps:
            raise TooManySteps(self.steps)

    def _final(self, place: int) -> bool:
        if self._must_end and place != len(self._text):
            return False
        if place == self._start == self._not_empty:
            return False
        self._end = place
        return True

    def _sequence(self, items: Iterable[tuple[Any, Any]], flags: int, rest: Rest) -> Rest:
        for code, value in reversed(list(items)):
            rest = self._node(code, value, flags, rest)
        return rest

    def _node(self, code: Any, value: Any, flags: int, rest: Rest) -> Rest:
        if code in ONE_CHARACTER:
            return self._character(self.set_of(code, value, flags), rest)
        if code in REPEATS:
            return self._repeat(code, value, flags, rest)
        if code is op.BRANCH:
            return self._branch([self._sequence(item, flags, rest) for item in value[1]])
        if code is op.SUBPATTERN:
            group, add, remove, items = value
            return self._group(group, items, (flags | add) & ~remove, rest)
        if code is op.ATOMIC_GROUP:
            return self._atomic(self._alone(value, flags), rest)
        if code in (op.ASSERT, op.ASSERT_NOT):
            return self._look(value, flags, code is op.ASSERT, rest)
        if code is op.AT:
            return self._at(value, flags, rest)
        if code is op.GROUPREF:
            return self._reference(value, flags, rest)
        raise NotImplementedError(code)

    def _character(self, has: Callable[[str], bool], rest: Rest) -> Rest:
        def match(place: int) -> bool:
            self._count()
            return place < len(self._text) and has(self._text[place]) and rest(place + 1)

        return match

    def set_of(self, code: Any, value: Any, flags: int) -> Callable[[str], bool]:
        known: dict[str, bool] = {}

        def has(character: str) -> bool:
            if character not in known:
                forms = {character}
                if flags & re.IGNORECASE and (not self.is_bytes or character.isascii()):
                    forms |= {character.lower(), character.upper()}
                known[character] = self._has(code, value, flags, forms)
            return known[character]

        return has

    def _has(self, code: Any, value: Any, flags: int, forms: set[str]) -> bool:
        if code is op.ANY:
            return bool(flags & re.DOTALL) or "\n" not in forms
        if code is op.LITERAL:
            return any(form == chr(value) for form in forms)
        if code is op.NOT_LITERAL:
            return not any(form == chr(value) for form in forms)
        is_negated = value[0][0] is op.NEGATE
        found = False
        for kind, what in value[is_negated:]:
            if kind is op.LITERAL:
                found |= chr(what) in forms
            elif kind is op.RANGE:
                found |= any(what[0] <= ord(form) <= what[1] for form in forms if len(form) == 1)
            else:
                is_ascii = self.is_bytes or flags & re.ASCII
                category = re.compile(_CATEGORIES[what], re.ASCII if is_ascii else 0)
                found |= any(category.match(form) is not None for form in forms)
        return found != is_negated

    def _repeat(self, code: Any, value: Any, flags: int, rest: Rest) -> Rest:
        least, most, items = value
        if len(items) == 1 and items[0][0] in ONE_CHARACTER:
            inner, what = items[0]
            has = self.set_of(inner, what, flags)
            return self._repeat_character(code, least, int(most), has, rest)
        if code is op.POSSESSIVE_REPEAT:
            return self._repeat_possessively(least, int(most), self._alone(items, flags), rest)
        return self._repeat_group(code, (least, int(most)), items, flags, rest)

    def _repeat_character(
        self, code: Any, least: int, most: int, has: Callable[[str], bool], rest: Rest
    ) -> Rest:
        def run(place: int, limit: int) -> int:
            text, end = self._text, place
            while end < limit and has(text[end]):
                end += 1
            self._count(end - place + 1)
            return end

        def match(place: int) -> bool:
            size = len(self._text)
            if code is op.MIN_REPEAT:
                end = run(place, min(size, place + least))
                if end < place + least:
                    return False
                while not rest(end):
                    self._count()
                    if end >= min(size, place + most) or not has(self._text[end]):
                        return False
                    end += 1
                return True
            end = run(place, min(size, place + most))
            if code is op.POSSESSIVE_REPEAT:
                return end >= place + least and rest(end)
            while end >= place + least:
                self._count()
                if rest(end):
                    return True
                end -= 1
            return False

        return match

    def _repeat_possessively(
        self, least: int, most: int, body: Callable[[int], int], rest: Rest
    ) -> Rest:
        def match(place: int) -> bool:
            count = 0
            while count < most:
                self._count()
                end = body(place)
                if end < 0 or (end == place and count >= least):
                    break
                place, count = end, count + 1
            return count >= least and rest(place)

        return match

    def _repeat_group(
        self, code: Any, bounds: tuple[int, int], items: Any, flags: int, rest: Rest
    ) -> Rest:
        least, most = bounds
        # The number of iterations so far, and where the last one began.
        state: list[tuple[int, int]] = []

        def again(place: int) -> bool:
            count, last = state[-1]
            if count >= most or (place == last and count >= least):
                return False
            state[-1] = count + 1, place
            if body(place):
                return True
            state[-1] = count, last
            return False

        def leave(place: int) -> bool:
            if state[-1][0] < least:
                return False
            left = state.pop()
            if rest(place):
                return True
            state.append(left)
            return False

        def step(place: int) -> bool:
            self._count()
            if code is op.MIN_REPEAT:
                return leave(place) or again(place)
            return again(place) or leave(place)

        def match(place: int) -> bool:
            state.append((0, -1))
            if step(place):
                return True
            state.pop()
            return False

        body = self._sequence(items, flags, step)
        return match

    def _branch(self, choices: list[Rest]) -> Rest:
        def match(place: int) -> bool:
            self._count()
            # any() would use some of the C stack at each level.
            for choice in choices:  # noqa: SIM110
                if choice(place):
                    return True
            return False

        return match

    def _group(self, group: int | None, items: Any, flags: int, rest: Rest) -> Rest:
        if group is None:
            return self._sequence(items, flags, rest)
        starts: list[int] = []

        def close(place: int) -> bool:
            start = starts.pop()
            before = self._groups.get(group)
            self._groups[group] = start, place
            if rest(place):
                return True
            if before is None:
                del self._groups[group]
            else:
                self._groups[group] = before
            starts.append(start)
            return False

        body = self._sequence(items, flags, close)

        def match(place: int) -> bool:
            starts.append(place)
            if body(place):
                return True
            starts.pop()
            return False

        return match

    def _alone(self, items: Any, flags: int) -> Callable[[int], int]:
        """Match a part without backtracking into it later; returns its end, or -1."""
        ends: list[int] = []

        def final(place: int) -> bool:
            ends.append(place)
            return True

        body = self._sequence(items, flags, final)
        return lambda place: ends.pop() if body(place) else -1

    def _atomic(self, body: Callable[[int], int], rest: Rest) -> Rest:
        def match(place: int) -> bool:
            end = body(place)
            return end >= 0 and rest(end)

        return match

    def _look(self, value: Any, flags: int, is_wanted: bool, rest: Rest) -> Rest:
        direction, items = value
        width = items.getwidth()[0] if direction < 0 else 0
        body = self._alone(items, flags)

        def match(place: int) -> bool:
            self._count()
            is_found = place >= width and body(place - width) >= 0
            return is_found == is_wanted and rest(place)

        return match

    def _at(self, where: Any, flags: int, rest: Rest) -> Rest:
        word = re.compile(r"\w", re.ASCII if self.is_bytes or flags & re.ASCII else 0)

        def is_word(place: int) -> bool:
            return 0 <= place < len(self._text) and word.match(self._text[place]) is not None

        def match(place: int) -> bool:
            self._count()
            text, size = self._text, len(self._text)
            if where is op.AT_BEGINNING_STRING or where is op.AT_BEGINNING:
                lines = where is op.AT_BEGINNING and flags & re.MULTILINE
                here = place == 0 or bool(lines and text[place - 1] == "\n")
            elif where is op.AT_END_STRING:
                here = place == size
            elif where is op.AT_END:
                is_last = place == size or (place == size - 1 and text[place] == "\n")
                here = is_last or bool(flags & re.MULTILINE and text[place] == "\n")
            else:
                here = (is_word(place - 1) != is_word(place)) == (where is op.AT_BOUNDARY)
            return here and rest(place)

        return match

    def _reference(self, group: int, flags: int, rest: Rest) -> Rest:
        def match(place: int) -> bool:
            if group not in self._groups:
                return False
            start, end = self._groups[group]
            wanted = self._text[start:end]
            found = self._text[place : place + len(wanted)]
            self._count(len(wanted) + 1)
            if flags & re.IGNORECASE:
                wanted, found = [c.lower() for c in wanted], [c.lower() for c in found]
            return wanted == found and rest(place + len(wanted))

        return match
