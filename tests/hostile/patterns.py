"""Find every regular expression of the package, and how the package uses it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path
from types import BuiltinMethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import crawlproject

if TYPE_CHECKING:
    from collections.abc import Iterator

# Functions of ``re`` that take a pattern, most of them also methods of patterns.
COMPILING = frozenset(
    {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)


class Used(NamedTuple):
    """A pattern, where it is, and the methods that the package calls on it."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


@cache
def modules() -> dict[str, ModuleType]:
    found = pkgutil.walk_packages(crawlproject.__path__, "crawlproject.")
    names = [name for _, name, _ in found if not name.endswith("__main__")]
    return {name: importlib.import_module(name) for name in names}


@cache
def tree_of(module: str) -> ast.Module:
    file = modules()[module].__file__
    assert file is not None
    return ast.parse(Path(file).read_text())


@cache
def patterns() -> list[Used]:
    places: dict[int, str] = {}
    found: dict[int, re.Pattern[Any]] = {}
    methods: dict[int, set[str]] = {}
    for name, module in modules().items():
        for attribute, value in _values(module):
            for pattern, method in _patterns_in(value):
                found[id(pattern)] = pattern
                places.setdefault(id(pattern), f"{name}.{attribute}")
                used = methods.setdefault(id(pattern), set())
                used.update({method} if method else _methods(name, attribute))
    return [
        Used(places[key], found[key], frozenset(methods[key]))
        for key in sorted(found, key=places.__getitem__)
    ]


def _values(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, value in vars(module).items():
        yield name, value
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inner, attribute in vars(value).items():
                yield f"{name}.{inner}", attribute


def _patterns_in(value: Any) -> Iterator[tuple[re.Pattern[Any], str | None]]:
    """The patterns in a value; with the method if the value is a bound method."""
    if isinstance(value, re.Pattern):
        yield value, None
    elif isinstance(value, BuiltinMethodType) and isinstance(value.__self__, re.Pattern):
        yield value.__self__, value.__name__
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _patterns_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _patterns_in(inner)


def _methods(module: str, attribute: str) -> set[str]:
    """The methods that a module calls on a variable or on its items."""
    name = attribute.rpartition(".")[2]
    found: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        holder = node.func.value
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        if getattr(holder, "id", None) == name or getattr(holder, "attr", None) == name:
            # With a position: called again and again.
            is_scan = node.func.attr == "match" and len(node.args) > 1
            found.add("scan" if is_scan else node.func.attr)
    return found & (COMPILING | {"scan"})


def hidden() -> Iterator[tuple[str, str]]:
    """Functions that compile a pattern or use an uncompiled one, and the pattern."""
    for module in modules():
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in ast.walk(node):
                    if isinstance(call, ast.Call) and _is_of_re(call.func):
                        yield f"{module}.{node.name}", ast.unparse(call.args[0])


def _is_of_re(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in COMPILING
        and isinstance(called.value, ast.Name)
        and called.value.id in ("re", "regex")
    )
