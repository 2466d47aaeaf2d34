"""Every regular expression of the package is linear in its input, by counted steps."""

from __future__ import annotations

import re
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile.inputs import REPEATED, grown
from tests.hostile.near_misses import inputs_for
from tests.hostile.patterns import hidden, patterns
from tests.matching import Matcher, TooManySteps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Characters of the inputs: n, 2n, 4n.
SIZES = (96, 192, 384)
# Steps per character that need no further look.
FEW = 6
# Four times the input takes a linear pattern four times the steps, a quadratic one sixteen times.
MOST_GROWTH = 8
# Exponential patterns are stopped here.
MOST_STEPS = 100_000
# Inputs that are made from each pattern itself.
OWN_INPUTS = 50

# Patterns that are compiled inside a function, and why.
HIDDEN = {
    # The user's own patterns, which are bounded or matched by RE2 (``urls/patterns.py``).
    "crawlproject.urls.patterns.search_of": "pattern",
    "crawlproject.urls.patterns.linear": "pattern",
    # The user's own secrets, as alternatives of literals.
    "crawlproject.redaction.learn": "_tolerant",
    # One class, and a look ahead that it can't match: for each delimiter of a file.
    "crawlproject.exports.cells._inner_formula": "separators",
    # Its results are module variables, so they are tested.
    "crawlproject.urls.markup._run": "most_attributes",
}
# Modules whose patterns never see a site's bytes, and what they see.
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
    """The methods and inputs for which the steps grow faster than the input."""
    matcher = Matcher(pattern, MOST_STEPS)
    is_bytes = isinstance(pattern.pattern, bytes)
    own = inputs_for(matcher, OWN_INPUTS)
    found = []
    for how in sorted(methods):
        for make in (*own, *inputs):
            text = make(SIZES[-1])
            most = work(matcher, text, how, is_bytes)
            if most > FEW * len(text):
                steps = [work(matcher, make(size), how, is_bytes) for size in SIZES[:-1]]
                if most > MOST_STEPS or most > MOST_GROWTH * steps[0]:
                    found.append(f"{how} on {make(20)!r}… takes {[*steps, most]} steps")
    return found


def test_every_pattern_takes_work_in_proportion_to_its_input() -> None:
    table = [lambda length, unit=unit: grown(unit, length) for unit in REPEATED]
    found = {
        used.place: worst
        for used in patterns()
        # If no use is found, assume the strictest.
        if (worst := superlinear(used.pattern, used.methods or {"finditer"}, table))
    }
    assert found == {}
    # The walk finds patterns in each kind of place.
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
        # The one that froze a crawl: it fails at the end of a tag and starts again at the next.
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
        for _ in range(5):
            text = "".join(random.choices(units, k=6))
            data: Any = text.encode("utf-8", "surrogatepass") if is_bytes else text
            for how in ("finditer", "match", "fullmatch"):
                found = getattr(used.pattern, how)(data)
                expected = [m.span() for m in (found if how == "finditer" else [found]) if m]
                assert matcher.spans(data, how) == expected, (used.place, how, data)
