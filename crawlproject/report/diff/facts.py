"""A page, reduced to what is compared and shown, and checked. *Pure.*

What is left out of a page, is empty or is null says the same: nothing. Texts may be anything that a
pipeline has made of them; they are compared as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.records import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

Facts = dict[str, Any]

_TEXTS = ("title", "description", "language", "canonical", "content_type", "headings")
_NUMBERS = ("status_code", "depth", "bytes")
# What is always needed: to show a page, and to find out what became of it.
_ALWAYS = frozenset(
    ("error", "status_code", "title", "depth", "redirected_from", "content_hash", "bytes")
)
_STR = frozenset({str})
_INT = frozenset({int, type(None)})


class BadFacts(ValueError):
    """What is wrong with a page, in words."""


class Reduced:
    """Reduces pages. What is ignored is not even checked."""

    def __init__(self, ignored: frozenset[str]) -> None:
        def is_wanted(name: str) -> bool:
            return name in _ALWAYS or name not in ignored

        self.with_links = "links" not in ignored
        self._texts = tuple(filter(is_wanted, (*_TEXTS, "referrer")))
        self._with_noindex = is_wanted("noindex")

    def __call__(self, record: Any) -> Facts:
        """Raises BadFacts."""
        if type(record) is not dict:
            raise BadFacts(f"a page must be an object, and is {shown(record)}")
        url = record.get("url")
        if type(url) is not str or not url:
            raise BadFacts('a page must have a "url", which is a text')
        get = record.get
        facts: Facts = {"url": url if url.isascii() else encodable(url)}
        for name in _NUMBERS:
            value = facts[name] = get(name)
            if type(value) not in _INT:
                raise _wrong(name, "a whole number, or null", value)
        facts["error"] = _text(get, "error")
        facts["content_hash"] = _text(get, "content_hash")
        for name in self._texts:
            facts[name] = get(name) or None
        facts["redirected_from"] = _list(get, "redirected_from")
        if self.with_links:
            facts["links"] = _list(get, "links")
        if self._with_noindex:
            facts["noindex"] = bool(get("noindex"))
        return facts


def is_fine(facts: Facts) -> bool:
    return facts["error"] is None


def shown(value: object) -> str:
    """A value of a stranger's, short enough for a line."""
    text = repr(value)
    return text if len(text) <= 50 else f"{text[:50]}…"


def _text(get: Callable[[str], Any], name: str) -> str | None:
    value = get(name) or None
    if value is not None and type(value) is not str:
        raise _wrong(name, "a text, or null", value)
    return value


def _list(get: Callable[[str], Any], name: str) -> list[str]:
    value = get(name)
    if value is None:
        return []
    if type(value) is not list or not _STR.issuperset(map(type, value)):
        raise _wrong(name, "a list of texts", value)
    return value


def _wrong(name: str, right: str, value: object) -> BadFacts:
    return BadFacts(f'"{name}" must be {right}, and is {shown(value)}')
