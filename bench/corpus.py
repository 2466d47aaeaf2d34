"""Pages to find near-duplicates among, and how much their texts truly have in common. *Pure.*

The pages come in families: a text, and versions of it. They are the same each time. What is true
is told by the texts as they were written, without what is around them on their pages.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from bench import tongues
from bench.templates import TEMPLATES, Boilerplate, Page, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.tongues import Tongue

    Blocks = list[list[str]]

SHINGLE = 3
LIST = "a list"
# Of a text that can be compared.
MIN_TOKENS = 30
# Parts of a text that are edited, here and there.
EDITS = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)
# … and in one place.
REWRITTEN = (0.01, 0.05, 0.2)
_TONGUES = (
    *(tongues.ENGLISH, tongues.ENGLISH, tongues.ENGLISH, tongues.INVENTED),
    *(tongues.CHINESE, tongues.JAPANESE, tongues.THAI),
)


class Document(NamedTuple):
    family: int
    # What was done to it.
    kind: str
    shingles: frozenset[tuple[str, ...]]
    tokens: int
    html: str


def truth(one: Document, other: Document) -> float:
    """How much of two texts is the same. Those that are too short are like no other."""
    if min(one.tokens, other.tokens) < MIN_TOKENS:
        return 0.0
    both = len(one.shingles & other.shingles)
    return both / (len(one.shingles) + len(other.shingles) - both)


def corpus(families: int, seed: int = 1) -> list[Document]:
    """In the order of a crawl: no family stays together."""
    random = Random(seed)  # noqa: S311  (to be the same each time is the point)
    press = Press(random)
    documents = [
        document for family in range(families) for document in _family(family, press, random)
    ]
    random.shuffle(documents)
    return documents


class Press:
    """Puts a text onto a page of one of the sites."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._sites: dict[tuple[int, str], Boilerplate] = {}

    def page(self, family: int, kind: str, tongue: Tongue, blocks: Blocks, site: int) -> Document:
        title, *others = blocks
        text = Text(
            tongue.sentences(title, len(title))[0],
            [tongue.sentences(block) for block in others],
            is_list=kind.startswith(LIST),
        )
        tokens = [token for block in blocks for token in block]
        shingles = frozenset(
            tuple(tokens[start : start + SHINGLE]) for start in range(len(tokens) - SHINGLE + 1)
        )
        site %= len(TEMPLATES)
        # A site is in one language.
        boilerplate = self._sites.get((site, tongue.name))
        if boilerplate is None:
            boilerplate = Boilerplate.made_up(tongue, self._random)
            self._sites[site, tongue.name] = boilerplate
        html = TEMPLATES[site](Page(boilerplate, text, tongue, self._random))
        return Document(family, kind, shingles, len(tokens), html)


def _family(family: int, press: Press, random: Random) -> Iterator[Document]:
    tongue = _TONGUES[family % len(_TONGUES)]
    # All sites have texts in all languages.
    site = family // len(_TONGUES) + family
    text = _text(tongue, random)

    def page(kind: str, blocks: Blocks, at: int = site, by: Tongue = tongue) -> Document:
        return press.page(family, kind, by, blocks, at)

    yield page("original", text)
    yield page("another date and session", text)
    for part in EDITS:
        yield page(f"{part:.1%} edited", _edited(text, part, tongue, random))
    for part in REWRITTEN:
        yield page(f"{part:.1%} in one place", _rewritten(text, part, tongue, random))
    yield page("re-ordered", _reordered(text, random))
    for other in range(1, len(TEMPLATES)):
        yield page("another template", text, site + other)
        edited = _edited(text, 0.005, tongue, random)
        yield page("another template, 0.5% edited", edited, site + other)
    into = tongues.INVENTED if tongue is not tongues.INVENTED else tongues.ENGLISH
    yield page("translated", [tongue.translated(block, into) for block in text], by=into)
    yield from _lists(page, site, tongue, random)
    yield from _short(page, site, tongue, random)


def _lists(
    page: Callable[..., Document], site: int, tongue: Tongue, random: Random
) -> Iterator[Document]:
    """Pages that list others: with a summary of each, and without."""
    factor = 1 if tongue.spaced else 2

    def item(words: int = 26) -> list[str]:
        return tongue.tokens(random, factor * words)

    title, items = item(5), [item() for _ in range(25)]
    yield page(LIST, [title, *items])
    yield page(f"{LIST}, another date and session", [title, *items])
    yield page(f"{LIST}, another template", [title, *items], site + 1)
    yield page(f"{LIST}, one more", [title, item(), *items[:-1]])
    yield page(f"{LIST}, the next ones", [title, *(item() for _ in items)])
    yield page(f"{LIST} of links alone", [title, *(item(5) for _ in items)])


def _short(
    page: Callable[..., Document], site: int, tongue: Tongue, random: Random
) -> Iterator[Document]:
    """Too little to be compared, and just enough."""
    for size in (6, 20, 34, 70):
        title, block = tongue.tokens(random, 4), tongue.tokens(random, size)
        yield page(f"{4 + size} words", [title, block])
        yield page(f"{4 + size} words", [title, block])
        yield page(f"{4 + size} words, another template", [title, block], site + 1)
        block = [*block]
        block[size // 2] = "other" if tongue.spaced else "龠"
        yield page(f"{4 + size} words, one edited", [title, block])


def _text(tongue: Tongue, random: Random) -> Blocks:
    """A title and some blocks: 300 to 900 words, or twice as many characters."""
    factor = 1 if tongue.spaced else 2
    blocks = [tongue.tokens(random, factor * random.randint(3, 7))]
    left = factor * random.randint(300, 900)
    while left > 0:
        size = min(left, factor * random.randint(25, 110))
        blocks.append(tongue.tokens(random, size))
        left -= size
    return blocks


def _edited(text: Blocks, part: float, tongue: Tongue, random: Random) -> Blocks:
    """Some words are others, some are gone, some are new."""
    blocks = [[*block] for block in text]
    places = [(number, place) for number, block in enumerate(blocks) for place in range(len(block))]
    chosen = random.sample(places, max(1, round(part * len(places))))
    # From the end on: places before stay what they are.
    for number, place in sorted(chosen, reverse=True):
        what = random.choice(("replace", "insert", "delete"))
        new = [] if what == "delete" else tongue.tokens(random, 1)
        if len(blocks[number]) > 1 or new:
            blocks[number][place : place + (what != "insert")] = new
    return blocks


def _rewritten(text: Blocks, part: float, tongue: Tongue, random: Random) -> Blocks:
    """Words in a row are others."""
    blocks = [[*block] for block in text]
    left = max(1, round(part * sum(map(len, blocks))))
    for block in blocks[random.randrange(len(blocks)) :] + blocks:
        size = min(left, len(block))
        block[:size] = tongue.tokens(random, size)
        left -= size
    return blocks


def _reordered(text: Blocks, random: Random) -> Blocks:
    title, *blocks = text
    random.shuffle(blocks)
    return [title, *blocks]
