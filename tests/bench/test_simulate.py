"""The simulation of visits: its worlds, its policies, and one small run of it all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench.estimates import errors_of_estimates
from bench.freshness import BestIntervals, BestOrder, Ours, Uniform, World, best_frequencies, play
from bench.simulate import main, simulate
from crawlproject.report.assets import library

if TYPE_CHECKING:
    from pathlib import Path

WORLD = World.by_chance(200, seed=3)


def test_worlds_are_the_same_each_time_and_pages_matter_1_on_average() -> None:
    other = World.by_chance(200, seed=3)
    assert (WORLD.rates == other.rates).all()
    assert (WORLD.rates > 0).all()
    assert WORLD.weights.mean() == pytest.approx(1)


@pytest.mark.parametrize("budget", [5, 20, 100])
def test_the_best_frequencies_spend_the_budget_and_none_of_it_elsewhere_were_better(
    budget: float,
) -> None:
    best = best_frequencies(WORLD, budget)
    assert best.sum() == pytest.approx(budget, rel=0.01)
    chance = np.random.default_rng(1)
    for _ in range(50):
        other = best * chance.uniform(0.8, 1.2, len(best))
        other *= best.sum() / other.sum()
        assert _fresh(other) <= _fresh(best) + 1e-9


def _fresh(frequencies: np.ndarray) -> float:
    """The part of the time in which pages are fresh, by formula."""
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = WORLD.rates / frequencies
        fresh = np.where(frequencies > 0, -np.expm1(-expected) / expected, 0)
    return float((WORLD.weights * fresh).mean())


def test_nobody_has_more_fetches_than_there_are() -> None:
    for policy in (Ours(WORLD, 1), Uniform(WORLD), BestIntervals(WORLD, 20, 1), BestOrder(WORLD)):
        outcome = play(WORLD, policy, days=10, fetches_a_day=20, seed=1)
        assert outcome.fetches <= 200
        assert 0 < outcome.fresh < 1
        assert len(outcome.days) == 10


def test_whoever_visits_all_of_them_every_hour_has_them_fresh() -> None:
    outcome = play(WORLD, Uniform(WORLD), days=3, fetches_a_day=24 * 200, seed=1)
    assert outcome.fresh == 1
    assert outcome.age == 0


def test_ours_is_near_the_best_and_better_than_to_visit_all_in_turn() -> None:
    for scenario in simulate(1000, 60, 1):
        assert scenario.part_of_best >= 0.9
        assert scenario.outcomes["ours"].fresh > scenario.outcomes["in turn"].fresh


def test_estimates_are_no_worse_than_those_of_the_books() -> None:
    for expected, (ours, by_time, by_logarithm) in errors_of_estimates():
        assert ours < by_logarithm
        # Few changes are all seen, as good as.
        assert ours < by_time or expected < 0.5


def test_a_small_run_prints_tables_and_writes_a_plot_that_needs_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "fresh.html"
    assert main(["--pages", "100", "--days", "5", "--plot", str(plot)]) in (0, 1)
    said = capsys.readouterr().out
    assert "100 pages, 5 days, 30 fetches a day" in said
    assert str(plot) in said.replace("\n", "")
    page = plot.read_text()
    assert '"best order": [' in page
    assert not re.search(r"<(link|img|script\s)", page.replace(library().decode(), ""))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--pages", "0"], "argument --pages: '0' is no whole number from 1 on"),
        (["--pages", "5", "--days", "1", "--plot", "{folder}/none/p.html"], "can't write "),
    ],
)
def test_what_can_not_be_is_said_in_a_line(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([option.format(folder=tmp_path) for option in options])
    told = capsys.readouterr().err
    assert told.startswith(f"simulate: error: {problem}")
    assert told.count("\n") == 1
