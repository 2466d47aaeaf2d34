"""The lines of a robots.txt, and those that apply to one crawler. *Pure.*

A file of a megabyte can name so many crawlers that the rules of all of them fill the memory. One
crawler needs its own only: the groups with its product token (RFC 9309, 2.2.1), or else those for
all.

A line that is neither ``User-agent`` nor a rule changes nothing about the lines around it
(RFC 9309, 2.2.4); a line ends with CR, LF or both, and with nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# More than the RFC has: 'Disallow /x', 'User agent: x', and how people spell it.
_END_OF_FIELD = r"(?:[^\S\n]*(?P<colon>:)|[^\S\n]|$)(?P<value>[^#\n]*)"
_USER_AGENT = re.compile(
    rf"^[^\S\n]*user(?:-|[^\S\n]*)agent{_END_OF_FIELD}", re.IGNORECASE | re.MULTILINE
)
_RULE = re.compile(
    r"^[^\S\n]*(?P<field>allow|dis(?:allow|sallow|salow|alow|allaw)|diasllow"
    rf"|(?:crawl[- ]delay|request[- ]rate|visit[- ]time)){_END_OF_FIELD}",
    re.IGNORECASE | re.MULTILINE,
)
# Bytes that are no UTF-8, as Python carries them along.
_STRAY_BYTES = re.compile("[\udc80-\udcff]+")
_PRODUCT = re.compile(r"[a-z_-]+")
_EVERYBODY = "*"


def cut(body: bytes, most_bytes: int) -> bytes:
    """The lines that fit. Half a rule may allow more than the whole one."""
    if len(body) <= most_bytes:
        return body
    body = body[: most_bytes + 1]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r"), 0)]


def excerpt(body: bytes, token: str) -> str:
    """The same file with one group only, which is ours."""
    head, name, lines = _own_group(body, token)
    return f"{head}User-agent: {name}\n{lines}" if lines else head


def rules_for(body: bytes, token: str) -> Iterator[tuple[str, str]]:
    """Every rule with a value that applies to us: its field (``allow``, ``disallow``,
    ``crawl-delay`` …) and the value.
    """
    for match in _RULE.finditer(_own_group(body, token)[2]):
        value = match["value"].strip()
        if match["colon"] is None:
            value = " ".join(value.split())
        if value:
            field = match["field"].lower().replace(" ", "-")
            yield "disallow" if field.startswith("di") else field, value


def _own_group(body: bytes, token: str) -> tuple[str, str, str]:
    """The lines before the first group; whom the groups that apply to us name, and their lines."""
    text = _decoded(body)
    token = token.lower()
    ours: list[str] = []
    everybodys: list[str] = []
    names: set[str | None] = set()
    is_named = False
    matches = [*_USER_AGENT.finditer(text)]
    ends = [*(match.start() for match in matches), len(text)]
    for match, end in zip(matches, ends[1:], strict=True):
        names.add(_name(match["value"], token))
        is_named = is_named or token in names
        if not _RULE.search(text, match.end(), end):
            # The next name belongs to the same group.
            continue
        lines = text[match.end() : end]
        if token in names:
            ours.append(lines)
        if _EVERYBODY in names:
            everybodys.append(lines)
        names.clear()
    name, groups = (token, ours) if is_named else (_EVERYBODY, everybodys)
    return text[: ends[0]], name, "".join(groups)


def _decoded(body: bytes) -> str:
    text = body.decode("utf-8-sig", "surrogateescape")
    # A path in another encoding is asked for as these bytes, percent-encoded.
    text = _STRAY_BYTES.sub(_percent_encoded, text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _percent_encoded(found: re.Match[str]) -> str:
    return f"%{found[0].encode('utf-8', 'surrogateescape').hex('%').upper()}"


def _name(value: str, token: str) -> str | None:
    """Whom a line names: us by our token, everybody. None: somebody else."""
    name = value.strip().lower()
    if name == _EVERYBODY:
        return _EVERYBODY
    return token if name and _product(name) == _product(token) else None


def _product(name: str) -> str:
    """'acmebot' of 'acmebot/1.0' and of 'acmebot*'."""
    match = _PRODUCT.match(name)
    return match[0] if match else name
