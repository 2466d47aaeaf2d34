"""Every regular expression of the package takes work in proportion to its input."""

from __future__ import annotations

import re
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile.inputs import REPEATED, grown
from tests.hostile.patterns import hidden, patterns
from tests.matching import Matcher, TooManySteps, inputs_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Characters, each twice as many as before.
SIZES = (96, 192, 384)
# Steps for a character that are few, however often it is looked at.
FEW = 6
# What is linear takes four times as many steps for the longest input as for the shortest, what is
# quadratic sixteen times as many.
MOST_GROWTH = 8
# … and what is exponential takes more than can be counted.
MOST_STEPS = 500_000
# How many inputs are made of each pattern itself.
OWN_INPUTS = 50

# Patterns that may be in no variable of a module, and why.
HIDDEN = {
    # Users' own patterns. Their time is capped.
    "crawlproject.scope.scope.__init__": "pattern",
    "crawlproject.spiders.values.patterns": "expression",
    "crawlproject.urls.links._compiled": "pattern",
    # What it makes is in variables of its module.
    "crawlproject.urls.markup._run": "most_attributes",
}
# Modules that see nothing of a site, and what they see.
OWN_WORDS = {
    "crawlproject.commands.checks": "options of a command",
    "crawlproject.frontier.redis.address": "the user's Redis address",
    "crawlproject.frontier.redis.connection": "errors of the Redis client",
    "crawlproject.spiders.seeds": "the user's seeds",
    "crawlproject.spiders.values": "arguments of a crawl",
}


def work(matcher: Matcher, text: str, how: str, is_bytes: bool) -> int:
    matcher.steps = 0
    with suppress(TooManySteps):
        matcher.spans(text.encode("utf-8", "surrogatepass") if is_bytes else text, how)
    return matcher.steps


def superlinear(
    pattern: re.Pattern[Any], methods: Iterable[str], inputs: Iterable[Callable[[int], str]] = ()
) -> list[str]:
    """How it is used, on what, that makes its work grow faster than its input."""
    matcher = Matcher(pattern, MOST_STEPS)
    is_bytes = isinstance(pattern.pattern, bytes)
    own = inputs_for(matcher, OWN_INPUTS)
    found = []
    for how in sorted(methods):
        for make in (*own, *inputs):
            text = make(SIZES[-1])
            most = work(matcher, text, how, is_bytes)
            if most > FEW * len(text):
                least = work(matcher, make(SIZES[0]), how, is_bytes)
                if most > MOST_STEPS or most > MOST_GROWTH * least:
                    found.append(f"{how} on {make(20)!r}… takes {least} steps, then {most}")
    return found


def test_every_pattern_takes_work_in_proportion_to_its_input() -> None:
    table = [lambda length, unit=unit: grown(unit, length) for unit in REPEATED]
    found = {
        used.place: worst
        for used in patterns()
        # One that is used by nobody in sight may be used in any way.
        if (worst := superlinear(used.pattern, used.methods or {"finditer"}, table))
    }
    assert found == {}
    # The walk finds them wherever they are.
    places = {used.place for used in patterns()}
    assert {
        "crawlproject.urls.tame._FORMATTING_TAG",  # a variable
        "crawlproject.urls.markup._RAW_ENDS",  # a dictionary of them
        "crawlproject.urls.canonical._SCHEME",  # a method of one
    } <= places


def test_no_pattern_is_out_of_sight_of_this_test() -> None:
    found = {
        (place, written)
        for place, written in hidden()
        if place.rpartition(".")[0] not in OWN_WORDS and HIDDEN.get(place, "\0") not in written
    }
    assert found == set()


@pytest.mark.parametrize(
    ("written", "method"),
    [
        # What froze a crawl: a tag that fails at its end, and begins again at the next.
        (rb"<(script|style)(?=[\s/>])(?:[\s/]*+[^\s/>][^\s/>=]*+)*+[\s/]*+>", "finditer"),
        (rb"<!--.*?-->", "search"),
        (rb"\s+$", "sub"),
        (r"(a+)+$", "match"),
        (r"(?:a|a)*b", "match"),
        (r"\s*x", "findall"),
        (r"a*a*a*b", "fullmatch"),
        (r"<\?xml[^>]*?encoding[^>]*+>", "match"),
        (r"[ab]*?a[ab]*?c", "match"),
        (r'"(?:\\.|[^"])*"', "search"),
    ],
)
def test_quadratic_pattern_is_caught(written: str | bytes, method: str) -> None:
    pattern: re.Pattern[Any] = re.compile(written, re.DOTALL)
    assert superlinear(pattern, {method})


def test_steps_are_counted_of_what_python_does() -> None:
    random = Random(18)
    for used in patterns():
        matcher = Matcher(used.pattern)
        is_bytes = isinstance(used.pattern.pattern, bytes)
        units = [make(1) for make in inputs_for(matcher, 20)] + ["a", " ", "<", ">", "=", "\n"]
        for _ in range(8):
            text = "".join(random.choices(units, k=6))
            data: Any = text.encode("utf-8", "surrogatepass") if is_bytes else text
            for how in ("finditer", "match", "fullmatch"):
                found = getattr(used.pattern, how)(data)
                expected = [m.span() for m in (found if how == "finditer" else [found]) if m]
                assert matcher.spans(data, how) == expected, (used.place, how, data)
