"""Whether a new version of a page says the same, by the signatures of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.pages.signatures import BACKENDS
from tests.crawling import crawl_site
from tests.pipelines.test_duplicates import edited, page, prose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

LONG = prose(7, 2000)


@pytest.mark.parametrize("backend", BACKENDS)
@deferred_f_from_coro_f
async def test_a_small_change_of_the_text_is_cosmetic(
    site: Callable[..., Site], tmp_path: Path, backend: str
) -> None:
    pages = {"/": page(LONG, "/large"), "/large": page(LONG[::-1])}
    server = site({"pages": pages})
    settings = {"JOBDIR": str(tmp_path / "job"), "DUPLICATES_BACKEND": backend}
    await crawl_site(server.url(), settings)
    pages = {"/": page(edited(LONG, 1), "/large"), "/large": page(edited(LONG[::-1], 300))}
    server.set({"pages": pages})
    crawled = await crawl_site(server.url(), settings, recrawl="all")
    rows = crawled.frontier.read().database.execute(
        "SELECT url, kind FROM changes JOIN urls USING (id) WHERE kind <> 'new'"
    )
    assert dict(rows.fetchall()) == {server.url("/"): "cosmetic", server.url("/large"): "changed"}
