"""Regular expressions in linear time: whether a text matches, by an automaton. *Pure.*

``re`` tries one path after the other, and a short text can have more of them than there is time
for: ``(a+)+$`` takes 2**n steps. An automaton follows all paths at once, a character at a time. Its
states are made when they are needed, and kept: then a character is one look into a dictionary.

What ``re`` parses is what is matched here, and single characters are compared by ``re`` itself,
so both agree. Not possible are back-references, conditions, atomic groups and possessive repeats.
Look-around is: a first pass over the text finds where it holds. Texts are one line, as URLs are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.urls.regex_syntax import (
    ASSERT,
    AT,
    BEGINS,
    BOUNDARIES,
    BRANCH,
    CHARACTERS,
    FAILURE,
    LOOKS,
    MAXREPEAT,
    OTHERS,
    REPEATS,
    SUBPATTERN,
    character_matcher,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlproject.urls.regex_syntax import Matcher

    # For each look-around, whether it holds at a place.
    Held = tuple[bool, ...]
    # A character, or None at the end, and what holds before it.
    Symbol = tuple[str | None, Held]
    # Of the character before (None: there is none), the character after, and what holds between.
    Condition = Callable[[Held | None, str | None, Held], bool]

# States of an automaton as it is written: {1,1000} has a thousand.
_MOST_STATES = 1_000
# Steps that are remembered.
_MOST_STEPS = 50_000


class Unsupported(Exception):
    """No automaton of this kind can match it; the message names what it has."""


class Look(NamedTuple):
    """A look-around: what it looks for, and whether ahead."""

    automaton: Automaton
    is_ahead: bool


class Linear:
    """Whether a regular expression matches anywhere in a text. Raises Unsupported."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        parsed = parse(pattern)
        # Those inside of others first.
        self._looks: list[Look] = []
        self._automaton = Automaton(parsed, parsed.state.flags, self._looks, is_search=True)

    def matches(self, text: str) -> bool:
        automaton = self._automaton
        if self._looks:
            return automaton.run(self._symbols(text))
        state = automaton.start
        for character in text:
            state = state[character]
        return state[None] is automaton.accepted

    def _symbols(self, text: str) -> list[Symbol]:
        held: list[Held] = [()] * (len(text) + 1)
        for automaton, is_ahead in self._looks:
            # Ahead is before, from the end.
            step = -1 if is_ahead else 1
            places = automaton.places(list(zip([*text[::step], None], held[::step], strict=True)))
            held = [(*some, one) for some, one in zip(held, places[::step], strict=True)]
        return list(zip([*text, None], held, strict=True))


class State(dict[Any, "State"]):
    """What a text may be in the middle of, and where each next symbol leads."""

    __slots__ = ("automaton", "before", "core", "ending")

    def __init__(self, automaton: Automaton, core: frozenset[int], before: Held | None) -> None:
        self.automaton = automaton
        self.core = core
        # What is known of the character before; None: there is none.
        self.before = before
        # The symbols before which a match ends.
        self.ending: set[Any] = set()

    def __missing__(self, symbol: Any) -> State:
        state = self[symbol] = self.automaton.step(self, symbol)
        return state


class Automaton:
    """``is_search``: it is enough to know that there is a match, and not where one ends."""

    def __init__(
        self,
        items: Sequence[Any],
        flags: int,
        looks: list[Look],
        *,
        is_search: bool = False,
        is_reversed: bool = False,
    ) -> None:
        self._looks = looks
        self._is_search = is_search
        self._is_reversed = is_reversed
        # By which character a state is left, and where to.
        self._by_character: list[tuple[Matcher, int] | None] = []
        # Where it leads without one, on which condition.
        self._free: list[list[tuple[Condition | None, int]]] = []
        # What is asked about the character before.
        self._words: list[Matcher] = []
        self._end = self._new()
        self._begin = self._sequence(items, self._end, flags)
        self._states: dict[Any, State] = {}
        self._steps = 0
        self.accepted = State(self, frozenset(), None)
        self.start = State(self, frozenset(), None)

    # --- written as states

    def _new(self, matcher: Matcher | None = None, after: int = 0) -> int:
        if len(self._free) >= _MOST_STATES:
            raise Unsupported("too many repeats")
        self._by_character.append(None if matcher is None else (matcher, after))
        self._free.append([])
        return len(self._free) - 1

    def _either(self, *states: int) -> int:
        state = self._new()
        self._free[state] = [(None, other) for other in states]
        return state

    def _on(self, condition: Condition, after: int) -> int:
        state = self._new()
        self._free[state] = [(condition, after)]
        return state

    def _sequence(self, items: Sequence[Any], after: int, flags: int) -> int:
        """The state from which these items lead to the state ``after``."""
        in_order = list(items)
        for operator, value in in_order if self._is_reversed else reversed(in_order):
            after = self._item(operator, value, after, flags)
        return after

    def _item(self, operator: Any, value: Any, after: int, flags: int) -> int:
        if operator in CHARACTERS:
            return self._new(character_matcher(operator, value, flags), after)
        if operator is SUBPATTERN:
            _, added, removed, items = value
            return self._sequence(items, after, (flags | added) & ~removed)
        if operator is BRANCH:
            return self._either(*[self._sequence(items, after, flags) for items in value[1]])
        if operator in REPEATS:
            return self._repeat(after, flags, *value)
        if operator is AT:
            return self._on(self._at(value, flags), after)
        if operator in LOOKS:
            return self._on(self._look(operator is ASSERT, flags, *value), after)
        if operator is FAILURE:
            return self._new()
        raise Unsupported(OTHERS.get(operator, "what no automaton can match"))

    def _repeat(self, after: int, flags: int, least: int, most: int, items: Sequence[Any]) -> int:
        end = after
        if most == MAXREPEAT:
            after = self._either(end)
            self._free[after].append((None, self._sequence(items, after, flags)))
        else:
            for _ in range(most - least):
                after = self._either(end, self._sequence(items, after, flags))
        for _ in range(least):
            after = self._sequence(items, after, flags)
        return after

    def _at(self, place: Any, flags: int) -> Condition:
        if place in BOUNDARIES:
            is_word = re.compile(r"\w", flags & (re.ASCII | re.UNICODE)).match
            number, wanted = len(self._words), BOUNDARIES[place]
            self._words.append(is_word)

            def is_boundary(before: Held | None, after: str | None, held: Held) -> bool:
                is_in_word = before is not None and before[number]
                return (is_in_word is not (after is not None and bool(is_word(after)))) is wanted

            return is_boundary
        if (place in BEGINS) is self._is_reversed:
            return lambda before, after, held: after is None
        return lambda before, after, held: before is None

    def _look(self, wanted: bool, flags: int, direction: int, items: Sequence[Any]) -> Condition:
        is_ahead = direction > 0
        automaton = Automaton(items, flags, self._looks, is_reversed=is_ahead)
        number = len(self._looks)
        self._looks.append(Look(automaton, is_ahead))
        return lambda before, after, held: held[number] is wanted

    # --- followed

    def run(self, symbols: list[Symbol]) -> bool:
        """Whether there is a match."""
        state = self.start
        for symbol in symbols:
            state = state[symbol]
        return state is self.accepted

    def places(self, symbols: list[Symbol]) -> list[bool]:
        """For each place, whether a match ends there."""
        state, places = self.start, []
        for symbol in symbols:
            following = state[symbol]
            places.append(symbol in state.ending)
            state = following
        return places

    def step(self, state: State, symbol: Symbol | str | None) -> State:
        if state is self.accepted:
            return state
        character, held = symbol if isinstance(symbol, tuple) else (symbol, ())
        reached = self._reached(state, character, held)
        if self._end in reached:
            state.ending.add(symbol)
            if self._is_search:
                return self.accepted
        if character is None:
            return self.start
        leaving = [edge for number in reached if (edge := self._by_character[number]) is not None]
        core = frozenset(after for matches, after in leaving if matches(character))
        before = tuple([bool(is_word(character)) for is_word in self._words])
        return self._remembered(core, before)

    def _reached(self, state: State, character: str | None, held: Held) -> set[int]:
        """The states that are reached without a character. Any place may be the first."""
        reached, waiting = set(), [self._begin, *state.core]
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            for condition, after in self._free[number]:
                if condition is None or condition(state.before, character, held):
                    waiting.append(after)
        return reached

    def _remembered(self, core: frozenset[int], before: Held) -> State:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            self._steps = 0
            self._states = {}
            self.start.clear()
            self.accepted.clear()
        found = self._states.get((core, before))
        if found is None:
            found = self._states[core, before] = State(self, core, before)
        return found
