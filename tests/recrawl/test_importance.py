"""How much a page matters."""

from __future__ import annotations

import numpy as np
import pytest

from crawlproject.recrawl.importance import importance, page_rank, page_rank_of_parts


def of(inlinks: int = 1, depth: int = 1, priority: float = 0.5) -> float:
    return float(importance(np.array([inlinks]), np.array([depth]), np.array([priority]))[0])


def test_more_links_a_shorter_way_and_a_higher_priority_matter_more() -> None:
    assert of(inlinks=1000) > of(inlinks=10) > of(inlinks=0) > 0
    assert of(depth=0) > of(depth=1) > of(depth=9)
    assert of(priority=1.0) == pytest.approx(2 * of(priority=0.5))
    assert of(priority=0.0) == pytest.approx(of(priority=0.5) / 2)


def test_a_thousand_links_are_not_a_thousand_times_as_much() -> None:
    assert of(inlinks=1000) < 12 * of(inlinks=0)


def test_page_rank_of_a_known_graph() -> None:
    # Two pages that link to a third, which links to the first.
    rank = page_rank(np.array([0, 1, 2]), np.array([2, 2, 0]), 3)
    assert rank.sum() == pytest.approx(1)
    # By hand: b = 0.05, c = 0.05 + 0.85 (a + b), a = 0.05 + 0.85 c.
    c = (0.05 + 0.85 * (0.05 + 0.05)) / (1 - 0.85**2)
    assert rank == pytest.approx([0.05 + 0.85 * c, 0.05, c], abs=1e-6)


def test_what_a_page_without_links_has_goes_to_all() -> None:
    rank = page_rank(np.array([0]), np.array([1]), 2)
    assert rank.sum() == pytest.approx(1)
    assert rank[1] > rank[0] > 0.3


def test_no_pages_have_no_rank() -> None:
    assert len(page_rank(np.array([], int), np.array([], int), 0)) == 0


def test_links_in_parts_give_the_same_ranks() -> None:
    sources, targets = np.array([0, 0, 1, 2, 2, 3]), np.array([1, 2, 0, 0, 1, 0])
    parts = [(sources[:2], targets[:2]), (sources[2:], targets[2:])]
    assert page_rank_of_parts(parts, 5) == pytest.approx(page_rank(sources, targets, 5))
