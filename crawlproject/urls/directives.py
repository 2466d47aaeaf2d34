"""What a page asks of crawlers: ``<meta name=robots>`` and the X-Robots-Tag header.

Directives for all crawlers and those for ``token``, the name a crawler goes by, add up:
the stricter word counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from crawlproject.urls.document import reading_of, survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

_USUAL_LENGTH = 200
# Characters of one list of directives.
_LONGEST = 10_000
# Directives that carry a value, where ``name:`` does not name a crawler.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


# 'Mozilla/5.0 (compatible; acmebot/1.0; …)' is acmebot; else the first word speaks.
_COMPATIBLE = re.compile(r"compatible;\s*([A-Za-z_-]+)")
_FIRST_WORD = re.compile(r"[A-Za-z_-]+")


def product_token(user_agent: str) -> str:
    """The name that robots.txt and robots directives know a crawler by (RFC 9309, 2.2.1)."""
    found = _COMPATIBLE.search(user_agent) or _FIRST_WORD.match(user_agent.strip())
    return found[found.re.groups] if found else user_agent


def robots_directives(response: Response, token: str | None = None) -> frozenset[str]:
    """The directives in lower case; ``none`` is given as what it means: noindex, nofollow."""
    reading = reading_of(response)
    # Asked for twice a page: for its links, and for the page itself.
    if reading.directives is None or reading.directives[0] != token:
        reading.directives = token, _read_directives(response, token)
    return reading.directives[1]


def _read_directives(response: Response, token: str | None) -> frozenset[str]:
    agents = {"robots"} if token is None else {"robots", token.lower()}
    found: set[str] = set()
    for header in response.headers.getlist("X-Robots-Tag"):
        found.update(_from_header(header.decode("latin-1").lower(), agents))
    if isinstance(response, HtmlResponse):
        for attributes in survey(response).metas():
            name = attributes.get("name")
            if name and name.strip().lower() in agents:
                found.update(_split(attributes.get("content") or ""))
    if "none" in found:
        found.discard("none")
        found.update(("noindex", "nofollow"))
    return frozenset(found)


def page_nofollow(response: Response, token: str | None = None) -> bool:
    """Whether the page asks that none of its links be followed."""
    return "nofollow" in robots_directives(response, token)


def _from_header(value: str, agents: set[str]) -> Iterator[str]:
    # ``one: noindex, nofollow, two: none`` — a name counts until the next one.
    meant = True
    for part in value.split(","):
        directive = part.strip()
        name, colon, rest = directive.partition(":")
        if colon and (name := name.strip()) not in _VALUED:
            meant = name in agents
            directive = rest
        if meant:
            yield from _split(directive)


def _split(content: str) -> tuple[str, ...]:
    return _split_usual(content) if len(content) <= _USUAL_LENGTH else _split_any(content)


def _split_any(content: str) -> tuple[str, ...]:
    directives = []
    for part in content[:_LONGEST].lower().split(","):
        name, colon, value = part.partition(":")
        if directive := f"{name.strip()}{colon}{value.strip()}":
            directives.append(directive)
    return tuple(directives)


# A site says the same on most of its pages.
_split_usual = lru_cache(maxsize=256)(_split_any)
