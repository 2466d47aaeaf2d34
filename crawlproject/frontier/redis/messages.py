"""What workers tell the committer, as values in a list in Redis. Pure.

| kind | body |
|---|---|
| ``answer`` | id, what came of it (``answers.py``); and what its page is compared by |
| ``admit`` | candidates (url, reason, request), depth |
| ``item`` | kind, record, url |
| ``note`` | name, value |
| ``join`` | name, texts that join those in the note |
| ``repair`` | id, of which what a worker has to know is not ours any more |
| ``mend`` | nothing: keys were moved aside, of which all that is known is made again |
| ``free_links`` | |
| ``reconsider`` | reason |
| ``rejudge`` | reasons that last |
| ``retry`` | whether what has failed, and what was denied, is tried again too |
| ``revisit`` | now; before when what is visited again was visited, or nothing: what is due |
| ``round`` | a mode; now; when the run began that wants a round of visits |
| ``end_visits`` | nothing: what is to be visited again, and is not on its way, stays as it is |
| ``settle`` | now: links may have gone |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.frontier.redis.blocks import Malformed, packed, unpacked
from crawlproject.items import Content

if TYPE_CHECKING:
    from collections.abc import Callable

# Of what pages are compared by, the first bytes.
HASH_BYTES = 32
_LENGTH_BYTES = 4
_OBJECTS = (dict, type(None))
# No time is further away.
_LARGEST = 1e16


class Message(NamedTuple):
    kind: str
    body: list[Any]
    content: Content | None = None


def to_bytes(kind: str, *body: Any, content: Content | None = None) -> bytes:
    beside = b""
    if content is not None:
        sign = content.signature
        beside = content.hash + ((sign() if callable(sign) else sign) or b"")
    text = packed([kind, *body])
    return len(text).to_bytes(_LENGTH_BYTES, "little") + text + beside


def from_bytes(data: bytes) -> Message:
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    beside = data[_LENGTH_BYTES + length :]
    value = unpacked(data[_LENGTH_BYTES : _LENGTH_BYTES + length])
    if not isinstance(value, list) or not value or value[0] not in _CHECKS:
        raise Malformed("no message")
    kind, *body = value
    if not _CHECKS[kind](body):
        raise Malformed(f"no message of the kind {kind!r}")
    content = None
    if beside:
        if len(beside) < HASH_BYTES:
            raise Malformed("half a hash")
        content = Content(beside[:HASH_BYTES], beside[HASH_BYTES:] or None)
    return Message(kind, body, content)


def _are(*types: type) -> Callable[[list[Any]], bool]:
    return lambda body: (
        len(body) == len(types)
        and all(type(value) is one for value, one in zip(body, types, strict=True))
    )


def _is_admission(body: list[Any]) -> bool:
    return (
        _are(list, int)(body)
        and body[1] >= 0
        and all(
            isinstance(one, list)
            and len(one) == 3
            and type(one[0]) is str
            and all(map(_is_text, one[1:]))
            for one in body[0]
        )
    )


def _is_answer(answer: dict[str, Any]) -> bool:
    found, records = answer.get("found"), answer.get("records")
    return (
        isinstance(found, list)
        and all(isinstance(one, list) and _is_found(one) for one in found)
        and isinstance(records, list)
        and all(isinstance(one, list) and _are(str, dict)(one) for one in records)
        and all(_is_text(answer.get(name)) for name in ("skip", "redirect"))
        and all(type(answer.get(name)) in _OBJECTS for name in ("redirect_answer", "stored"))
        and all(type(answer.get(name)) is bool for name in ("failed", "is_unchanged", "is_gone"))
        and _are_texts(answer.get("nested"))
        and _is_visit(answer.get("visit"))
        and isinstance(hints := answer.get("hints"), dict)
        and all(type(hint) is dict for hint in hints.values())
        # Workers of an earlier version send none.
        and isinstance(requests := answer.get("requests", {}), dict)
        and all(type(request) is str for request in requests.values())
        # These the committer finds out itself.
        and answer.get("before") is answer.get("found_changed") is None
    )


def _is_visit(visit: Any) -> bool:
    if visit is None:
        return True
    if not isinstance(visit, list) or len(visit) != 6:
        return False
    at, etag, last_modified, modified_at, fresh_until, reading = visit
    return (
        _is_number(at)
        and _is_text(etag)
        and _is_text(last_modified)
        and all(one is None or _is_number(one) for one in (modified_at, fresh_until))
        and type(reading) is int
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _LARGEST


def _is_found(one: list[Any]) -> bool:
    return len(one) == 2 and type(one[0]) is str and _is_text(one[1])


def _is_text(value: Any) -> bool:
    return value is None or type(value) is str


def _is_item(body: list[Any]) -> bool:
    return len(body) == 3 and type(body[0]) is str and type(body[1]) is dict and _is_text(body[2])


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is str for value in values)


_CHECKS: dict[str, Callable[[list[Any]], bool]] = {
    "answer": lambda body: _are(int, dict)(body) and _is_answer(body[1]),
    "admit": _is_admission,
    "item": _is_item,
    "note": _are(str, str),
    "join": lambda body: _are(str, list)(body) and _are_texts(body[1]),
    "repair": _are(int),
    "mend": _are(),
    "free_links": _are(),
    "reconsider": _are(str),
    "rejudge": lambda body: len(body) == 1 and _are_texts(body[0]),
    "retry": _are(bool, bool),
    "revisit": lambda body: (
        len(body) == 2 and _is_number(body[0]) and (body[1] is None or _is_number(body[1]))
    ),
    "round": lambda body: (
        len(body) == 3 and type(body[0]) is str and _is_number(body[1]) and _is_number(body[2])
    ),
    "end_visits": _are(),
    "settle": lambda body: len(body) == 1 and _is_number(body[0]),
}
