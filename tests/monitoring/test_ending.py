from __future__ import annotations

import pytest

from crawlproject.frontier.base import Counts
from crawlproject.items import Page
from crawlproject.monitoring.ending import (
    Earlier,
    Ending,
    File,
    Limits,
    duration,
    headline,
    notes,
    size,
    skipped,
)
from crawlproject.monitoring.tally import Tally

SEED = "https://example.com/"
LIMITS = Limits(
    depth=16, max_pages=100, url_length=2_083, closespider={"closespider_timeout": 90.0}
)


def tally_of(*, fine: int = 0, broken: int = 0, denied: int = 0, size: int = 0) -> Tally:
    tally = Tally()
    for count, error in ((fine, None), (broken, "timeout"), (denied, "robots")):
        for number in range(count):
            tally.add(Page(f"{SEED}{number}", error=error, bytes=size))
    return tally


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (
            Ending([SEED], seconds=4.21, tally=tally_of(fine=57, broken=4, denied=2)),
            "Crawled 63 pages of https://example.com/ in 4.2 s: "
            "57 fine, 4 broken, 2 denied by robots.txt.",
        ),
        (
            Ending([SEED], seconds=75, tally=tally_of(fine=2)),
            f"Crawled 2 pages of {SEED} in 1 min 15 s: all fine.",
        ),
        (Ending([SEED], tally=tally_of(fine=1)), f"Crawled 1 page of {SEED}: it is fine."),
        (Ending([SEED], tally=tally_of(broken=1)), f"Crawled 1 page of {SEED}: 1 broken."),
        (Ending([SEED], seconds=0.04), f"Crawled no page of {SEED} in 0.0 s."),
        (
            Ending([SEED, "b"], tally=tally_of(fine=3)),
            f"Crawled 3 pages of {SEED} and 1 other seed: all fine.",
        ),
        (
            Ending([SEED, "b", "c"], tally=tally_of(fine=1_234)),
            f"Crawled 1,234 pages of {SEED} and 2 other seeds: all fine.",
        ),
        (Ending(tally=tally_of(fine=2)), "Crawled 2 pages: all fine."),
    ],
)
def test_the_headline_says_what_was_crawled_and_how_it_went(ending: Ending, sentence: str) -> None:
    assert headline(ending) == sentence


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        (["no PDF: a", "no PDF: b"], "1 fine, 2 refused (no PDF)"),
        (["b", "a", "d", "c", "d"], "1 fine, 5 refused (d, a, b, …)"),
        (["x" * 50], f"1 fine, 1 refused ({'x' * 40})"),
    ],
)
def test_what_a_gatekeeper_refuses_is_told_in_its_words(errors: list[str], words: str) -> None:
    tally = tally_of(fine=1)
    for error in errors:
        tally.add(Page(SEED, error=error))
    assert headline(Ending(tally=tally)).endswith(f": {words}.")


COMPLETE = File("a.json", "3 pages")
INCOMPLETE = File("a.json", "3 pages", is_complete=False)


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending(reason="finished"), []),
        (
            Ending(reason="finished", counts=Counts(queued=532), limits=LIMITS),
            ["100 pages reached (max_pages); 532 URLs were not tried."],
        ),
        (Ending(reason="finished", limits=LIMITS), []),
        (
            Ending(reason="finished", limits=LIMITS, earlier=Earlier(140)),
            [
                "Went on with an earlier crawl.",
                "max_pages=100 is less than the 140 pages that were there, which all stay.",
            ],
        ),
        (
            Ending(
                counts=Counts(queued=2), limits=LIMITS, earlier=Earlier(140), directory="crawls/x"
            ),
            [
                "Went on with an earlier crawl.",
                "max_pages=100 is less than the 140 pages that were there, which all stay; "
                "2 URLs were not tried. The same command with a larger max_pages goes on "
                "(crawls/x).",
            ],
        ),
        (
            Ending(counts=Counts(queued=2), limits=LIMITS, earlier=Earlier(100)),
            [
                "Went on with an earlier crawl.",
                "100 pages reached (max_pages); 2 URLs were not tried.",
            ],
        ),
        (Ending(reason="finished", counts=Counts(queued=1)), ["1 URL was not tried."]),
        (
            Ending(reason="shutdown", files=[COMPLETE]),
            ["Stopped by Ctrl-C: in-flight requests were finished and the files are complete."],
        ),
        (
            Ending(reason="shutdown", files=[COMPLETE, INCOMPLETE], counts=Counts(queued=2)),
            ["Stopped by Ctrl-C: in-flight requests were finished; 2 URLs were not tried."],
        ),
        (
            Ending(reason="shutdown", is_watched=False),
            ["Stopped by a signal: in-flight requests were finished."],
        ),
        (
            Ending(reason="closespider_timeout", limits=LIMITS, counts=Counts(queued=2, leased=1)),
            ["Stopped after the time limit (timeout=90); 3 URLs were not tried."],
        ),
        (
            Ending(
                reason="closespider_itemcount",
                limits=Limits(closespider={"closespider_itemcount": 10.0}),
            ),
            ["Stopped at the limit (CLOSESPIDER_ITEMCOUNT=10)."],
        ),
        (Ending(reason="memusage_exceeded"), ["Stopped early (memusage_exceeded)."]),
        (
            Ending(dropped=1, exceptions=2, lost=3),
            [
                "1 item more dropped by a pipeline.",
                "2 exceptions in the spider: see the log.",
                "3 items lost: a pipeline raised an exception, see the log.",
            ],
        ),
        (
            Ending(seconds=2.0, tally=tally_of(fine=3, size=1_000)),
            ["3.0 kB, 1.5 pages/s."],
        ),
        (Ending(seconds=0.0, tally=tally_of(fine=3, size=1)), ["3 bytes."]),
    ],
)
def test_notes_say_why_it_ended_and_what_is_missing(ending: Ending, expected: list[str]) -> None:
    assert notes(ending) == expected


@pytest.mark.parametrize(
    ("reason", "limits", "what", "remedy"),
    [
        ("depth", LIMITS, "deeper than 16 links (depth=16)", "-a depth=N, or depth=none"),
        ("depth", Limits(depth=1), "deeper than 1 link (depth=1)", "-a depth=N, or depth=none"),
        ("depth", Limits(depth=0), "linked from the seeds (depth=0)", "-a depth=N, or depth=none"),
        ("offsite", LIMITS, "on other hosts", "-a scope=domain, or allow=HOST"),
        ("offsite", Limits(scope="domain"), "on other hosts", "-a scope=any, or allow=HOST"),
        ("nofollow", LIMITS, "marked nofollow", "-a respect_nofollow=no"),
        ("excluded", LIMITS, "excluded by a pattern", "a narrower -a exclude="),
        ("not included", LIMITS, "not included by a pattern", "a wider -a include="),
        ("url too long", LIMITS, "longer than 2,083 characters", "-s URLLENGTH_LIMIT=N"),
        ("internal address", LIMITS, "in a private network", "only with a seed in one"),
        (
            "repeated path",
            LIMITS,
            "whose path goes round in circles",
            "-s SCOPE_MAX_REPEATED_SEGMENTS=N",
        ),
        (
            "growing path",
            LIMITS,
            "that only make the path of their page longer",
            "-s SCOPE_MAX_REPEATED_SEGMENTS=0",
        ),
        (
            "too many parameters",
            LIMITS,
            "with too many parameters",
            "-s SCOPE_MAX_QUERY_PARAMS=N",
        ),
        (
            "host budget",
            LIMITS,
            "beyond the budget of their host",
            "-s SCOPE_MAX_PAGES_PER_HOST=N",
        ),
        (
            "prefix budget",
            LIMITS,
            "beyond the budget of a calendar, facets or the like",
            "-s SCOPE_MAX_PAGES_PER_PREFIX=N",
        ),
        ("a team's own", LIMITS, "a team's own", ""),
    ],
)
def test_each_reason_names_what_lets_the_urls_in(
    reason: str, limits: Limits, what: str, remedy: str
) -> None:
    ending = Ending(counts=Counts(skipped={reason: 3}), limits=limits)
    assert skipped(ending) == [(3, what, remedy)]


def test_the_most_frequent_reason_comes_first() -> None:
    ending = Ending(counts=Counts(skipped={"b": 1, "a": 1, "c": 9}))
    assert [(row.urls, row.what) for row in skipped(ending)] == [(9, "c"), (1, "a"), (1, "b")]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (3_599.4, "59 min 59 s"),
        (3_600, "1 h 0 min"),
        (90_061, "25 h 1 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (9_960, "10 kB"),
        (999_600, "1.0 MB"),
        (1_234_567, "1.2 MB"),
        (5 * 10**12, "5.0 TB"),
        (10**16, "10,000 TB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("pages", "sentence"),
    [
        (1, "1 page looks empty without scripts: -a render=auto shows it to a browser."),
        (2, "2 pages look empty without scripts: -a render=auto shows them to a browser."),
    ],
)
def test_pages_that_only_a_browser_can_fill_are_told_of(pages: int, sentence: str) -> None:
    assert notes(Ending([SEED], scripted=pages)) == [sentence]


@pytest.mark.parametrize(
    ("exact", "near", "sentence"),
    [
        (0, 0, None),
        (1, 0, "1 page has the body of another."),
        (0, 2, "2 pages have almost the text of another."),
        (3, 1, "3 pages have the body of another, 1 almost the text of one."),
    ],
)
def test_duplicates_are_counted_in_a_sentence(exact: int, near: int, sentence: str | None) -> None:
    said = notes(Ending([SEED], exact=exact, near=near))
    assert said == ([sentence] if sentence else [])
