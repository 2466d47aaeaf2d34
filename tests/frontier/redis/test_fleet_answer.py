"""Same site, same answer: for any number of workers, each of which writes all of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawling import scrapy
from tests.fleet import Fleet
from tests.spiders.test_same_answer import GOLDEN, SPEC, comparable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# With the fast path, and without.
pytestmark = pytest.mark.usefixtures("fastpath")


@pytest.mark.parametrize(
    ("golden", "options", "workers"),
    [
        ("whole", (), 1),
        ("whole", (), 2),
        ("whole", (), 3),
        ("depth-2", ("-a", "depth=2"), 2),
        ("max-pages-40", ("-a", "max_pages=40"), 3),
        ("depth-3-max-pages-70", ("-a", "depth=3", "-a", "max_pages=70"), 2),
    ],
)
def test_the_outputs_of_all_workers_are_the_golden_one(
    site: SiteFactory,
    tmp_path: Path,
    redis_url: str,
    golden: str,
    options: tuple[str, ...],
    workers: int,
) -> None:
    server = site(SPEC)
    with Fleet(tmp_path, redis_url, "-a", f"seed={server.url()}", *options) as fleet:
        started = fleet.start(workers)
        assert fleet.finish() == [0] * workers, fleet.errors()
    expected = (GOLDEN / f"{golden}.json").read_text()
    for worker in started:
        assert comparable(worker.output, server) == expected
    assert len(fleet.outputs()) == 1
    assert len(server.paths()) == len(set(server.paths()))


# What a crawl meets, all at once: two hosts, of which a seed brings the second one into scope;
# redirects, loops, a trap, pages that are alike, links that are not to be followed.
OTHER = "127.0.0.2"
TEXT = "the same words about the same thing, and enough of them to be compared by " * 8
MANY: dict[str, Any] = {
    "generated": {"kind": "mesh", "pages": 60, "links": 5, "seed": 5},
    "random_delay": [0, 0.02],
    "robots": "User-agent: *\nDisallow: /mesh/13\n",
    "pages": {
        "/": {"links": ["/mesh/1", "/mesh/2", "/calendar/2024/01/05/", "/nofollow", "/twin/1"]},
        "/second": {"redirect": f"http://{OTHER}:{{port}}/home"},
        "/third": {"links": ["/mesh/50", "/twin/2", "/deep"]},
        "/deep": {"links": ["/deep/a"]},
        "/deep/a": {"links": ["/deep/a/a"]},
        "/mesh/5": {"redirect": "/mesh/40"},
        "/mesh/7": {"redirect": "/mesh/8"},
        "/mesh/8": {"redirect": "/mesh/7"},
        "/mesh/11": {"status": 404},
        "/mesh/12": {"status": 500},
        "/twin/1": {"title": "Twin", "text": TEXT, "links": ["/twin/3"]},
        "/twin/2": {"title": "Twin", "text": TEXT, "links": ["/twin/3"]},
        "/twin/3": {"title": "Twin", "text": TEXT + " or so"},
        "/nofollow": {
            "body": '<a href="/mesh/3" rel="nofollow">3</a><a href="/hidden" rel="nofollow">h</a>'
        },
    },
    "trap": "calendar",
    "hosts": {
        OTHER: {
            "generated": {"kind": "wide", "pages": 12},
            "pages": {"/home": {"links": ["/", "http://127.0.0.1:{port}/mesh/9"]}},
        }
    },
}


def normalised(text: str) -> dict[str, Any]:
    """All but what no two crawls share."""
    text = re.sub(r'"(started_at|finished_at|fetched_at)": "[^"]+"', r'"\1": ""', text)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("options", [("-a", "depth=4"), ("-a", "max_pages=45")])
def test_whatever_a_site_has_a_fleet_says_what_one_machine_says(
    site: SiteFactory, tmp_path: Path, redis_url: str, options: tuple[str, ...]
) -> None:
    server = site(MANY, all_loopback=True)
    seeds = " ".join(server.url(path) for path in ("/", "/second", "/third"))
    common = ("-a", f"seed={seeds}", *options, "-s", "SCOPE_MAX_PAGES_PER_PREFIX=10")
    alone = scrapy(
        *("crawl", "site", "-O", "alone.json", "-s", "JOBDIR=job", *common),
        *("-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01"),
        cwd=tmp_path,
    )
    assert alone.returncode == 0, alone.stderr
    server.set({**MANY, "seed": 1})
    with Fleet(tmp_path, redis_url, *common) as fleet:
        fleet.start(3)
        assert fleet.finish() == [0, 0, 0], fleet.errors()
    (together,) = fleet.outputs()
    assert normalised(together) == normalised((tmp_path / "alone.json").read_text())
    hosts = {page["url"].split(":")[1] for page in json.loads(together)["pages"]}
    assert hosts == {"//127.0.0.1", f"//{OTHER}"}
