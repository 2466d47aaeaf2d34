"""The shape of a site: folders by their paths, and how many pages are below each. *Pure.*

It stays small however large the site is: few levels, few folders of each, the others as one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crawlproject.report.lists import Column, Kind, Listing, Row, Section

# Levels below a host, and folders of one that are shown by themselves.
LEVELS = 6
WIDTH = 30
# A folder with a smaller part of the site is one of the others.
_LEAST = 0.0005
# Folders that are counted; what comes behind counts for the folder above.
MOST_FOLDERS = 200_000
_NAME_CHARS = 80
_ROWS = 1_000


@dataclass(slots=True)
class Folder:
    pages: int = 0
    # Of those, the ones that are broken or blocked.
    failed: int = 0
    # Pages right in it.
    own: int = 0
    folders: dict[str, Folder] = field(default_factory=dict)


class Shape:
    """Fed URL by URL, in canonical form."""

    def __init__(self) -> None:
        self.hosts: dict[str, Folder] = {}
        self._count = 0

    def add(self, url: str, *, is_broken: bool) -> None:
        parts = url.partition("?")[0].split("/", LEVELS + 3)
        # The last part is the page's own name, or what is too deep to be told apart. What has no
        # host, as a spider's own data: URL, has no folders either.
        names = parts[3:-1]
        folder = self._folder(self.hosts, "/".join(parts[:3])[:_NAME_CHARS])
        while folder is not None:
            folder.pages += 1
            folder.failed += is_broken
            name = names.pop(0) if names else None
            is_folder = name is not None and len(name) < _NAME_CHARS
            inner = self._folder(folder.folders, f"{name}/") if is_folder else None
            if inner is None:
                folder.own += 1
            folder = inner

    def _folder(self, folders: dict[str, Folder], name: str) -> Folder | None:
        folder = folders.get(name)
        if folder is None and self._count < MOST_FOLDERS:
            folders[name] = folder = Folder()
            self._count += 1
        return folder

    def tree(self) -> list[dict[str, Any]]:
        """The hosts, each with ``name``, ``pages``, ``failed``, ``own`` and its ``folders``, the
        largest first; ``rest`` is how many folders are told together.
        """
        total = sum(host.pages for host in self.hosts.values())
        return _nodes(self.hosts, max(1.0, total * _LEAST))


def section(tree: list[dict[str, Any]]) -> Section:
    """The same as a list, for who would rather read than look."""
    rows: list[Row] = []
    waiting = [("", node) for node in tree]
    while waiting and len(rows) < _ROWS:
        above, node = waiting.pop(0)
        if node["name"]:
            path = f"{above}{node['name']}" if above else f"{node['name']}/"
            rows.append((path, node["pages"], node["failed"]))
            waiting += [(path, inner) for inner in node.get("folders", ())]
    columns = (
        Column("url", "Folder", Kind.URL),
        Column("pages", "Pages", Kind.NUMBER, link="pages?path={url}"),
        Column("failed", "Broken or blocked", Kind.NUMBER),
    )
    listing = Listing("folders", "Folders", columns, rows, empty="No pages.")
    return Section("shape", "Shape of the site", [listing])


def _nodes(folders: dict[str, Folder], least: float) -> list[dict[str, Any]]:
    ordered = sorted(folders.items(), key=lambda item: (-item[1].pages, item[0]))
    shown = [item for item in ordered[:WIDTH] if item[1].pages >= least]
    rest = [folder for _, folder in ordered[len(shown) :]]
    nodes = []
    for name, folder in shown:
        node: dict[str, Any] = {"name": name, "pages": folder.pages, "failed": folder.failed}
        if folder.folders:
            node["own"] = folder.own
            node["folders"] = _nodes(folder.folders, least)
        nodes.append(node)
    if rest:
        pages, failed = sum(one.pages for one in rest), sum(one.failed for one in rest)
        nodes.append({"name": "", "pages": pages, "failed": failed, "rest": len(rest)})
    return nodes
