"""The docs tell the truth: every name is in the code, and the examples run."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from crawlproject import settings
from crawlproject.items import Page
from crawlproject.monitoring.tally import BROKEN, outcome_of
from crawlproject.spiders.arguments import ARGUMENTS
from tests.crawling import PROJECT, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DOCS = PROJECT / "docs"


def first_cells(document: str) -> list[str]:
    """The names in the first column of the tables of a document."""
    rows = re.findall(r"^\| (`[^|]+`) \|", (DOCS / document).read_text(), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    defined = {name for name in vars(settings) if name.isupper() and name != "TYPE_CHECKING"}
    defined.discard("DEFAULT_TRACKING_PARAMS")
    assert set(first_cells("settings.md")) == defined


def test_every_argument_is_documented_with_its_setting() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \|.*\| (`[A-Z_`, ]+`) \|$", (DOCS / "usage.md").read_text(), re.MULTILINE
    )
    assert {name: cell.split("`")[1] for name, cell in rows} == {
        name: argument.setting for name, argument in ARGUMENTS.items()
    }


def test_the_fields_of_a_page_are_what_the_docs_promise() -> None:
    """Names, types and order: who changes one tells those who rely on it."""
    rows = re.findall(
        r"^\| `(\w+)` \| `((?:[^`|]|\\\|)+)` \|", (DOCS / "pages.md").read_text(), re.MULTILINE
    )
    promised = [(name, kind.replace("\\|", "|")) for name, kind in rows]
    assert promised == [(field.name, field.type) for field in fields(Page)]


def stats_in_code() -> Iterator[str]:
    for path in (PROJECT / "crawlproject").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"inc_value", "set_value", "max_value", "min_value"}
            ):
                key = node.args[0]
                parts = key.values if isinstance(key, ast.JoinedStr) else [key]
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "<>" for part in parts
                )


def test_every_stat_is_documented_and_every_documented_one_exists() -> None:
    documented = {re.sub(r"<\w+>", "<>", name) for name in first_cells("stats.md")}
    assert documented == set(stats_in_code())


def examples(tmp_path: Path) -> None:
    """The Python examples of extending.md, as the files they say they are."""
    for name, code in re.findall(
        r"```python\n# (\S+\.py)\n(.*?)```", (DOCS / "extending.md").read_text(), re.DOTALL
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(code)


def crawl(server: Site, cwd: Path, *options: str, spider: str = "site") -> list[dict[str, object]]:
    command = ["crawl", spider, "-a", f"seed={server.url()}", "-O", "s.json", *options]
    result = scrapy(*command, cwd=cwd, PYTHONPATH=f"{PROJECT}:{cwd}")
    assert result.returncode == 0, result.stderr
    document = json.loads((cwd / "s.json").read_text())
    pages: list[dict[str, object]] = document["pages"]
    return [*pages, *document.get("items", [])]


def test_the_pipeline_of_the_docs_adds_a_field_and_drops_pages(
    site: SiteFactory, tmp_path: Path
) -> None:
    examples(tmp_path)
    server = site(
        {
            "pages": {
                "/": {"links": ["/long", "/none", "/search"], "title": "Home"},
                "/long": {"title": "x" * 61},
                "/none": {"body": "<p>no title"},
                "/search": {"links": ["/behind"]},
                "/behind": {"title": "Behind"},
            }
        }
    )
    pipelines = 'ITEM_PIPELINES={"acme.pipelines.TitleCheck": 300}'
    pages = crawl(server, tmp_path, "-s", pipelines)
    assert {str(page["url"]): page.get("title_problem") for page in pages} == {
        server.url("/"): None,
        server.url("/long"): "too long",
        server.url("/none"): "missing",
        server.url("/behind"): None,
    }


def test_the_gatekeeper_of_the_docs_denies(site: SiteFactory, tmp_path: Path) -> None:
    examples(tmp_path)
    server = site({"pages": {"/": {"links": ["/a.pdf"]}, "/a.pdf": {}}})
    pages = crawl(server, tmp_path, "-s", "FRONTIER_GATEKEEPER=acme.gate.NoPdf")
    assert [page.get("error") for page in pages] == [None, "no PDF: our own rule"]
    assert server.paths() == ["/"]


def test_what_the_gatekeeper_of_the_docs_denies_is_counted_apart(
    site: SiteFactory, tmp_path: Path
) -> None:
    examples(tmp_path)
    server = site({"pages": {"/": {"links": ["/a.pdf"]}, "/a.pdf": {}}})
    options = ("-a", f"seed={server.url()}", "-s", "FRONTIER_GATEKEEPER=acme.gate.NoPdf")
    result = scrapy("crawl", "site", *options, cwd=tmp_path, PYTHONPATH=f"{PROJECT}:{tmp_path}")
    assert ": 1 fine, 1 refused (no PDF).\n" in result.stderr
    assert "Broken pages" not in result.stderr


def test_the_spider_of_the_docs_yields_items_of_its_own(site: SiteFactory, tmp_path: Path) -> None:
    examples(tmp_path)
    server = site({"pages": {"/": {"body": "<h1>One</h1><h1>Two</h1>"}}})
    records = crawl(server, tmp_path, "-s", "SPIDER_MODULES=acme.spiders", spider="headings")
    assert records[1] == {"page": server.url("/"), "h1": ["One", "Two"]}


def test_the_spider_of_the_docs_makes_requests_of_its_own(
    site: SiteFactory, tmp_path: Path
) -> None:
    examples(tmp_path)
    server = site(
        {
            "pages": {
                "/": {"body": "<p data-sku=7>Seven"},
                "/api/price?sku=7": {"body": '{"price": 3}', "content_type": "application/json"},
            }
        }
    )
    records = crawl(server, tmp_path, "-s", "SPIDER_MODULES=acme.prices", spider="prices")
    assert records[1] == {"sku": "7", "price": 3}


@pytest.mark.parametrize(
    "document",
    sorted(
        path.relative_to(PROJECT).as_posix()
        for path in PROJECT.glob("**/*.md")
        # Not those of .venv and of caches.
        if not any(part.startswith(".") for part in path.relative_to(PROJECT).parts)
    ),
)
def test_links_between_documents_lead_somewhere(document: str) -> None:
    path = PROJECT / document
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target


ANSWERS = [
    (200, None),
    (404, "unexpected status 404"),
    (500, "unexpected status 500"),
    (401, "unexpected status 401"),
    (403, "unexpected status 403"),
    (429, "unexpected status 429"),
    (4010, "unexpected status 4010"),
    (403, "too large"),
    (None, "robots"),
    (None, "robots: unreachable"),
    (None, "timeout"),
    (None, "unreadable: not HTTP"),
]


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize(("status", "error"), ANSWERS)
def test_the_recipes_for_broken_links_find_what_the_summary_calls_broken(
    status: int | None, error: str | None, tmp_path: Path
) -> None:
    text = (DOCS / "usage.md").read_text()
    (shown,) = re.findall(r"^jq '(\.pages.*)' s\.json$", text, re.MULTILINE)
    (checked,) = re.findall(r"^jq -e '(.*)' s\.json$", text, re.MULTILINE)
    page = {"url": "https://site.example/", "status_code": status, "error": error}
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"pages": [page]}))
    is_broken = outcome_of(status, error) == BROKEN
    ended = subprocess.run(["jq", "-e", checked, path], capture_output=True, check=False)
    assert ended.returncode == is_broken
    ended = subprocess.run(["jq", "-c", shown, path], capture_output=True, check=True)
    assert bool(ended.stdout) is is_broken


def test_every_test_that_the_docs_name_is_there() -> None:
    text = (DOCS / "hostile.md").read_text().replace("`…::", "`tests/hostile/test_robots.py::")
    named = re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`", text)
    path, found = "", 0
    for new_path, test in named:
        # `::name` stands for a further test of the file before it.
        path = new_path or path
        if path and (new_path or test):
            found += 1
            assert not test or f"def {test}(" in (PROJECT / path).read_text(), (path, test)
    assert found > 80
