"""A session that a site puts into its links: the page's own is kept. Pure.

Without cookies, some sites begin a new session with every answer, and write it into every
link: each page would be found again under as many URLs as there are pages that link to it,
without end. So where a page was asked for with one value of a parameter, and its links have
another one, the same in all of them, they are followed with the page's. Then all that is
found from one page on has one session.

What such a parameter is called says little; the known ones are dropped (``canonical.py``).
What is given away by a page with several links holds for those of its host that have few.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlproject.urls.canonical import host_of
from crawlproject.urls.link_bounds import MAX_LINK_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable

# ``?name=value``, ``;name=value`` and ASP.NET's ``/(S(value))/``, which is called ``(S``.
_PARAM = re.compile(r"(?:[?&;]([^=&;/?]+)=|/(\([A-Z])\()([^&;/)]*)")
_LEAST_LENGTH = 5
# Links by which a page gives a session away, and which part of all on its host they must be.
_LEAST_LINKS = 3
_LEAST_PART = 0.8
_REMEMBERED = 10_000


class Sessions:
    def __init__(self) -> None:
        # Parameters that are one, by host.
        self._known: set[tuple[str, str]] = set()

    def kept(self, page: str, links: Iterable[str]) -> dict[str, str]:
        """The links of a page that have another session than the page, and what they are then."""
        params = _params(page)
        if not params:
            return {}
        host = host_of(page)
        own = {
            name: value
            for name, value in params.items()
            if _is_random(value) or (host, name) in self._known
        }
        if not own:
            return {}
        near = {link: _params(link) for link in links if host_of(link) == host}
        kept: dict[str, str] = {}
        # A long session of the page would be in each of its links.
        room = MAX_LINK_CHARACTERS
        for name, value in own.items():
            theirs = {link: params[name] for link, params in near.items() if name in params}
            if len(theirs) < len(near) * _LEAST_PART or len(set(theirs.values())) != 1:
                continue
            other = next(iter(theirs.values()))
            if other != value and self._is_session(host, name, other, len(theirs)):
                for link in theirs:
                    kept[link] = _with(kept.get(link, link), name, other, value)
                    room -= len(kept[link])
                    if room < 0:
                        return kept
        return kept

    def _is_session(self, host: str, name: str, value: str, links: int) -> bool:
        if links >= _LEAST_LINKS and _is_random(value):
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known.add((host, name))
        return (host, name) in self._known


def _params(url: str) -> dict[str, str]:
    if "?" not in url and ";" not in url and "/(" not in url:
        return {}
    return {name or letter: value for name, letter, value in _PARAM.findall(url)}


def _is_random(value: str) -> bool:
    """No word, and no small number."""
    return len(value) >= _LEAST_LENGTH and any(map(str.isdecimal, value))


def _with(url: str, name: str, other: str, value: str) -> str:
    bracket = "(" if name.startswith("(") else "="
    return url.replace(f"{name}{bracket}{other}", f"{name}{bracket}{value}")
