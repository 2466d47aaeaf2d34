"""Sites of any size, the same in every run.* Only the standard library.

    {"kind": "tree", "fan": 3, "depth": 4}          / and its descendants
    {"kind": "chain", "pages": 100}                 each links to the next
    {"kind": "wide", "pages": 20000}                / links to so many others
    {"kind": "mesh", "pages": 500, "links": 20, "seed": 1}
                                                    pseudo-random links, all within reach

Page 0 is ``/``, page n is ``/KIND/n``. Every page but page 0 links back to ``/``.
``"words": n`` (60) is the length of each page's text, which differs from page to page.
"""

from __future__ import annotations

from random import Random
from typing import Any

VOCABULARY = (
    "amber anchor barley beacon birch bramble candle cedar chalk clover copper coral cotton "
    "cradle crystal dapple dawn delta drift dune ember fable fennel ferry flint garnet ginger "
    "granite harbour hazel heather hollow indigo island ivory jasper juniper kestrel lantern "
    "larch lavender linen lunar maple marble meadow mellow mica mirror nectar nettle oat ochre "
    "olive opal orchard otter paper pebble pepper pine plum pollen quartz quill rafter raven "
    "reed ripple river rowan rust saddle saffron sage sandal shale silver slate sparrow spruce "
    "starling stone tansy tawny thistle thyme timber topaz umber valley velvet violet walnut "
    "water wheat willow winter wren yarrow yonder zephyr"
)
WORDS = VOCABULARY.split()


class Generated:
    def __init__(self, settings: dict[str, Any]) -> None:
        self.kind: str = settings["kind"]
        self._fan = int(settings.get("fan", 3))
        self._links = int(settings.get("links", 10))
        self._seed = int(settings.get("seed", 0))
        self._words = int(settings.get("words", 60))
        if self.kind == "tree":
            depth = int(settings.get("depth", 3))
            self.pages = sum(self._fan**level for level in range(depth + 1))
        elif self.kind == "wide":
            self.pages = int(settings["pages"]) + 1
        elif self.kind in {"chain", "mesh"}:
            self.pages = int(settings["pages"])
        else:
            raise ValueError(f"no such kind of generated site: {self.kind!r}")

    def path(self, number: int) -> str:
        return f"/{self.kind}/{number}" if number else "/"

    def fields(self, target: str) -> dict[str, Any] | None:
        """The page at ``target``, or None where the site has none."""
        number = self._number(target)
        if number is None:
            return None
        chance = Random(self._seed * 1_000_003 + number)
        text = " ".join(chance.choices(WORDS, k=self._words))
        links = [self.path(other) for other in self._linked(number, chance)]
        if number:
            links.insert(0, "/")
        return {"title": f"{self.kind} {number}", "links": links, "text": text}

    def _number(self, target: str) -> int | None:
        if target == "/":
            return 0
        digits = target.removeprefix(f"/{self.kind}/")
        # One spelling a page: no leading zero, no other script's digits.
        if not (digits.isascii() and digits.isdigit() and digits[0] != "0" and len(digits) < 12):
            return None
        return int(digits) if int(digits) < self.pages else None

    def _linked(self, number: int, chance: Random) -> list[int]:
        if self.kind == "wide":
            return [] if number else list(range(1, self.pages))
        if self.kind == "chain":
            return [number + 1] if number + 1 < self.pages else []
        fan = self._fan if self.kind == "tree" else 2
        children = [number * fan + n for n in range(1, fan + 1) if number * fan + n < self.pages]
        if self.kind == "tree":
            return children
        # The children make sure that every page can be reached.
        return children + [chance.randrange(self.pages) for _ in range(self._links)]
