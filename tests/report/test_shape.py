from __future__ import annotations

from typing import Any

from crawlproject.report.shape import LEVELS, WIDTH, Shape, section


def shape_of(*paths: str, broken: tuple[str, ...] = ()) -> Shape:
    shape = Shape()
    for path in (*paths, *broken):
        url = path if "://" in path else f"https://a.example{path}"
        shape.add(url, is_broken=path in broken)
    return shape


def flat(nodes: list[dict[str, Any]], above: str = "") -> dict[str, int]:
    found = {}
    for node in nodes:
        name = f"{above}{node['name']}"
        found[name] = node["pages"]
        found |= flat(node.get("folders", []), f"{name} ")
    return found


def test_pages_are_counted_for_every_folder_above_them() -> None:
    shape = shape_of("/", "/about", "/shop/", "/shop/a", "/shop/tools/b?x=/1/2", "/shop/tools/c")
    assert flat(shape.tree()) == {
        "https://a.example": 6,
        "https://a.example shop/": 4,
        "https://a.example shop/ tools/": 2,
    }
    (host,) = shape.tree()
    assert host["own"] == 2


def test_broken_pages_are_counted_too() -> None:
    (host,) = shape_of("/a/1", broken=("/a/2", "/3")).tree()
    assert (host["failed"], host["folders"][0]["failed"]) == (2, 1)


def test_hosts_stand_side_by_side() -> None:
    tree = shape_of("http://a.example/", "https://a.example/", "https://b.example:8443/x").tree()
    assert [node["name"] for node in tree] == [
        "http://a.example",
        "https://a.example",
        "https://b.example:8443",
    ]


def test_of_many_folders_the_largest_are_shown_and_the_others_as_one() -> None:
    paths = [f"/{name}/{page}" for name in range(100) for page in range(2 if name < 5 else 1)]
    (host,) = shape_of(*paths).tree()
    *shown, rest = host["folders"]
    assert len(shown) == WIDTH
    assert [node["pages"] for node in shown[:6]] == [2, 2, 2, 2, 2, 1]
    assert (rest["name"], rest["rest"], rest["pages"]) == ("", 100 - WIDTH, 100 - WIDTH)
    assert sum(node["pages"] for node in host["folders"]) == host["pages"]


def test_what_is_very_deep_or_has_a_long_name_counts_for_the_folder_above() -> None:
    deep = "/" + "/".join("abcdefghij") + "/x"
    long = f"/{'y' * 500}/x"
    tree = shape_of(deep, long).tree()
    assert max(name.count("/ ") for name in flat(tree)) == LEVELS - 1
    assert all(len(name) < 100 for name in flat(tree))


def test_the_same_is_there_as_a_list() -> None:
    (listing,) = section(shape_of("/", "/a/1", broken=("/a/b/2",)).tree()).listings
    assert listing.rows == [
        ("https://a.example/", 3, 1),
        ("https://a.example/a/", 2, 1),
        ("https://a.example/a/b/", 1, 1),
    ]
