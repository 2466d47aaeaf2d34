"""The benchmark of near-duplicates: its corpus, its judgement, one small run. Nothing is timed."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest

from bench import costs, signatures
from bench.__main__ import main
from bench.corpus import EDITS, MIN_TOKENS, REWRITTEN, corpus, truth
from bench.finders import SIZE, Ours, finders, shingles_of, words_of
from bench.quality import SURE, SURE_NOT, Corpus, Truth, clustered, judged, own_text
from bench.templates import TEMPLATES
from crawlproject.pages.words import Words

if TYPE_CHECKING:
    from bench.corpus import Document


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """A family of each language, and one more."""
    return corpus(8)


def of_kind(documents: list[Document], kind: str, family: int = 0) -> list[Document]:
    return [one for one in documents if (one.family, one.kind) == (family, kind)]


def test_the_corpus_is_the_same_each_time(documents: list[Document]) -> None:
    assert corpus(8) == documents
    assert len({document.html for document in documents}) == len(documents)


def test_the_more_is_edited_the_less_is_the_same(documents: list[Document]) -> None:
    for family in range(8):
        (original,) = of_kind(documents, "original", family)
        for edits, how in ((EDITS, "edited"), (REWRITTEN, "in one place")):
            found = [
                truth(original, *of_kind(documents, f"{part:.1%} {how}", family)) for part in edits
            ]
            assert all(more > less for more, less in pairwise(found))
            assert found[0] > 0.94
            assert found[-1] < 0.8


def test_what_is_true_of_the_other_versions(documents: list[Document]) -> None:
    for family in range(8):
        (original,) = of_kind(documents, "original", family)
        assert truth(original, *of_kind(documents, "another date and session", family)) == 1
        others = of_kind(documents, "another template", family)
        assert [truth(original, other) for other in others] == [1] * (len(TEMPLATES) - 1)
        assert truth(original, *of_kind(documents, "translated", family)) == 0
        assert 0.8 < truth(original, *of_kind(documents, "re-ordered", family)) < 1


def test_texts_that_are_too_short_are_like_no_other(documents: list[Document]) -> None:
    short = [document for document in documents if document.tokens < MIN_TOKENS]
    assert short
    assert not any(truth(one, other) for one, other in combinations(short, 2))
    one, other = of_kind(documents, "38 words")
    assert truth(one, other) == 1


def test_texts_of_different_families_are_not_alike(documents: list[Document]) -> None:
    most = max(
        truth(one, other) for one, other in combinations(documents, 2) if one.family != other.family
    )
    assert most < 0.3


def test_words_are_ours_for_all_finders(documents: list[Document]) -> None:
    for document in documents:
        text = own_text(document.html)
        assert len(words_of(text)) == Words(text).count
    assert shingles_of("too short") == set()


def test_all_finders_are_judged(documents: list[Document]) -> None:
    verdicts = judged(Corpus(documents))
    names = [verdict.name for verdict in verdicts]
    assert names[:5] == [
        *("pipeline, builtin", "… builtin, as clusters"),
        *("pipeline, datasketch", "… datasketch, as clusters"),
        "datasketch alone",
    ]
    assert len(names) == len(set(names)) == len(finders()) + 2
    ours, clusters = verdicts[:2]
    assert ours.recall >= 0.95
    assert ours.precision >= 0.98
    # Pages are counted here, not pairs: short ones on sites that name nothing count for more.
    assert clusters.recall >= 0.85
    assert clusters.precision >= 0.98
    missed = sum(number for _, number in ours.missed)
    assert missed == round((1 - ours.recall) * len(Truth(documents).alike))
    assert all("words" in kind for pair, _ in ours.missed for kind in pair)


def test_pairs_are_judged_by_what_is_true(documents: list[Document]) -> None:
    known = Truth(documents)
    assert all(known.of(*pair) >= SURE for pair in known.alike)
    assert known.verdict("", known.alike)[1:3] == (1.0, 1.0)
    assert known.verdict("", set())[1:3] == (0.0, 1.0)
    some = sorted(known.alike)[: len(known.alike) // 2]
    unlike = next(pair for pair in combinations(range(len(documents)), 2) if known.of(*pair) < 0.1)
    # What is neither alike nor unlike is not judged.
    unsure = next(
        pair for pair in combinations(range(len(documents)), 2) if SURE_NOT < known.of(*pair) < SURE
    )
    verdict = known.verdict("", {*some, unlike, unsure})
    assert verdict.recall == pytest.approx(len(some) / len(known.alike))
    assert verdict.precision == pytest.approx(len(some) / (len(some) + 1))


def test_who_finds_nothing_has_no_clusters(documents: list[Document]) -> None:
    nothing = [None] * len(documents)
    assert clustered(Truth(documents), nothing, Ours())[1:3] == (0.0, 1.0)


def test_a_page_has_600_words() -> None:
    for body in costs.bodies(len(TEMPLATES)):
        assert len(words_of(own_text(body.decode()))) == costs.WORDS


@pytest.mark.parametrize("kind", signatures.KINDS)
def test_made_up_pages_are_as_alike_as_they_should_be(kind: str) -> None:
    pages = [set(shingles.tolist()) for shingles in signatures.pages(kind, 30)]
    alike = [
        (one, other)
        for one, other in combinations(range(30), 2)
        if len(pages[one] & pages[other]) / len(pages[one] | pages[other]) > 0.9
    ]
    if kind == signatures.ALIKE:
        assert len(alike) == 30 * 29 // 2
    else:
        assert alike == ([(0, 1)] if kind == signatures.PLANTED else [])


@pytest.mark.parametrize(
    ("kind", "found", "missed"),
    [
        (signatures.PLANTED, [(2, 1), (101, 102), (201, 202)], 0),
        (signatures.PLANTED, [(2, 1), (7, 8)], 3),
        (signatures.ALIKE, [(number, 1) for number in range(2, 251)], 0),
        (signatures.ALIKE, [], 249),
        (signatures.TEMPLATE, [(1, 2)], 1),
    ],
)
def test_what_is_missed_or_wrong_is_counted(
    kind: str, found: list[tuple[int, int]], missed: int
) -> None:
    assert signatures.missed(kind, 250, found) == missed


def test_a_small_run_of_it_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["duplicates", "--families", "7", "--pages", "5", "--signatures", "2000"]) == 0
    said = capsys.readouterr().out
    assert "recall ≥ 0.95, precision ≥ 0.98: met" in said
    assert all(step in said for step in (*costs.OURS, costs.PLAIN, costs.TUNED))
    assert "all planted ones found: met" in said
    assert all(what in said for what in signatures.KINDS.values())


def test_one_part_can_be_run_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["duplicates", "--only", "quality", "--families", "2"]) in {0, 1}
    assert "µs of CPU" not in capsys.readouterr().out


def test_a_missed_target_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Texts of a few words have nothing in common with themselves.
    monkeypatch.setattr("bench.quality.own_text", lambda html: html[:SIZE])
    assert main(["duplicates", "--only", "quality", "--families", "2"]) == 1
    assert "not met" in capsys.readouterr().out
