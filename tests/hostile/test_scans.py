"""Every function that takes a site's text is linear in it, by counted work."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import HtmlResponse, Request

from crawlproject.frontier.base import Lease
from crawlproject.pages.read import PageReader
from crawlproject.pages.structured import SYNTAXES
from crawlproject.sitemaps.read import read_sitemap
from crawlproject.urls import huge, tame
from crawlproject.urls.canonical import canonicalize
from crawlproject.urls.links import FastLinkExtractor
from tests.counting import CountedBytes, CountedStr, counted
from tests.hostile.inputs import ELEMENTS, REPEATED, grown
from tests.hostile.patterns import modules

if TYPE_CHECKING:
    from collections.abc import Callable

# Characters of the inputs: n and 4n.
SIZES = (512, 2048)
# … of pages. The steps up from an element are bounded, so there must be more of them than that.
PAGE_SIZES = (4_096, 16_384)
# Work per character that needs no further look.
FEW = 12
# Four times the input takes a linear function four times the work, a quadratic one sixteen times.
MOST_GROWTH = 8

# Packages and modules whose functions see a site's bytes.
SEEING = (
    *("urls", "scope", "sitemaps", "recrawl", "politeness", "render", "pages", "exports", "report"),
    *("moments", "records", "monitoring"),
)
TEXTS = {
    "str": CountedStr,
    "str | None": CountedStr,
    "bytes": CountedBytes,
    "bytes | None": CountedBytes,
}
# Functions and modules in them that take other texts, and which.
OTHER_WORDS = {
    "exports.formats": "names of formats and files",
    "exports.item_feeds": "names of classes",
    "exports.outputs": "the user's paths",
    "exports.spill": "what it has packed itself",
    "monitoring.feeds": "names of files",
    "monitoring.metrics_site": "names of metrics",
    "monitoring.snapshot": "its own file",
    "monitoring.streams.is_stdout": "the user's paths",
    "report.assets": "its own scripts",
    "report.diff": "words of the report",
    "report.packing": "the report itself",
    "records.json_encoder": "names of encodings",
    "urls.links._checked_css": "a developer's selector",
    "urls.markup._run": "a limit",
    "urls.markup.any_case": "names in the code",
    "urls.nesting._names": "names in the code",
}


@pytest.fixture(autouse=True)
def no_page_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run on every page what otherwise runs on large pages only."""
    for name in ("_FEW_TAGS", "_LONG", "_FEW_ATTRIBUTES", "_FEW_NAMES", "_FEW_STEPS"):
        monkeypatch.setattr(tame, name, 0)
    monkeypatch.setattr(huge, "_LARGE", 0)


def functions() -> dict[str, tuple[Callable[..., Any], list[type]]]:
    """All functions of the package whose required arguments are texts."""
    found: dict[str, tuple[Callable[..., Any], list[type]]] = {}
    for name, module in modules().items():
        short = name.removeprefix("crawlproject.")
        for attribute, value in vars(module).items():
            function = inspect.unwrap(value) if callable(value) else None
            place = f"{short}.{attribute}"
            if (
                not inspect.isfunction(function)
                or function.__module__ != name
                or not short.startswith(SEEING)
                or place.startswith(tuple(OTHER_WORDS))
            ):
                continue
            needed = [
                str(parameter.annotation)
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty
            ]
            if needed and TEXTS.keys() >= set(needed):
                found[place] = function, [TEXTS[annotation] for annotation in needed]
    return found


def work_of(function: Callable[..., Any], kinds: list[type], text: str) -> int:
    """The work of one call. Errors are fine."""
    data = text.encode("utf-8", "surrogatepass")
    texts = [kind(text) if kind is CountedStr else kind(data) for kind in kinds]

    def call() -> None:
        with suppress(Exception):
            result = function(*texts)
            if isinstance(result, Iterator):
                list(islice(result, 100_000))

    return counted(call)


def superlinear(
    work: Callable[[str], int], units: tuple[str, ...] = REPEATED, sizes: tuple[int, int] = SIZES
) -> list[str]:
    found = []
    for unit in units:
        text = grown(unit, sizes[1])
        most = work(text)
        if most > FEW * len(text):
            least = work(grown(unit, sizes[0]))
            # Again: the first call may have built tables.
            if most > MOST_GROWTH * least and (most := work(text)) > MOST_GROWTH * least:
                found.append(f"{unit!r}… takes {least}, then {most}")
    return found


def test_every_function_takes_work_in_proportion_to_its_text() -> None:
    found = {}
    called = functions()
    for place, (function, kinds) in called.items():
        if worst := superlinear(lambda text, f=function, k=kinds: work_of(f, k, text)):  # type: ignore[misc]
            found[place] = worst
    assert found == {}
    assert {"urls.tame.tame", "politeness.excerpt.excerpt", "pages.lenient_json.documents"} <= set(
        called
    )


def read_page(text: str) -> int:
    body = text.encode("utf-8", "surrogatepass")
    response = HtmlResponse("http://a.example/", body=body, request=Request("http://a.example/"))
    links = FastLinkExtractor()
    reader = PageReader(canonicalize, structured=SYNTAXES, keeps_text=True)
    lease = Lease("http://a.example/", "http://a.example/", "a.example", 0, None)
    return counted(lambda: reader.read(response, lease, list(links.addresses(response))))


def test_elements_in_elements_take_work_in_proportion_to_their_number() -> None:
    assert superlinear(read_page, ELEMENTS, PAGE_SIZES) == []


def read_map(text: str) -> int:
    body = text.encode("utf-8", "surrogatepass")
    return counted(
        lambda: read_sitemap(
            body,
            "http://a.example/",
            canonicalize=canonicalize,
            most_urls=50_000,
            most_bytes=1_000_000,
        )
    )


@pytest.mark.parametrize(
    "before", ["", "<body><p>x", "<main itemscope typeof=x>", "<script type=ld+json>"]
)
def test_page_takes_work_in_proportion_to_its_size(before: str) -> None:
    assert superlinear(lambda text: read_page(before + text)) == []


@pytest.mark.parametrize(
    "before", ["", "<urlset><url><loc>", "<urlset>", "<?xml version='1.0'?><rss><item>"]
)
def test_sitemap_takes_work_in_proportion_to_its_size(before: str) -> None:
    assert superlinear(lambda text: read_map(before + text)) == []


def _cut_off_the_front(text: str) -> int:
    count = 0
    while text:
        text = text[1:]
        count += 1
    return count


def _found_again_and_again(text: bytes) -> int:
    return sum(text.find(b"\1", place) for place in range(len(text)))


def _each_with_each(text: str) -> int:
    return sum(one == other for one in text for other in text)


def _joined(text: str) -> str:
    found = text[:0]
    for character in text:
        found = found + character
    return found


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (_cut_off_the_front, CountedStr),
        (_found_again_and_again, CountedBytes),
        (_each_with_each, CountedStr),
        (_joined, CountedStr),
    ],
)
def test_quadratic_function_is_caught(function: Callable[..., Any], kind: type) -> None:
    small, large = (work_of(function, [kind], "a" * size) for size in (128, 512))
    assert large > FEW * 512
    assert large > MOST_GROWTH * small
