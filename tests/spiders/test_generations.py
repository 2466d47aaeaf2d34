"""Three generations of a site: what changes, what is new, what is gone; by the server's log."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crawling import Crawled
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PROSE = " ".join(f"word{number}" for number in range(80))


def page(*links: str, text: str = PROSE, **more: Any) -> dict[str, Any]:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    title = more.pop("title", "Title")
    footer = more.pop("footer", "")
    body = (
        f"<html><head><title>{title}</title></head><body><main><p>{text}</p></main>"
        f"<nav>{anchors}</nav><footer>{footer}</footer></body></html>"
    )
    return {"body": body, **more}


def spec(generation: int) -> dict[str, Any]:
    """What the site is: / links to a few, of which some have validators and some have not."""
    pages: dict[str, Any] = {
        "/": page("/etag", "/dated", "/plain", "/footer", "/list", "/old", etag='"1"'),
        "/etag": page(etag='"e1"'),
        "/dated": page(modified="Sun, 06 Nov 1994 08:49:37 GMT"),
        "/plain": page(),
        "/footer": page(footer=f"Today is day {generation}."),
        "/list": page("/item/1", "/item/2", etag='"l1"'),
        "/item/1": page(),
        "/item/2": page("/item/deep"),
        "/item/deep": page(),
        "/old": {"redirect": "/new"},
        "/new": page(),
    }
    if generation >= 2:
        pages["/etag"] = page(etag='"e2"', text=f"{PROSE} and something else", title="Other")
        pages["/list"] = page("/item/1", "/item/3", etag='"l2"')
        pages["/item/3"] = page("/item/deep")
        pages["/old"] = {"redirect": "/newer"}
        pages["/newer"] = page()
    if generation >= 3:
        pages["/item/1"] = {"status": 410, "body": "gone"}
        del pages["/plain"]
        pages["/"] = page("/etag", "/dated", "/plain", "/footer", "/list", "/old", "/", etag='"3"')
    return {"pages": pages}


def requests(server: Site, since: int) -> dict[str, int | None]:
    return {
        entry["path"]: entry["status"]
        for entry in server.log()[since:]
        if entry["path"] != "/robots.txt"
    }


async def crawl(server: Site, place: dict[str, Any], output: Path, **arguments: str) -> Crawled:
    feeds = {str(output): {"format": "json", "overwrite": True}}
    return await crawl_site(server.url(), {**place, "FEEDS": feeds}, **arguments)


def comparable(output: Path) -> str:
    return re.sub(r'"started_at": "[^"]*"', "", output.read_text())


@pytest.mark.parametrize("engine", ["directory", "redis"])
@deferred_f_from_coro_f
async def test_three_generations(
    site: SiteFactory, tmp_path: Path, engine: str, redis_url: str
) -> None:
    server = site(spec(1))
    output = tmp_path / "s.json"
    place: dict[str, Any] = {"JOBDIR": str(tmp_path / "crawl")}
    if engine == "redis":
        place = {"REDIS_URL": redis_url}
    await crawl(server, place, output)
    for generation in (2, 3):
        since = len(server.log())
        server.set(spec(generation))
        await crawl(server, place, output, recrawl="all")
        asked = Counter(e["path"] for e in server.log()[since:])
        assert max(asked.values()) == 1, asked
        print(generation, requests(server, since))
        fresh = tmp_path / f"fresh{generation}.json"
        await crawl(server, {}, fresh)
        assert json.loads(output.read_text())["pages"] == json.loads(fresh.read_text())["pages"]
