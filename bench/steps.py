"""What each step from an answer to a page costs, and each pipeline: CPU a page, in this process."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import HtmlResponse

from crawlproject.frontier.base import Lease
from crawlproject.pages.content import ContentReader
from crawlproject.pages.read import answer_of
from crawlproject.pages.structured import SYNTAXES, structured_data
from crawlproject.pages.text import main_text
from crawlproject.pages.words import words_of
from crawlproject.pipelines.blobs import Blobs, Folder
from crawlproject.pipelines.duplicates import Duplicates
from crawlproject.pipelines.parameters import SignatureParameters
from crawlproject.urls.canonical import canonicalize
from crawlproject.urls.document import survey
from crawlproject.urls.links import FastLinkExtractor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.site import Site
    from crawlproject.items import Content

_DUPLICATES = "pipeline: duplicates"
_URL = "http://site.example/section/"


class _Clock:
    """The processor's time of each step, added up over the pages of a round."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, step: str, call: Callable[..., Any], *arguments: Any) -> Any:
        started = time.thread_time()
        result = call(*arguments)
        self.seconds[step] = self.seconds.get(step, 0.0) + time.thread_time() - started
        return result


def step_costs(site: Site, *, pages: int = 100, rounds: int = 7) -> dict[str, float]:
    """Milliseconds a page, by step; the least of several rounds."""
    bodies = [site.html(number % site.pages).encode() for number in range(pages)]
    least: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for turn in range(rounds):
            clock = _Clock()
            _round(bodies, clock, Path(folder) / str(turn))
            for step, seconds in clock.seconds.items():
                least[step] = min(least.get(step, seconds), seconds)
    return {step: 1000 * seconds / pages for step, seconds in least.items()}


def _round(bodies: Sequence[bytes], clock: _Clock, folder: Path) -> None:
    extractor, reader = FastLinkExtractor(), ContentReader(canonicalize)
    duplicates, blobs = Duplicates(SignatureParameters()), Blobs(Folder(folder))
    lease = Lease(_URL, _URL, "site.example", 0, None)
    contents: list[Content] = []
    for body in bodies:
        response = HtmlResponse(_URL, body=body, encoding="utf-8", request=Request(_URL))
        page = answer_of(response, lease)
        clock.run("the tree", survey, response)
        clock.run("links", extractor.addresses, response)
        clock.run("content fields", reader.read, response, page)
        clock.run("structured data", structured_data, response, SYNTAXES)
        text = clock.run("main text", main_text, response)
        clock.run("words", words_of, text.text)
        page.own_text = text.own
        clock.run(_DUPLICATES, duplicates.process_item, page)
        assert page.content is not None
        contents.append(page.content)
        clock.run("pipeline: store, if on", blobs.put, page.content_hash or "", body)
    # As they are kept: one after the other.
    for content in contents:
        if callable(content.signature):
            clock.run(_DUPLICATES, content.signature)
