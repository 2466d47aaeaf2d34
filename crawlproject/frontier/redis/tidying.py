"""Keys of a crawl that have become something else: moved aside, so that the crawl goes on.

A key of a wrong type gets another name, ``aside:`` and its own; nothing in it is read. What it
had, the committer makes again as far as that is known elsewhere (the message ``mend``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redis.exceptions import ResponseError

from crawlproject.frontier.redis import messages
from crawlproject.frontier.redis.aside import Aside
from crawlproject.frontier.redis.forgetting import keys_of
from crawlproject.frontier.redis.keys import PAGED

if TYPE_CHECKING:
    from crawlproject.frontier.redis.scripts import Scripts

# By what is before the colon (``keys.py``).
_TYPES = {
    "string": ("committer", "redo", "applied", "e:", "n:"),
    "hash": (
        *("meta", "notes", "items", "tries", "due_at", "starts", "answers", "answered", "levels"),
        *("budgets", "sources", "x:", "h:", "robots:", "l:", "s:"),
        *(f"{name}:" for name in PAGED),
    ),
    "list": ("inbox", "aside"),
    "set": ("hosts", "levels:"),
    "zset": ("workers", "hungry", "due", "ready", "beyond", "q:", "r:"),
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names}


def move_wrong(scripts: Scripts) -> int:
    """Move the keys aside that are not of their type: how many."""
    moved = 0
    aside = Aside(scripts)
    for keys in keys_of(scripts):
        types = scripts.ask_all([("TYPE", _text(key)) for key in keys])
        for key, kind in zip(keys, types, strict=True):
            prefix, name = _parted(key)
            expected = type_of(_text(name))
            if expected is None or kind.decode() in (expected, "none"):
                continue
            _rename(scripts, key, prefix + b"aside:" + name)
            aside.put(_text(name), b"", f"the type {kind.decode()} instead of {expected}")
            moved += 1
    if moved:
        scripts.ask("RPUSH", "inbox", messages.to_bytes("mend"))
    return moved


def type_of(name: str) -> str | None:
    """What a key has to be, by its name without the prefix; None: it is none of ours."""
    first, colon, _ = name.partition(":")
    return _TYPE_OF.get(first + colon)


def _parted(key: bytes) -> tuple[bytes, bytes]:
    """The prefix of a key, and the rest."""
    before, braces, name = key.partition(b"}:")
    return before + braces, name


def _rename(scripts: Scripts, key: bytes, name: bytes) -> None:
    try:
        scripts.client.rename(key, name)
    except ResponseError as error:
        # Another worker has done it.
        if "no such key" not in str(error):
            raise


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
