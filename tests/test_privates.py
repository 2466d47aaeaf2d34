"""Every private name of another package that is used here is in CONTRIBUTING.md, with its reason.

Found are: attributes (``engine._slot``, also ``self._rules`` where a base class of another package
has it), overridden methods of base classes, and imports of private modules and names.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
import scrapy

PROJECT = Path(__file__).parent.parent
PACKAGE = PROJECT / "crawlproject"
HEADING = "## Private names of other packages"
# Public, by the documentation of ``collections.namedtuple``.
NAMED_TUPLE = frozenset({"_replace", "_asdict", "_fields", "_make"})


class Class(NamedTuple):
    defined: set[str]
    bases: list[str]


def is_private(name: str) -> bool:
    return (
        name.startswith("_")
        and name.strip("_") != ""
        and not (name.startswith("__") and name.endswith("__"))
        and name not in NAMED_TUPLE
    )


def defined_in(tree: ast.AST) -> set[str]:
    """The private names that a module or class defines, attributes of ``self`` among them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), ctx=ast.Store()):
                names.add(node.attr)
            case _:
                pass
    return set(filter(is_private, names))


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def classes() -> dict[str, list[Class]]:
    """The classes of the package by name. Those of the same name are taken for one."""
    found: dict[str, list[Class]] = {}
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
                names = [base.rpartition(".")[2] for base in bases]
                found.setdefault(node.name, []).append(Class(defined_in(node), names))
    return found


def inherited(name: str) -> set[str]:
    """The private names that a class of the package and its bases in the package define."""
    names: set[str] = set()
    waiting, met = [name], set()
    while waiting:
        current = waiting.pop()
        if current not in met:
            met.add(current)
            for one in classes().get(current, []):
                names |= one.defined
                waiting += one.bases
    return names


@cache
def names_of_scrapy() -> set[str]:
    """The private names that classes of Scrapy define."""
    names: set[str] = set()
    for path in Path(scrapy.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                names |= defined_in(node)
    return names


class Finder(ast.NodeVisitor):
    def __init__(self, tree: ast.Module) -> None:
        self.found: set[str] = set()
        # The names of the module's classes: one object may use those of another.
        self._module = set().union(
            *(defined_in(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        )
        # What each class around has, its own bases' among it.
        self._classes: list[set[str]] = []
        self.visit(tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(defined_in(node) | inherited(node.name))
        self.generic_visit(node)
        self._classes.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        if not is_private(node.attr):
            return
        match node.value:
            case ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")):
                own = set().union(*self._classes)
            case ast.Name():
                own = self._module
            case _:
                # An attribute of an attribute is seldom of the same class.
                own = self._module - names_of_scrapy()
        if node.attr not in own:
            self.found.add(node.attr)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr" | "delattr"),
                args=[_, ast.Constant(value=str(name)), *_],
            ) if is_private(name) and name not in self._module:
                self.found.add(name)
            case _:
                pass

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value in names_of_scrapy() - self._module:
            self.found.add(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        self.generic_visit(node)
        if node.arg and is_private(node.arg):
            self.found.add(node.arg)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if module.partition(".")[0] == "crawlproject":
            return
        self.found |= set(filter(is_private, module.split(".")))
        self.found |= {alias.name for alias in node.names if is_private(alias.name)}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.found |= set(filter(is_private, alias.name.split(".")))


@cache
def defined_by(kind: type) -> set[str]:
    """The private names that a class defines, attributes of its instances among them."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):  # of C
        return set(filter(is_private, vars(kind)))
    return defined_in(ast.parse(source))


def overridden(path: Path) -> set[str]:
    """The private names of other packages' classes that subclasses in a module define again."""
    names: set[str] = set()
    parts = path.relative_to(PROJECT).with_suffix("").parts
    for node in trees()[path].body:
        if isinstance(node, ast.ClassDef) and node.bases and path.name != "__main__.py":
            kind = getattr(import_module(".".join(parts)), node.name)
            for base in inspect.getmro(kind)[1:]:
                package = base.__module__.partition(".")[0]
                if package != "crawlproject" and package not in sys.stdlib_module_names:
                    names |= defined_in(node) & defined_by(base)
    return names


@cache
def used() -> dict[str, set[str]]:
    """The private names that each module uses."""
    found = {
        str(path.relative_to(PACKAGE)): Finder(tree).found | overridden(path)
        for path, tree in trees().items()
    }
    return {module: names for module, names in found.items() if names}


@cache
def listed() -> dict[str, tuple[set[str], str]]:
    """The private names and the reason for each module in CONTRIBUTING.md."""
    section = (PROJECT / "CONTRIBUTING.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w/]+\.py)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    return {module: (set(re.findall(r"`(\w+)`", names)), reason) for module, names, reason in rows}


def test_the_table_lists_what_is_used_and_nothing_else() -> None:
    assert {module: names for module, (names, _) in listed().items()} == used()


@pytest.mark.parametrize("module", sorted(listed()))
def test_each_has_a_reason(module: str) -> None:
    assert len(listed()[module][1].split()) >= 5


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(engine): return engine._slot", {"_slot"}),
        ("def f(engine): engine._slot = None", {"_slot"}),
        ("def f(engine): return getattr(engine, '_slot')", {"_slot"}),
        ("class A(B):\n    def f(self): return self._rules", {"_rules"}),
        ("class A(B):\n    def f(self): return super()._rules()", {"_rules"}),
        ("class A:\n    def f(self): self._own = 1\n    def g(self): return self._own", set()),
        ("class A:\n    _own = 1\n    def f(self, other): return other._own", set()),
        ("def _slot(): pass\ndef f(engine): return engine._slot", {"_slot"}),
        ("class A:\n    def _slot(self): return self.engine._slot", {"_slot"}),
        ("NAMES = ('_slot', '_of_nobody')", {"_slot"}),
        ("def f(pair): return pair._replace(a=1), pair.__class__", set()),
        ("ensure_awaitable(1, _warn='f')", {"_warn"}),
        ("from scrapy.utils.defer import _schedule_coro", {"_schedule_coro"}),
        ("from scrapy.core.handlers._aiohttp import Handler", {"_aiohttp"}),
        ("import re._parser", {"_parser"}),
        ("from crawlproject.urls import _anything", set()),
    ],
)
def test_such_uses_are_found(source: str, names: set[str]) -> None:
    assert Finder(ast.parse(source)).found == names
