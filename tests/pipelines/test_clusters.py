"""Which pages are duplicates of which, in the database of a crawl, with each backend."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from bench.signatures import MadeUp
from crawlproject.frontier.database import connect_to_memory
from crawlproject.pages.signatures import BACKENDS, BUILTIN, DATASKETCH, signature_backend
from crawlproject.pipelines import clusters, firsts
from crawlproject.pipelines.clusters import duplicates

if TYPE_CHECKING:
    import sqlite3

SIZE = 128
DONE, FAILED = 2, 3


class Chosen:
    """The backend of the tests that run now."""

    signatures = signature_backend(BUILTIN, SIZE)


@pytest.fixture(params=BACKENDS, scope="module", autouse=True)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    Chosen.signatures = signature_backend(name, SIZE)
    return name


class Row(NamedTuple):
    """A page. So many of the shingles of its text are others, of those that ``by`` tells."""

    url: str
    depth: int = 1
    text: int | None = 0
    edits: int = 0
    by: int = 1000
    body: str | None = None
    state: int = DONE
    target: int | None = None
    record: str = "{}"


def signature(row: Row) -> bytes | None:
    if row.text is None:
        return None
    shingles, others = (
        np.random.default_rng(seed).integers(0, 1 << 32, 400, dtype=np.uint32)
        for seed in (row.text, row.by)
    )
    shingles[: row.edits] = others[: row.edits]
    return Chosen.signatures.sign(MadeUp(shingles))


def crawl(rows: list[Row]) -> sqlite3.Connection:
    database = connect_to_memory()
    for number, row in enumerate(rows, 1):
        database.execute(
            "INSERT INTO urls (id, fingerprint, url, state, level, hops, rank, target) "
            "VALUES (?, 0, ?, ?, ?, 0, 0, ?)",
            (number, row.url, row.state, row.depth, row.target),
        )
        database.execute("INSERT INTO pages VALUES (?, ?, NULL)", (number, row.record))
        body = (row.body or row.url).encode()
        database.execute("INSERT INTO contents VALUES (?, ?, ?)", (number, body, signature(row)))
    return database


def found(rows: list[Row], threshold: float = 0.9) -> dict[str, tuple[str, float | None]]:
    """What each page is a duplicate of, and how alike they are."""
    database = crawl(rows)
    marks = list(duplicates(database, threshold=threshold, signatures=Chosen.signatures))
    database.close()
    assert len({mark.page for mark in marks}) == len(marks)
    return {rows[mark.page - 1].url: (rows[mark.of - 1].url, mark.similarity) for mark in marks}


def of(rows: list[Row], threshold: float = 0.9) -> dict[str, str]:
    return {url: first for url, (first, _) in found(rows, threshold).items()}


def test_no_pages() -> None:
    assert found([]) == {}


def test_pages_with_the_same_body_are_duplicates_of_the_first_of_them() -> None:
    rows = [
        Row("d", depth=2, body="x"),
        Row("c", depth=1, body="x"),
        Row("b", depth=1, body="x"),
        Row("a", depth=2, body="y", text=1),
    ]
    assert found(rows) == {"c": ("b", None), "d": ("b", None)}


def test_the_first_is_the_nearest_to_a_seed_then_by_url() -> None:
    assert of([Row("a", depth=3), Row("z", depth=1, edits=4), Row("y", depth=2)]) == {
        "a": "z",
        "y": "z",
    }
    assert of([Row("c"), Row("b", edits=4), Row("a", edits=8)]) == {"b": "a", "c": "a"}


def test_similarity_is_told(backend: str) -> None:
    ((first, similarity),) = found([Row("a"), Row("b", edits=8)]).values()
    assert first == "a"
    error = 0.03 if backend == BUILTIN else 0.05
    assert similarity == pytest.approx((400 - 8) / (400 + 8), abs=error)


def test_of_several_first_pages_the_most_alike_counts() -> None:
    # 0.74 between the first two, 0.82 and 0.90 to the third.
    assert of([Row("a"), Row("b", edits=60), Row("c", edits=40)], threshold=0.8) == {"c": "b"}
    assert of([Row("a"), Row("b", edits=60), Row("c", edits=20)], threshold=0.8) == {"c": "a"}


@pytest.mark.parametrize(
    ("threshold", "marked"), [(0.99, ""), (0.9, "b"), (0.7, "bc"), (0.4, "bcd")]
)
def test_the_threshold_says_how_alike(threshold: float, marked: str) -> None:
    rows = [Row("a"), Row("b", edits=8), Row("c", edits=50), Row("d", edits=130)]
    assert {url for url, first in of(rows, threshold).items() if first == "a"} == {*marked}


def test_what_is_a_near_duplicate_has_none_itself() -> None:
    rows = [Row(f"{number:03}", edits=number) for number in range(0, 200, 4)]
    marks = of(rows)
    assert marks
    assert {*marks.values()}.isdisjoint(marks)


def test_a_page_without_enough_text_is_like_no_other() -> None:
    assert of([Row("a", text=None), Row("b", text=None), Row("c", text=None)]) == {}


@pytest.mark.parametrize(
    "row",
    [
        Row("a", record=""),  # dropped by a pipeline
        Row("a", target=2),  # redirects
        Row("a", target=2, record=""),
    ],
)
def test_what_is_no_page_is_in_no_cluster(row: Row) -> None:
    rows = [row, Row("b"), Row("c", edits=4), Row("d", body="c"), Row("e", body="a", text=5)]
    assert of(rows) == {"c": "b", "d": "c"}


def test_a_failed_page_is_in_no_cluster() -> None:
    """It is one of the outputs, but there is nothing to compare."""
    database = crawl([Row("a", state=FAILED), Row("b"), Row("c", edits=4)])
    database.execute("DELETE FROM contents WHERE id = 1")
    marks = list(duplicates(database, threshold=0.9, signatures=Chosen.signatures))
    assert [(mark.page, mark.of) for mark in marks] == [(3, 2)]
    database.close()


def test_a_signature_of_another_size_or_backend_is_not_compared(backend: str) -> None:
    database = crawl([Row("a"), Row("b"), Row("c"), Row("d")])
    database.execute("UPDATE contents SET signature = x'0011' WHERE id = 1")
    other = signature_backend(DATASKETCH if backend == BUILTIN else BUILTIN, SIZE)
    foreign = other.sign(MadeUp(np.arange(400, dtype=np.uint32)))
    database.execute("UPDATE contents SET signature = ? WHERE id = 4", (foreign,))
    assert [
        mark.page for mark in duplicates(database, threshold=0.9, signatures=Chosen.signatures)
    ] == [3]
    database.close()


def test_a_duplicate_of_a_body_stands_for_its_near_duplicates_too() -> None:
    """A copy is no first page: what is like it is like the page that it is a copy of."""
    assert of([Row("a", body="x"), Row("b", body="x"), Row("c", edits=4)]) == {"b": "a", "c": "a"}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is bounded is bounded at once."""
    for name, value in (("_NOTED", 3), ("_FOUND", 4), ("_COMPARED", 2)):
        monkeypatch.setattr(firsts, name, value)
    for name in ("_FEW", "_AT_HAND", "_AT_ONCE"):
        monkeypatch.setattr(clusters, name, 2)


def template(count: int) -> list[Row]:
    """Pages that are almost alike, and a near-duplicate of each tenth of them."""
    rows = [Row(f"a{number:03}", edits=60, by=number) for number in range(count)]
    return rows + [row._replace(url=f"b{row.url}") for row in rows[::10]]


@pytest.mark.usefixtures("impatient")
def test_pages_that_are_almost_alike_are_compared_with_a_few_each() -> None:
    rows = template(60)
    marks = of(rows)
    assert {url: first for url, first in marks.items() if url.startswith("b")} == {
        row.url: row.url.removeprefix("b") for row in rows[60:]
    }
    shuffled = rows[:]
    Random(1).shuffle(shuffled)
    assert of(shuffled) == marks
