"""From the body of a request to arguments of the spider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.errors import BadArgument
from crawlproject.service.openapi import document
from crawlproject.service.orders import EXTRA, OPTIONS, Desk
from crawlproject.spiders.arguments import ARGUMENTS
from tests.crawling import project_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(project_settings(), allow_internal=False, store_bodies=True)


def test_every_argument_can_be_ordered_but_for_files_of_the_server() -> None:
    assert OPTIONS.keys() == ARGUMENTS.keys() - {"seed", "seeds_file"}
    schemas = document()["components"]["schemas"]
    for name, seed in (("CrawlOrder", "url"), ("SeedsOrder", "urls")):
        assert schemas[name]["properties"].keys() == {seed, *OPTIONS, *EXTRA}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"depth": 3}, {"depth": "3"}),
        ({"depth": 3.0}, {"depth": "3"}),
        ({"depth": "none"}, {"depth": "none"}),
        ({"max_pages": 10}, {"max_pages": "10"}),
        ({"timeout": 90}, {"timeout": "90.000000"}),
        ({"timeout": "2m"}, {"timeout": "2m"}),
        ({"allow": ["a.com", "b.org"]}, {"allow": "a.com,b.org"}),
        ({"include": "/news/"}, {"include": '["/news/"]'}),
        ({"exclude": ["a", '"b"']}, {"exclude": '["a", "\\"b\\""]'}),
        ({"delay": 0.5}, {"delay": "0.5"}),
        ({"rate": 2}, {"rate": "2"}),
        ({"respect_nofollow": False}, {"respect_nofollow": "no"}),
        ({"user_agent": "acme/1 (+https://acme.example)"}, None),
        ({"scope": "domain"}, {"scope": "domain"}),
        ({"render": "never"}, {"render": "never"}),
    ],
)
def test_an_option_becomes_an_argument(
    desk: Desk, options: dict[str, Any], arguments: dict[str, str] | None
) -> None:
    order = desk.order({"url": "HTTPS://Example.com/a/../b#c", **options})
    assert order.seeds == ["https://example.com/b"]
    assert order.arguments == (options if arguments is None else arguments)


@pytest.mark.parametrize(
    "options",
    [
        {"allow": "a.com"},
        {"allow": ["a.com,b.com"]},
        {"allow": ["a.com b.com"]},
        {"allow": []},
        {"include": "x" * 501},
        {"include": ["x"] * 101},
        {"include": [""]},
        {"max_pages": 1.5},
        {"max_pages": "10"},
        {"rate": True},
        {"delay": "1"},
        {"user_agent": 7},
        {"user_agent": ""},
        {"respect_nofollow": "no"},
        {"timeout": 0},
        {"outputs": ["json", "json"]},
        {"outputs": ["warc.gz"], "store_bodies": False},
    ],
    ids=str,
)
def test_another_kind_of_value_is_refused(desk: Desk, options: dict[str, Any]) -> None:
    with pytest.raises(BadArgument) as caught:
        desk.order({"url": "https://example.com", **options})
    assert caught.value.name in {*options, "store_bodies"}


def test_a_format_that_nothing_here_can_write_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = {"url": "https://example.com", "outputs": ["json", "parquet"]}
    assert desk.order(order).formats == ["json", "parquet"]
    monkeypatch.setattr("crawlproject.exports.pages_parquet.find_spec", lambda name: None)
    with pytest.raises(BadArgument, match=r"^outputs: parquet: pyarrow is not installed: "):
        desk.order(order)


def test_seeds_that_a_command_line_could_not_tell_apart_are_in_a_file(
    desk: Desk, tmp_path: Path
) -> None:
    few = desk.order({"urls": ["https://a.com/", "https://b.com/"]})
    message = few.message(tmp_path, tmp_path / "seeds.txt")
    assert message["seed"] == "https://a.com/ https://b.com/"
    assert not (tmp_path / "seeds.txt").exists()
    for urls in (
        ["https://a.com/?to=x,https://b.com/"],
        [f"https://a.com/{number}" for number in range(2000)],
    ):
        message = desk.order({"urls": urls}).message(tmp_path, tmp_path / "seeds.txt")
        assert "seed" not in message
        assert message["seeds_file"] == str(tmp_path / "seeds.txt")
        # As the spider reads them.
        assert desk.check_arguments({"seeds_file": message["seeds_file"]}) == urls
