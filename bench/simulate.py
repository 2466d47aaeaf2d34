"""``./scripts/simulate``: how fresh our visits keep pages, against others, in virtual time.

Ten thousand pages change at rates that are known to the simulation, for sixty days. Policies have
the same number of fetches: ours, which learns by its visits; one that visits all pages in turn; and
two that know all rates, and are the best that is possible, by intervals or by order. Then the
estimate of rates is compared with others. A plot is written beside. The exit status is 1 if ours
is below 90 % of the better one of the best.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.estimates import errors_of_estimates
from bench.freshness import BestIntervals, BestOrder, Ours, Outcome, Uniform, World, play
from bench.options import OneLineParser, count
from bench.plot import write_plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.freshness import Policy

AIM = 0.9
# Visits that each page would get in ten days, if all got the same.
_BUDGETS = (0.3, 1.0, 3.0)
_TEN_DAYS = 10
# Who knows all rates.
_BEST = ("best intervals", "best order")
_WIDTH = 100


class Scenario(NamedTuple):
    fetches_a_day: float
    outcomes: dict[str, Outcome]

    @property
    def best(self) -> float:
        return max(self.outcomes[name].fresh for name in _BEST)

    @property
    def part_of_best(self) -> float:
        return self.outcomes["ours"].fresh / self.best


def main(arguments: Sequence[str]) -> int:
    parser = OneLineParser(prog="simulate", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pages", type=count, default=10_000, help="(%(default)s)")
    parser.add_argument("--days", type=count, default=60, help="(%(default)s)")
    parser.add_argument("--seed", type=count, default=1, help="of chance (%(default)s)")
    parser.add_argument("--plot", type=Path, default=Path("freshness.html"), help="(%(default)s)")
    options = parser.parse_args(arguments)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    scenarios = simulate(options.pages, options.days, options.seed)
    for scenario in scenarios:
        console.print(_table(scenario, options.pages, options.days))
        console.print()
    console.print(_estimates())
    try:
        _plot(options.plot, scenarios, options.pages)
    except OSError as error:
        return parser.error(f"can't write {options.plot}: {error.strerror}")
    console.print(f"\nDay by day: {options.plot}", markup=False, soft_wrap=True)
    return 0 if all(scenario.part_of_best >= AIM for scenario in scenarios) else 1


def simulate(pages: int, days: int, seed: int) -> list[Scenario]:
    world = World.by_chance(pages, seed)
    scenarios = []
    for budget in _BUDGETS:
        fetches = budget * pages / _TEN_DAYS
        policies: dict[str, Policy] = {
            "ours": Ours(world, seed),
            "in turn": Uniform(world),
            _BEST[0]: BestIntervals(world, fetches, seed),
            _BEST[1]: BestOrder(world),
        }
        outcomes = {
            name: play(world, policy, days=days, fetches_a_day=fetches, seed=seed)
            for name, policy in policies.items()
        }
        scenarios.append(Scenario(fetches, outcomes))
    return scenarios


def _table(scenario: Scenario, pages: int, days: int) -> Table:
    table = Table(
        title=f"{pages:,} pages, {days} days, {scenario.fetches_a_day:,.0f} fetches a day",
        title_justify="left",
    )
    for name in ("visits", "fresh", "of the best", "age (days)", "fetches a day"):
        table.add_column(name, justify="left" if name == "visits" else "right")
    for name, outcome in scenario.outcomes.items():
        table.add_row(
            name,
            f"{outcome.fresh:.3f}",
            f"{100 * outcome.fresh / scenario.best:.1f} %",
            f"{outcome.age:.2f}",
            f"{outcome.fetches / days:,.0f}",
        )
    return table


def _plot(path: Path, scenarios: list[Scenario], pages: int) -> None:
    charts = [
        (
            f"{scenario.fetches_a_day:,.0f} fetches a day",
            {name: outcome.days for name, outcome in scenario.outcomes.items()},
        )
        for scenario in scenarios
    ]
    lead = (
        f"{pages:,} pages change at rates that are known to the simulation. Shown is the part of "
        "them that is fresh: nothing has changed since the last visit. Pages count by how much "
        "they matter. <i>ours</i> learns the rates by its visits; the best know them all."
    )
    write_plot(path, "How fresh visits keep pages", lead, charts)


def _estimates() -> Table:
    table = Table(title="Rates by 20 visits: the error, of the rate", title_justify="left")
    table.add_column("changes between two visits")
    for name in ("ours", "changes / time", "- ln(1 - changes / visits)"):
        table.add_column(name, justify="right")
    for expected, errors in errors_of_estimates():
        table.add_row(f"{expected:g}", *(f"{100 * error:.0f} %" for error in errors))
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
