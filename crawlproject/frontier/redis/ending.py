"""Ending the sessions of workers that can't do it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.redis.names import is_dead

if TYPE_CHECKING:
    from crawlproject.frontier.redis.scripts import Scripts


def bury(scripts: Scripts) -> None:
    """Give back at once what workers had that were killed on this machine."""
    for name in _names(scripts):
        if is_dead(name):
            _end(scripts, name)


def end_all(scripts: Scripts) -> None:
    """Nobody is alive."""
    for name in _names(scripts):
        _end(scripts, name)


def _names(scripts: Scripts) -> list[str]:
    members = scripts.ask("ZRANGE", "workers", 0, -1)
    return [member.decode("utf-8", "replace") for member in members]


def _end(scripts: Scripts, name: str) -> None:
    for shard in range(scripts.shards):
        scripts.run("leave", (name, ""), shard=shard)
