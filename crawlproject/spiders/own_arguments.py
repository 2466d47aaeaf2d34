"""Spider arguments of a subclass's own: parameters of its ``__init__``, and its attributes.

As in Scrapy, ``-a category=x`` is passed to ``__init__``, or becomes an attribute. Scrapy takes any
name; here a name has to be declared, so that a typing error does not go unnoticed.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def declared_arguments(cls: type, base: type) -> set[str]:
    """The names that classes below ``base`` declare."""
    parameters = {parameter.name for parameter in _parameters(cls, base)}
    return parameters | set(_attributes(cls, base))


def check_required(cls: type, base: type, given: Mapping[str, Any]) -> None:
    """Raise BadArgument for one that is needed and missing."""
    for parameter in _parameters(cls, base):
        name = parameter.name
        if parameter.default is Parameter.empty and name not in given:
            raise BadArgument(name, f"missing: {cls.__name__} needs it, as in -a {name}=…")


def _parameters(cls: type, base: type) -> Iterator[Parameter]:
    inherited = signature(base.__init__).parameters  # type: ignore[misc]
    for one in _below(cls, base):
        if (init := vars(one).get("__init__")) is not None:
            _, *parameters = signature(init).parameters.values()
            for parameter in parameters:
                if parameter.kind in _NAMED and parameter.name not in inherited:
                    yield parameter


def _attributes(cls: type, base: type) -> Iterator[str]:
    for one in _below(cls, base):
        values = vars(one)
        for name in values.keys() | values.get("__annotations__", {}).keys():
            value = values.get(name)
            is_method = callable(value) or isinstance(value, classmethod | staticmethod | property)
            if not name.startswith("_") and not is_method and not hasattr(base, name):
                yield name


def _below(cls: type, base: type) -> tuple[type, ...]:
    return cls.__mro__[: cls.__mro__.index(base)]
