"""Links that only make a path longer: the same relative links on every page. Pure.

A page that links to ``a/``, ``b/`` and ``c/``, whatever its own path is, leads to ``/a/b/``,
``/c/a/b/`` and so on. It is known by its links: in a directory ``/…/a/b/`` both ``a/`` and
``b/`` are there again, or ``a/b/``. What a page in it links to below it is *growing*; another
page may link to the same URL and mean it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.scope.dates import is_small_number

if TYPE_CHECKING:
    from collections.abc import Collection


def growing(page: str, links: Collection[str]) -> set[str]:
    """Which of the links of a page, all canonical, only make its path longer."""
    found: set[str] = set()
    text = ""
    for directory in _directories(page):
        # Two names, behind the three slashes in front of a path.
        if directory.count("/") < 5 or not (names := _last_names(directory)):
            continue
        # To search all of them at once takes a third of the time.
        text = text or "\n".join(links)
        if f"{directory}{names[0]}" not in text:
            continue
        below = [link for link in links if link.startswith(directory)]
        paths = [link[len(directory) :].partition("?")[0] for link in below]
        if _has_both(names, paths) or _has_in_turn(names, paths):
            found.update(link for link, path in zip(below, paths, strict=True) if path)
    return found


def _directories(page: str) -> list[str]:
    """The directory of a page, the one above, and the page as one: ``/a/b`` may be ``/a/b/``."""
    location = page.partition("?")[0]
    own = location[: location.rindex("/") + 1]
    directories = [own, own[: own.rstrip("/").rfind("/") + 1]]
    return directories if own == location else [*directories, f"{location}/"]


def _last_names(directory: str) -> list[str]:
    """The last two names in the path of a directory; none, if it has no two."""
    names = directory.split("/")[3:-1][-2:]
    # Numbers are pages of something, and where they grow they have a budget.
    return [] if len(names) < 2 or any(map(is_small_number, names)) else names


def _has_both(names: list[str], paths: list[str]) -> bool:
    # A single one is no choice of links: where it grows, it soon repeats itself.
    first = {path.partition("/")[0] for path in paths if path}
    return len(first) > 1 and first.issuperset(names)


def _has_in_turn(names: list[str], paths: list[str]) -> bool:
    again = f"{names[0]}/{names[1]}/"
    return names[0] != names[1] and any(f"{path}/".startswith(again) for path in paths)
