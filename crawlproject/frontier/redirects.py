"""What follows from redirects alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Entry, Way


class Node(Protocol):
    @property
    def url(self) -> str: ...
    @property
    def way(self) -> Way: ...


N = TypeVar("N", bound=Node)


class Sources(Protocol[N]):
    def sources(self, node: N, /) -> list[N]: ...


def sources_of(entry: N, store: Sources[N]) -> tuple[str, ...]:
    """All URLs that redirect here, each after the ones that redirect to it."""
    sources = store.sources(entry)
    if not sources:
        return ()
    order: dict[str, None] = {}
    visiting = {entry.url}
    stack = [(entry, False)]
    while stack:
        current, is_complete = stack.pop()
        if is_complete:
            order[current.url] = None
            continue
        if current is not entry:
            stack.append((current, True))
            sources = store.sources(current)
        for source in sorted(sources, key=lambda source: (source.way, source.url))[::-1]:
            if source.url not in visiting:
                visiting.add(source.url)
                stack.append((source, False))
    return tuple(order)


def loop_of(entry: Entry, store: Entries) -> list[Entry]:
    """The redirects that lead from an entry back to it; none if they lead elsewhere."""
    members = [entry]
    met = {entry.id}
    target = entry.target
    while target is not None and target not in met:
        member = store.by_id(target)
        members.append(member)
        met.add(member.id)
        target = member.target
    return members if target == entry.id else []
