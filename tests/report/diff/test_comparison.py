"""What has changed between two crawls, and the laws that hold whatever it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pipelines.parameters import SignatureParameters
from crawlproject.report.diff.comparison import compare
from crawlproject.report.diff.fields import chosen
from crawlproject.report.diff.sides import OutOfOrder
from tests.chance import times
from tests.report.diff.two_sides import SITE, Pages, Record, Told, broken, differences, page

TEXT = [f"word{number}" for number in range(500)]
REDIRECTS = {"redirects_to", "redirected_from"}


def url(path: str) -> str:
    return f"{SITE}{path}"


def test_every_url_is_added_removed_changed_or_the_same() -> None:
    before = [page("/"), page("/a"), page("/b", title="B"), page("/c")]
    after = [page("/"), page("/b", title="Other"), page("/c"), page("/d")]
    told = differences(before, after)
    assert (told.added, told.removed, told.same) == (["/d"], ["/a"], 2)
    assert told.changed == {"/b": {"title": {"before": "B", "after": "Other"}}}
    assert told.counts == {
        "added": 1,
        "removed": 1,
        "changed": 1,
        "moved": 0,
        "broke": 0,
        "mended": 0,
        "dead": 0,
        "lost": 0,
    }


def test_pages_that_broke_and_that_were_mended_are_told_apart() -> None:
    told = differences([page("/a"), broken("/b")], [broken("/a"), page("/b")])
    assert told.verdicts == {"/a": "broke", "/b": "mended"}
    assert told.counts["changed"] == 2


DEPLOYMENT = chosen(["broke,dead,removed"])


def test_an_added_page_that_is_broken_is_dead() -> None:
    after = [page("/"), broken("/dead"), page("/fine")]
    told = differences([page("/")], after)
    assert (told.added, told.dead) == (["/dead", "/fine"], ["/dead"])
    assert (told.counts["added"], told.counts["dead"]) == (2, 1)
    told = differences([page("/")], after, only=DEPLOYMENT)
    assert (told.is_different, told.added, told.left_aside) == (True, ["/dead"], 1)
    # What is gone was never new.
    assert differences(after, [page("/")]).counts["dead"] == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"status_code": None, "error": "robots"},
        {"status_code": 403, "error": "unexpected status 403"},
        {"status_code": None, "error": "our own gatekeeper"},
    ],
)
def test_an_added_page_that_is_not_for_us_is_not_dead(fields: Record) -> None:
    told = differences([page("/")], [page("/"), page("/closed", **fields)], only=DEPLOYMENT)
    assert (told.is_different, told.left_aside) == (False, 1)


# --- moved


def same(path: str, **fields: Any) -> Record:
    return page(path, content_hash="the same", **fields)


def test_a_page_with_the_same_content_elsewhere_has_moved() -> None:
    told = differences([same("/old"), page("/a")], [page("/a"), same("/new")])
    assert told.moved == [("/old", "/new", False)]
    assert (told.added, told.removed, told.changed) == ([], [], {})
    assert (told.counts["moved"], told.counts["lost"]) == (1, 1)


def test_a_page_that_has_moved_without_a_redirect_is_lost_to_who_asks_for_what_was_removed() -> (
    None
):
    before = [same("/old"), page("/other", content_hash="other")]
    after = [
        same("/new"),
        page("/newer", content_hash="other", redirected_from=[url("/other")]),
    ]
    after.sort(key=lambda one: one["url"])
    told = differences(before, after, only=chosen(["removed"]))
    assert (told.is_different, told.moved) == (True, [("/old", "/new", False)])
    assert (told.counts["removed"], told.counts["lost"], told.counts["moved"]) == (0, 1, 0)
    assert told.left_aside == 1
    told = differences(before, after)
    assert [pair[2] for pair in told.moved] == [False, True]
    assert (told.counts["moved"], told.counts["lost"]) == (2, 1)


def test_of_several_with_the_same_content_only_pairs_have_moved() -> None:
    before = [same(f"/old/{number}") for number in range(3)]
    after = [same("/new/1"), same("/new/0")]
    told = differences(before, sorted(after, key=lambda one: one["url"]))
    assert told.moved == [("/old/0", "/new/0", False), ("/old/1", "/new/1", False)]
    assert (told.added, told.removed) == ([], ["/old/2"])


@pytest.mark.parametrize(
    "fields",
    [
        {"bytes": 255},
        {"bytes": 0},
        {"error": "timeout"},
        {"content_hash": None},
    ],
)
def test_pages_that_say_nothing_of_themselves_have_not_moved(fields: Record) -> None:
    told = differences([same("/old") | fields], [same("/new") | fields])
    assert (told.moved, told.added, told.removed) == ([], ["/new"], ["/old"])


def test_a_page_that_is_still_there_has_not_moved() -> None:
    told = differences([same("/a")], [same("/a"), same("/copy")])
    assert (told.moved, told.added) == ([], ["/copy"])


# --- redirects


def test_a_page_that_redirects_now_is_changed_and_not_removed() -> None:
    before = [page("/new"), page("/old")]
    after = [page("/new", redirected_from=[url("/old")])]
    told = differences(before, after)
    assert told.changed == {
        "/new": {"redirected_from": {"before": [], "after": [url("/old")]}},
        "/old": {"redirects_to": {"before": None, "after": url("/new")}},
    }
    assert (told.removed, told.moved, told.same) == ([], [], 0)
    back = differences(after, before)
    assert back.changed["/old"] == {"redirects_to": {"before": url("/new"), "after": None}}
    assert back.added == []


def test_a_redirect_that_leads_elsewhere_is_told() -> None:
    before = [page("/a", redirected_from=[url("/old")]), page("/b")]
    after = [page("/a"), page("/b", redirected_from=[url("/old")])]
    told = differences(before, after)
    assert told.changed["/old"] == {"redirects_to": {"before": url("/a"), "after": url("/b")}}
    assert list(told.changed) == ["/a", "/b", "/old"]


def test_a_redirect_that_is_new_or_gone_is_told_by_its_target_alone() -> None:
    told = differences([page("/a", redirected_from=[url("/old")])], [page("/a")])
    assert list(told.changed) == ["/a"]


def test_ignored_redirects_are_none() -> None:
    before = [page("/new"), page("/old")]
    after = [page("/new", redirected_from=[url("/old")])]
    told = differences(before, after, REDIRECTS)
    # The page that is a redirect now is not the same.
    assert (told.is_different, told.same) == (False, 1)


GONE = {"before": None, "after": "unexpected status 404"}


@pytest.mark.parametrize("known", [[], [broken("/end")]])
def test_a_page_that_redirects_to_a_broken_one_broke(known: list[Record]) -> None:
    before = [page("/a"), *known]
    after = [broken("/end") | {"redirected_from": [url("/a")]}]
    told = differences(before, after)
    assert told.changed["/a"] == {
        "error": GONE,
        "redirects_to": {"before": None, "after": url("/end")},
    }
    assert (told.verdicts, told.counts["broke"]) == ({"/a": "broke"}, 1)
    assert differences(before, after, only={"broke"}).is_different
    assert differences(after, before).verdicts == {"/a": "mended"}
    # Where it leads may be ignored, but not that it is broken.
    assert differences(before, after, REDIRECTS).changed["/a"] == {"error": GONE}
    assert differences(before, after, {*REDIRECTS, "error"}).verdicts == {}


def test_a_redirect_that_leads_to_a_broken_page_now_broke() -> None:
    before = [page("/a", redirected_from=[url("/old")]), broken("/b")]
    after = [page("/a"), broken("/b") | {"redirected_from": [url("/old")]}]
    told = differences(before, after)
    assert told.verdicts == {"/old": "broke"}
    assert told.changed["/old"]["error"] == GONE


def test_a_broken_page_that_redirects_to_a_fine_one_is_mended() -> None:
    before = [broken("/a"), page("/b")]
    assert differences(before, [page("/b", redirected_from=[url("/a")])]).verdicts == {
        "/a": "mended"
    }


def test_a_page_that_redirects_elsewhere_is_told_as_that_whatever_has_its_content() -> None:
    before = [page("/home"), same("/old", redirected_from=[url("/new")])]
    after = [page("/home", redirected_from=[url("/old")]), same("/new")]
    told = differences(before, after)
    assert (told.moved, told.counts["lost"]) == ([], 0)
    assert told.changed["/old"]["redirects_to"]["after"] == url("/home")
    assert told.changed["/new"]["redirects_to"]["before"] == url("/old")


def test_a_page_that_has_moved_and_redirects_there_has_moved() -> None:
    told = differences([same("/old")], [same("/new", redirected_from=[url("/old")])])
    assert told.moved == [("/old", "/new", True)]
    assert (told.added, told.removed, told.changed) == ([], [], {})


def test_a_page_and_its_redirect_may_change_places() -> None:
    before = [same("/a/", redirected_from=[url("/a")])]
    after = [same("/a", redirected_from=[url("/a/")])]
    assert differences(before, after).moved == [("/a/", "/a", True)]
    assert differences(after, before).moved == [("/a", "/a/", True)]


def test_a_redirect_is_believed_before_the_order_of_urls() -> None:
    before = [same("/old/1"), same("/old/2")]
    after = [same("/new/1", redirected_from=[url("/old/2")]), same("/new/2")]
    told = differences(before, after)
    assert told.moved == [("/old/1", "/new/2", False), ("/old/2", "/new/1", True)]


def test_a_page_that_redirects_elsewhere_has_not_moved() -> None:
    before = [page("/home"), same("/old")]
    after = [page("/home", redirected_from=[url("/old")]), same("/new")]
    told = differences(before, after)
    assert (told.moved, told.added) == ([], ["/new"])
    assert told.changed["/old"]["redirects_to"]["after"] == url("/home")


def test_pages_of_a_circle_of_redirects_are_pages() -> None:
    """They have an error, and redirect to each other."""
    loop = {"status_code": 302, "error": "redirect loop", "content_hash": None}
    before = [
        page("/a", **loop, redirected_from=[url("/b")]),
        page("/b", **loop, redirected_from=[url("/a")]),
    ]
    after = [
        page("/a", **loop, redirected_from=[url("/c")]),
        page("/b", **loop),
        page("/c", **loop, redirected_from=[url("/b")]),
    ]
    told = differences(before, after)
    assert told.changed == {
        "/a": {"redirected_from": {"before": [url("/b")], "after": [url("/c")]}},
        "/b": {"redirected_from": {"before": [url("/a")], "after": []}},
    }
    assert told.added == ["/c"]


# --- what is asked for


@pytest.mark.parametrize(
    ("only", "found"),
    [
        ({"added"}, {"added": 1}),
        ({"removed", "moved"}, {"removed": 1, "moved": 1}),
        ({"broke"}, {"broke": 1}),
        ({"mended"}, {}),
        ({"dead"}, {}),
        ({"lost"}, {"lost": 1}),
    ],
)
def test_only_what_is_asked_for_is_told(only: set[str], found: dict[str, int]) -> None:
    # Two have changed, one has moved, one was added, one was removed.
    before = [page("/a", title="A"), page("/b"), same("/old"), page("/x")]
    after = [page("/a", title="B"), broken("/b"), same("/new"), page("/y")]
    told = differences(before, after, only=only)
    assert {kind: number for kind, number in told.counts.items() if number} == found
    assert told.is_different is bool(found)
    assert len(told.changed) == found.get("broke", 0)
    moved = found.get("moved", 0) or found.get("lost", 0)
    assert (len(told.added), len(told.moved)) == (found.get("added", 0), moved)
    assert told.left_aside == 5 - sum(found.values())


# --- order


def test_pages_out_of_order_are_sorted_first() -> None:
    before = [page("/b"), page("/a"), page("/c", title="first"), page("/c", title="last")]
    after = [page("/a"), page("/b"), page("/c", title="last")]
    for old, new in ((before, after), (after, before), (before, before[::-1][1:])):
        told = differences(old, new)
        assert (told.added, told.removed, told.same + len(told.changed)) == ([], [], 3)
    assert not differences(before, after).is_different


def test_a_side_tells_whether_it_is_in_order() -> None:
    side = Pages("A", [page("/a"), page("/a")])
    with pytest.raises(OutOfOrder):
        list(side.by_url())
    side.is_sorted = False
    assert len(list(side.by_url())) == side.pages == 1


# By UTF-16, in which a character above U+FFFF is two surrogates, these would change places.
ODD = ["/a", "/\ue000", "/\uffff", "/\U00010000", "/\U0010ffff", "/é", "/%", "/~", "/\ud7ff"]


def test_urls_are_in_the_order_of_code_points_and_of_sqlite() -> None:
    pages = [page(path) for path in sorted(ODD)]
    assert sorted(ODD) == sorted(ODD, key=str.encode)
    told = differences(pages, [*pages, page("/z\U00010000")])
    assert (told.added, told.same) == (["/z\U00010000"], len(ODD))
    assert differences(pages, pages[::-1]).same == len(ODD)
    assert differences(pages, []).removed == sorted(ODD)


# --- the main text


def signed(words: list[str]) -> bytes:
    signature = SignatureParameters().sign_text(" ".join(words))
    assert signature is not None
    return signature


def content_change(
    old_parameters: SignatureParameters | None,
    new_parameters: SignatureParameters | None,
    words: list[str],
) -> Record:
    old, new = {url("/a"): signed(TEXT)}, {url("/a"): signed(words)}
    before = Pages("A", [page("/a")], parameters=old_parameters, signatures=old)
    after = Pages("B", [page("/a", content_hash="x")], parameters=new_parameters, signatures=new)
    comparison = compare(before, after)
    told = Told(comparison)
    comparison.close()
    return told.changed["/a"]["content"]


def test_how_much_of_the_text_is_the_same_is_told_where_signatures_are() -> None:
    parameters = SignatureParameters()
    near = content_change(parameters, parameters, ["new", *TEXT[1:]])
    assert near["cosmetic"]
    assert 0.98 <= near["similarity"] < 1
    other = content_change(parameters, parameters, [f"other{number}" for number in range(500)])
    assert other["similarity"] < 0.1
    assert not other["cosmetic"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, None),
        (SignatureParameters(), None),
        (SignatureParameters(), SignatureParameters(shingle_words=4)),
        (SignatureParameters(), SignatureParameters(backend="datasketch")),
    ],
)
def test_signatures_that_were_made_in_another_way_are_not_compared(
    old: SignatureParameters | None, new: SignatureParameters | None
) -> None:
    assert "similarity" not in content_change(old, new, TEXT)


# --- laws

PATHS = st.sampled_from([f"/{name}" for name in "abcdefgh"] + ["/\U00010000", "/\ue000"])
RECORDS = st.builds(
    page,
    PATHS,
    title=st.sampled_from([None, "A", "B"]),
    error=st.sampled_from([None, None, "timeout"]),
    content_hash=st.sampled_from([None, "x", "y", "z"]),
    bytes=st.sampled_from([None, 0, 9000]),
    links=st.lists(st.sampled_from(["l", "m", "n"]), max_size=3),
    redirected_from=st.lists(PATHS.map(url), max_size=2),
)


def _proper(records: list[Record]) -> list[Record]:
    """As a crawl has them: a URL is one page, or redirects to one."""
    pages = {record["url"]: record for record in records}
    taken = set(pages)
    for _, record in sorted(pages.items()):
        sources = [one for one in dict.fromkeys(record["redirected_from"]) if one not in taken]
        record["redirected_from"] = sources
        taken.update(sources)
    return [pages[one] for one in sorted(pages)]


CRAWLS = st.lists(RECORDS, max_size=10).map(_proper)


def paths(records: list[Record]) -> set[str]:
    return {record["url"].removeprefix(SITE) for record in records}


@times(0.5)
@given(CRAWLS)
def test_nothing_has_changed_between_a_crawl_and_itself(crawl: list[Record]) -> None:
    told = differences(crawl, crawl)
    assert not told.is_different
    assert told.same == len(crawl)


@times(0.5)
@given(CRAWLS, CRAWLS)
def test_what_has_changed_gives_one_crawl_from_the_other(
    before: list[Record], after: list[Record]
) -> None:
    told = differences(before, after)
    redirects = [(path, one.get("redirects_to")) for path, one in told.changed.items()]
    gone = {path for path, one in redirects if one and one["before"] is None}
    come = {path for path, one in redirects if one and one["after"] is None}
    lost = [*told.removed, *gone, *(old for old, _, _ in told.moved)]
    won = [*told.added, *come, *(new for _, new, _ in told.moved)]
    assert paths(before) - set(lost) | set(won) == paths(after)
    # Each URL is told once.
    assert len(lost) == len(set(lost))
    assert len(won) == len(set(won))
    both = paths(before) & paths(after)
    assert told.same + len(both & told.changed.keys()) == len(both)


@times(0.5)
@given(CRAWLS, CRAWLS)
def test_the_other_way_round_everything_is_the_other_way_round(
    before: list[Record], after: list[Record]
) -> None:
    there, back = differences(before, after), differences(after, before)
    assert (there.added, there.removed, there.same) == (back.removed, back.added, back.same)
    pairs = {(new, old) for old, new, _ in back.moved}
    assert {(old, new) for old, new, _ in there.moved} == pairs
    turned: dict[str | None, str] = {"broke": "mended", "mended": "broke"}
    assert there.verdicts == {path: turned[how] for path, how in back.verdicts.items()}
    assert there.changed.keys() == back.changed.keys()
    for path, changes in there.changed.items():
        for field, change in changes.items():
            other = back.changed[path][field]
            assert (change["before"], change["after"]) == (other["after"], other["before"])
            assert change.get("added") == other.get("removed")


@times(0.5)
@given(CRAWLS, CRAWLS, st.randoms(use_true_random=False))
def test_the_order_of_pages_is_of_no_account(
    before: list[Record], after: list[Record], random: Any
) -> None:
    shuffled = [*after]
    random.shuffle(shuffled)
    assert vars(differences(before, after)) == vars(differences(before, shuffled))
