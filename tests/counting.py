"""Count the work of a call: bytecode instructions, and characters seen by text methods."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

# Methods that read the whole text.
_WHOLE = (
    *(
        "split",
        "rsplit",
        "splitlines",
        "partition",
        "rpartition",
        "replace",
        "strip",
        "lstrip",
        "rstrip",
    ),
    *(
        "lower",
        "upper",
        "title",
        "casefold",
        "translate",
        "encode",
        "decode",
        "expandtabs",
        "swapcase",
    ),
    *("isascii", "isprintable", "isalnum", "isalpha", "isdigit", "isdecimal", "isspace", "join"),
)
# Methods that read from a position up to what they find.
_FINDING = ("find", "index", "count", "rfind", "rindex")


class Work:
    """The work since it was created."""

    instructions = 0
    characters = 0

    @property
    def all(self) -> int:
        return self.instructions + self.characters


_work = Work()


def counted(call: Callable[[], Any]) -> int:
    """The work of a call: instructions of all frames below it, characters of counted texts."""
    global _work
    work = _work = Work()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            work.instructions += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return work.all


def _wrapped(value: Any) -> Any:
    if type(value) is str:
        return CountedStr(value)
    if type(value) is bytes:
        return CountedBytes(value)
    if type(value) in (list, tuple):
        return type(value)(map(_wrapped, value))
    return value


def _seeing_all(base: type, name: str) -> Any:
    method = getattr(base, name)

    def call(self: Any, *args: Any, **options: Any) -> Any:
        _work.characters += len(self)
        return _wrapped(method(self, *args, **options))

    return call


def _seeing_some(base: type, name: str) -> Any:
    method = getattr(base, name)

    def call(self: Any, sought: Any, start: int = 0, end: int | None = None) -> Any:
        first, last, _ = slice(start, end).indices(len(self))
        found = method(self, sought, first, last)
        seen = max(last - first, 0)
        if name in ("find", "index") and found >= 0:
            seen = found - first
        elif name in ("rfind", "rindex") and found >= 0:
            seen = last - found
        _work.characters += seen
        return found

    return call


def _methods(base: Any) -> dict[str, Any]:
    def item(self: Any, key: Any) -> Any:
        found = base.__getitem__(self, key)
        if isinstance(key, slice):
            _work.characters += len(found)
        return _wrapped(found)

    def contains(self: Any, sought: Any) -> bool:
        # Up to where it is.
        place = base.find(self, sought)
        _work.characters += len(self) if place < 0 else place
        return bool(place >= 0)

    def add(self: Any, other: Any) -> Any:
        _work.characters += len(self) + len(other)
        return _wrapped(base.__add__(self, other))

    def added(self: Any, other: Any) -> Any:
        _work.characters += len(self) + len(other)
        return _wrapped(base.__add__(other, self))

    found: dict[str, Any] = {name: _seeing_some(base, name) for name in _FINDING}
    found |= {name: _seeing_all(base, name) for name in _WHOLE if hasattr(base, name)}
    special = {"__getitem__": item, "__contains__": contains, "__add__": add, "__radd__": added}
    return found | special


CountedStr = type("CountedStr", (str,), _methods(str))
CountedBytes = type("CountedBytes", (bytes,), _methods(bytes))
