"""A static site to crawl: the same bytes on every machine, for the same number of pages.

Each page has about 25 KB of HTML and 60 links: 20 of navigation that all pages share, 30 in
cards and 8 in the text, to other pages at random, and 2 to other sites. A tree hides among
the random links, so that every page can be reached: page n is linked to by page (n - 20) / 4.

Files beside the pages: ``robots.txt``, and ``alone.html``, which links to nothing and which
nothing links to: a crawl of it costs what starting and stopping a crawler costs.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from bench import prose
from bench.html import Card, page_html

if TYPE_CHECKING:
    from pathlib import Path

PAGE_BYTES = 25_000
NAVIGATION_LINKS = 20
CARD_LINKS = 30
TEXT_LINKS = 8
EXTERNAL_LINKS = 2
LINKS = NAVIGATION_LINKS + CARD_LINKS + TEXT_LINKS + EXTERNAL_LINKS

ALONE = "alone.html"
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /search\n"

_SECTIONS = (  # noqa: SIM905  (easier to read than a list of strings)
    "archive birds climate coast events farming forests gardens geology guides harbours history "
    "islands maps mountains news rivers villages walks"
).split()
_CHILDREN = 4
_PARAGRAPHS = 400


class Site:
    """What is on every page. Nothing is kept of a page: a site of any size fits in memory."""

    def __init__(self, pages: int) -> None:
        if pages < 1:
            raise ValueError(f"a site has 1 page or more, not {pages}")
        random = Random(pages)  # noqa: S311  (to be the same each time is the point)
        self.pages = pages
        self.titles = [prose.title(random) for _ in range(pages)]
        self.paths = [_path(number, title) for number, title in enumerate(self.titles)]
        # Making up words for every page would take longer than to crawl them.
        self._paragraphs = [prose.paragraph(random) for _ in range(_PARAGRAPHS)]
        self._navigation = self._fill(list(range(min(NAVIGATION_LINKS, pages))), NAVIGATION_LINKS)

    def html(self, number: int) -> str:
        random = Random(number)  # noqa: S311  (as above)
        targets = self._targets(number, random)
        cards, text = targets[:CARD_LINKS], targets[CARD_LINKS:]
        return page_html(
            path=self.paths[number],
            title=self.titles[number],
            navigation=[(self.paths[target], self.titles[target]) for target in self._navigation],
            cards=[
                Card(self.paths[target], self.titles[target], prose.sentence(random))
                for target in cards
            ],
            text_links=[(self.paths[target], self.titles[target]) for target in text],
            external=[
                f"https://www.{random.choice(_SECTIONS)}-{site}.example/{random.randrange(1000)}/"
                for site in range(EXTERNAL_LINKS)
            ],
            paragraphs=random.sample(self._paragraphs, k=60),
            size=PAGE_BYTES + random.randint(-2_000, 2_000),
        )

    def write(self, root: Path) -> None:
        for section in {path.rpartition("/")[0] for path in self.paths}:
            (root / section.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(self.paths):
            name = f"{path}index.html" if path.endswith("/") else path
            (root / name.lstrip("/")).write_text(self.html(number), encoding="utf-8")
        (root / "robots.txt").write_text(ROBOTS, encoding="utf-8")
        (root / ALONE).write_text("<!DOCTYPE html><title>Alone</title><p>Here.", encoding="utf-8")

    def _targets(self, number: int, random: Random) -> list[int]:
        """The pages that this one links to besides the navigation, itself not among them."""
        first = NAVIGATION_LINKS + _CHILDREN * number
        targets = [child for child in range(first, first + _CHILDREN) if child < self.pages]
        chosen = {*targets, *range(NAVIGATION_LINKS), number}
        others = self.pages - len({page for page in chosen if page < self.pages})
        while len(targets) < CARD_LINKS + TEXT_LINKS and others:
            target = random.randrange(self.pages)
            if target not in chosen:
                chosen.add(target)
                targets.append(target)
                others -= 1
        targets = self._fill(targets, CARD_LINKS + TEXT_LINKS)
        random.shuffle(targets)
        return targets

    def _fill(self, targets: list[int], count: int) -> list[int]:
        """A small site has fewer pages than a page has links: then some are linked to twice."""
        pool = targets or [0]
        return [pool[place % len(pool)] for place in range(count)]


def _path(number: int, title: str) -> str:
    if number == 0:
        return "/"
    section = _SECTIONS[number % len(_SECTIONS)]
    if number <= len(_SECTIONS):
        return f"/{section}/"
    return f"/{section}/{'-'.join(title.lower().split())}-{number}.html"
