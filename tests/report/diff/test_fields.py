from __future__ import annotations

import pytest

from crawlproject.errors import BadArgument
from crawlproject.report.diff.fields import KINDS, chosen, ignored


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ([], set()),
        (["title"], {"title"}),
        (["title,depth", "links"], {"title", "depth", "links"}),
        ([" title , ", ""], {"title"}),
        (["status"], {"status_code"}),
        (["redirects"], {"redirects_to", "redirected_from"}),
        (["content_hash", "cosmetic"], {"content", "cosmetic"}),
    ],
)
def test_fields_are_ignored_by_name_and_as_people_say_it(
    words: list[str], fields: set[str]
) -> None:
    assert ignored(words) == fields


def test_an_unknown_field_is_told_with_those_that_there_are() -> None:
    with pytest.raises(
        BadArgument, match="--ignore: 'titel' is unknown; did you mean title\\? The"
    ):
        ignored(["depth,titel"])
    with pytest.raises(
        BadArgument, match=r"'xyz' is unknown; there are status_code, .*, cosmetic$"
    ):
        ignored(["xyz"])


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ([], set(KINDS)),
        (["broke"], {"broke"}),
        (["dead", "lost"], {"dead", "lost"}),
        (["added"], {"added", "dead"}),
        (["moved"], {"moved", "lost"}),
        # What is lost is gone from its URL.
        (["removed"], {"removed", "lost"}),
        # What broke has changed.
        (["changed"], {"changed", "broke", "mended"}),
    ],
)
def test_kinds_are_chosen(words: list[str], kinds: set[str]) -> None:
    assert chosen(words) == kinds


def test_an_unknown_kind_is_told() -> None:
    with pytest.raises(BadArgument, match="--only: 'new' is unknown; there are added, removed, "):
        chosen(["new"])
