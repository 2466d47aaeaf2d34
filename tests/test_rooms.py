"""The order of the rooms: each imports only from itself and from earlier ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "crawlproject"

# What every room may use, then the rooms in the order of a URL's way, then who looks on.
COMMON = (
    "compressed",
    "errors",
    "extras",
    "failures",
    "items",
    "moments",
    "page_adapter",
    "printable",
    "private_files",
    "receivers",
    "records",
    "redaction",
    "scrapy_compat",
    "spider_attributes",
    "sync_output",
)
ROOMS = (
    "urls",
    "scope",
    "sitemaps",
    "recrawl",
    "frontier",
    "politeness",
    "fetching",
    "render",
    "pages",
    "pipelines",
    "exports",
    "spiders",
    "monitoring",
    "report",
    "demo",
    "cluster",
    "commands",
    "api",
    "service",
    "fastpath",
)
OTHERS = {"__pycache__"}


def imported_rooms(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    names = {module.split(".")[1] for module in modules if module.startswith("crawlproject.")}
    return names & {*ROOMS, *OTHERS}


def test_every_folder_is_a_room_with_a_place_in_the_order() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert folders - OTHERS == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_earlier_ones(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    for path in (PACKAGE / room).rglob("*.py"):
        assert imported_rooms(path) <= allowed, path


@pytest.mark.parametrize("name", COMMON)
def test_what_all_rooms_share_imports_none_of_them(name: str) -> None:
    assert imported_rooms(PACKAGE / f"{name}.py") == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_for(room: str) -> None:
    assert ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text()))


PURE = (
    "urls/canonical.py",
    "urls/charset.py",
    "urls/sessions.py",
    "urls/tame.py",
    "urls/huge.py",
    "urls/patterns.py",
    "urls/regex_syntax.py",
    "scope/scope.py",
    "scope/internal.py",
    "scope/traps.py",
    "scope/dates.py",
    "scope/shape.py",
    "recrawl/headers.py",
    "sitemaps/hints.py",
    "sitemaps/dates.py",
    "sitemaps/pieces.py",
    "sitemaps/encoded.py",
    "sitemaps/mending.py",
    "sitemaps/entry.py",
    "sitemaps/outline.py",
    "sitemaps/lines.py",
    "sitemaps/gathering.py",
    "sitemaps/read.py",
    "recrawl/importance.py",
    "recrawl/interval.py",
    "recrawl/priority.py",
    "recrawl/visit.py",
    "frontier/base.py",
    "frontier/hosts.py",
    "frontier/entry.py",
    "frontier/budget.py",
    "frontier/census.py",
    "frontier/comparing.py",
    "frontier/graph.py",
    "frontier/settling.py",
    "frontier/levels.py",
    "frontier/redirects.py",
    "frontier/redis/fed.py",
    "fetching/decoding.py",
    "fetching/http1.py",
    "fetching/leniency.py",
    "politeness/excerpt.py",
    "politeness/retry_after.py",
    "pages/names.py",
    "pages/values.py",
    "pages/lenient_json.py",
    "pages/json_ld.py",
    "pages/words.py",
    "pages/shingles.py",
    "pages/signatures/__init__.py",
    "pages/signatures/builtin.py",
    "pages/signatures/datasketch.py",
    "pipelines/bands.py",
    "pipelines/firsts.py",
    "spiders/values.py",
    "api/order.py",
    "exports/cells.py",
    "exports/lastmod.py",
    "exports/columns.py",
    "exports/warc_text.py",
    "monitoring/rounds.py",
    "monitoring/tally.py",
    "monitoring/times.py",
    "report/conflicts.py",
    "report/known.py",
    "report/lists.py",
    "report/pace.py",
    "report/packing.py",
    "report/page_columns.py",
    "report/shape.py",
    "report/sources.py",
    "report/structured.py",
    "report/values.py",
    "service/outcome.py",
    "monitoring/line.py",
    "monitoring/snapshot.py",
    "monitoring/well_formed.py",
    "monitoring/history.py",
    "monitoring/journal.py",
    "monitoring/host_looks.py",
    "monitoring/metrics.py",
    "report/diff/fields.py",
    "report/diff/facts.py",
    "report/diff/comparing.py",
    "report/diff/merge.py",
    "report/diff/words.py",
    "report/diff/html_rows.py",
)


@pytest.mark.parametrize("module", PURE)
def test_a_pure_module_knows_neither_scrapy_nor_a_clock(module: str) -> None:
    imports = {
        name.split(".")[0]
        for node in ast.walk(ast.parse((PACKAGE / module).read_text()))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert not imports & {"scrapy", "twisted", "asyncio", "time", "socket", "os"}


@pytest.mark.parametrize(
    ("folder", "others"),
    [
        ("frontier/redis", {"keys", "__init__"}),
        ("service", {"__main__", "__init__"}),
        ("report/diff", {"__init__"}),
    ],
)
def test_every_module_of_a_large_folder_is_on_its_map(folder: str, others: set[str]) -> None:
    place = PACKAGE / folder
    said = ast.get_docstring(ast.parse((place / "__init__.py").read_text())) or ""
    on_map = set(re.findall(r"``([a-z_]+)``", said))
    assert on_map | others == {path.stem for path in place.glob("*.py")}
