from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.items import Page
from crawlproject.monitoring.journal import Journal
from crawlproject.monitoring.snapshot import (
    MAX_BYTES,
    MAX_POINTS,
    MAX_STATUSES,
    MAX_WORDS,
    FetchSeconds,
    Hosts,
    LatestError,
    LatestPage,
    Phase,
    Snapshot,
    bounded,
    cut,
    from_json,
    read_snapshot,
    to_json,
)

if TYPE_CHECKING:
    from pathlib import Path

# Every field has a value that is not its default.
FULL = Snapshot(
    at=20.5,
    started_at=10.0,
    ended_at=20.0,
    reason="finished",
    phase=Phase.ENDED,
    pages=7,
    pages_before=2,
    outcomes={"fine": 3, "broken": 1, "blocked": 0, "denied": 1, "refused": 0},
    urls={"queued": 1, "leased": 0, "done": 5, "failed": 1, "skipped": 4},
    skipped={"offsite": 4},
    depths={"0": 1, "1": 4},
    requests=9,
    responses={"200": 5, "404": 1},
    errors={"timeout": 1},
    bytes=1234,
    fetch_seconds=FetchSeconds([0.1, 1.0], [3, 1, 1], 2.5),
    robots_denied=1,
    timeouts=2,
    retries=3,
    overloads=4,
    duplicates=5,
    links=60,
    links_known=50,
    hosts=Hosts(6, 1, 2, 2, 1, 0.25, 1.5, 3.9),
    memory_bytes=10**8,
    cpu_seconds=1.5,
    oldest_page_at=3.0,
    newest_page_at=19.0,
    pages_per_second=0.5,
    history=[(0.0, 0), (5.0, 5)],
    latest_pages=[LatestPage("https://a/", 200, "A", 1, 12, None)],
    latest_errors=[LatestError("https://a/b", 404, "unexpected status 404", "https://a/", 18.0)],
    problem="the disk is full",
)


def test_what_is_written_is_read_again() -> None:
    assert from_json(to_json(FULL)) == FULL


def test_the_json_has_the_fields_and_a_version() -> None:
    written = json.loads(to_json(FULL))
    assert written["version"] == 1
    assert written["phase"] == "ended"
    assert written["history"] == [[0.0, 0], [5.0, 5]]
    assert written["hosts"]["busiest_per_second"] == 3.9
    assert written["latest_pages"][0]["fetch_ms"] == 12
    assert json.loads(json.dumps(FULL.as_dict())) == written


def changed(**members: Any) -> bytes:
    return json.dumps({**FULL.as_dict(), **members}).encode()


def test_what_is_missing_has_its_default_and_what_is_unknown_is_left_out() -> None:
    assert from_json(b'{"version": 1, "at": 2, "started_at": 1, "mood": "fine"}') == Snapshot(2, 1)


@pytest.mark.parametrize(
    "members",
    [
        {"version": 2},
        {"version": None},
        {"at": None},
        {"at": "now"},
        {"at": True},
        {"pages": -1},
        {"pages": 1.5},
        {"pages": 2**63},
        {"pages": 10**400},
        {"phase": "dancing"},
        {"phase": ["running"]},
        {"reason": 5},
        {"outcomes": []},
        {"outcomes": {"fine": "3"}},
        {"urls": {"queued": None}},
        {"skipped": {str(number): 1 for number in range(MAX_WORDS + 1)}},
        {"responses": {str(number): 1 for number in range(MAX_STATUSES + 1)}},
        {"depths": {str(number): 1 for number in range(1000)}},
        {"fetch_seconds": None},
        {"fetch_seconds": {"bounds": [1.0], "counts": [1], "sum": 0}},
        {"fetch_seconds": {"bounds": [2.0, 1.0], "counts": [1, 1, 1], "sum": 0}},
        {"hosts": {"total": -1}},
        {"hosts": 3},
        {"history": [[0.0]]},
        {"history": [[0.0, 1, 2]]},
        {"history": [[0.0, 0.5]]},
        {"history": [[0.0, 0]] * (MAX_POINTS + 1)},
        {"latest_pages": [{}]},
        {"latest_pages": [{"url": 1}]},
        {"latest_pages": [{"url": "https://a/"}] * 11},
        {"latest_errors": {"url": "https://a/"}},
        {"latest_errors": [{"url": "https://a/", "status_code": "404"}]},
    ],
    ids=str,
)
def test_what_is_not_well_formed_is_none_at_all(members: dict[str, Any]) -> None:
    assert from_json(changed()) is not None
    assert from_json(changed(**members)) is None


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"version": 1}',
        b'{"version": 1, "at": NaN, "started_at": 1}',
        b'{"version": 1, "at": 1e999, "started_at": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 1, "at": 2, "started_at": 1}' + b" " * MAX_BYTES,
    ],
    ids=lambda written: repr(written[:45]),
)
def test_what_is_no_snapshot_is_none(written: bytes) -> None:
    assert from_json(written) is None


@given(st.integers(0, len(to_json(FULL)) - 1))
def test_what_is_cut_off_is_none(length: int) -> None:
    assert from_json(to_json(FULL)[:length]) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.sampled_from(sorted(FULL.as_dict())), ANYTHING)
def test_whatever_a_member_is_reading_ends_in_a_good_snapshot_or_in_none(
    name: str, value: Any
) -> None:
    snapshot = from_json(changed(**{name: value}))
    assert snapshot is None or from_json(to_json(snapshot)) == snapshot


def test_texts_that_are_too_long_are_cut_when_they_are_read() -> None:
    long = "x" * 10_000
    snapshot = from_json(
        changed(
            problem=long,
            skipped={long: 1},
            latest_pages=[{"url": long, "title": long, "error": long}],
        )
    )
    assert snapshot is not None
    assert len(snapshot.problem or "") == 200
    assert [len(reason) for reason in snapshot.skipped] == [100]
    page = snapshot.latest_pages[0]
    assert (len(page.url), len(page.title or ""), len(page.error or "")) == (500, 200, 200)


def test_a_file_is_read_and_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    assert read_snapshot(path) is None
    path.write_bytes(to_json(FULL))
    assert read_snapshot(path) == FULL
    assert read_snapshot(tmp_path) is None
    os.mkfifo(tmp_path / "pipe")
    assert read_snapshot(tmp_path / "pipe") is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ab", "ab"),
        ("abcdef", "abc"),
        ("\ud800b", "\ufffdb"),
        ("a\ud83d\ude00", "a😀"),
        (None, "Non"),
        (b"x", "b'x"),
    ],
)
def test_text_is_cut_to_what_json_can_hold(text: object, kept: str) -> None:
    assert cut(text, 3) == kept


def test_too_many_words_are_counted_together() -> None:
    counts = {f"word {number:03}": 1000 - number for number in range(100)}
    kept = bounded(counts)
    assert len(kept) == MAX_WORDS
    assert list(kept)[:2] == ["word 000", "word 001"]
    assert kept["other"] == sum(1000 - number for number in range(MAX_WORDS - 1, 100))
    assert bounded({"other": 5, "a": 9, "b": 1, "c": 1}, most=3) == {"a": 9, "other": 7}


@given(st.dictionaries(st.text(), st.integers(1)), st.integers(1, 10))
def test_nothing_that_was_counted_gets_lost(counts: dict[str, int], most: int) -> None:
    kept = bounded(counts, most)
    assert sum(kept.values()) == sum(counts.values())
    assert len(kept) <= most


@pytest.mark.parametrize("character", ["\0", "😀", "\ud800", '"'])
def test_whatever_sites_and_teams_write_it_stays_small_and_is_read_again(character: str) -> None:
    long = character * 5_000
    journal = Journal()
    for number in range(100):
        journal.add(
            Page(long, number, title=long, error=long, referrer=long, depth=number, fetch_ms=1), 5.0
        )
    words = bounded({f"{number}{long}": 2**40 for number in range(100)})
    snapshot = Snapshot(
        2.0,
        1.0,
        skipped=words,
        errors=words,
        depths=journal.depths(),
        responses={str(number): 2**40 for number in range(100, 1000)},
        history=[(1e9 + number / 7, 2**40) for number in range(MAX_POINTS)],
        fetch_seconds=journal.fetch_seconds(),
        latest_pages=journal.latest_pages(),
        latest_errors=journal.latest_errors(),
        problem=cut(long, 200),
    )
    written = to_json(snapshot)
    assert len(written) < MAX_BYTES
    assert from_json(written) == snapshot
