"""What a page's scripts get, and what is kept of it."""

from __future__ import annotations

from scrapy.http import Response
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.render.supply import Shelf, Supply, Wish, redirected


def answer(size: int, status: int = 200, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response("http://a.example/x.js", status=status, body=b"x" * size, headers=named)


def test_a_redirect_to_another_origin_takes_no_credentials_along() -> None:
    wish = Wish("http://a.example/x", headers=(("Authorization", "Bearer x"), ("Accept", "*/*")))
    assert redirected(wish, wish.url, "http://a.example/y") is wish
    for target in ("https://a.example/y", "http://a.example:81/y", "http://b.example/y"):
        assert redirected(wish, wish.url, target).headers == (("Accept", "*/*"),)


@deferred_f_from_coro_f
async def test_nor_does_the_redirect_after_that() -> None:
    wish = Wish("http://a.example/x", headers=(("Authorization", "Bearer x"),))
    hops = ["http://b.example/1", "http://b.example/2"]
    sent: list[tuple[str, tuple[tuple[str, str], ...]]] = []

    class Redirected(Supply):
        async def _ask(self, wish: Wish, url: str, seconds: float) -> Response:
            sent.append((url, wish.headers))
            location = {"Location": hops[len(sent) - 1]} if len(sent) <= len(hops) else {}
            return Response(url, status=302 if location else 200, headers=location)

    supply = Redirected.__new__(Redirected)
    await supply.fetch(wish, 1)
    assert sent == [(wish.url, wish.headers), *((hop, ()) for hop in hops)]


def test_what_was_asked_for_last_is_kept_while_there_is_room() -> None:
    shelf = Shelf(most_bytes=100, largest=60)
    for url in "abc":
        shelf.put(url, answer(40))
    assert [shelf.get(url) is not None for url in "abc"] == [False, True, True]
    shelf.get("b")
    shelf.put("d", answer(40))
    assert [shelf.get(url) is not None for url in "abcd"] == [False, True, False, True]


def test_the_same_again_takes_the_place_of_the_old() -> None:
    shelf = Shelf(most_bytes=100, largest=100)
    for size in (60, 90, 100):
        shelf.put("a", answer(size))
    kept = shelf.get("a")
    assert kept is not None
    assert len(kept.body) == 100


def test_errors_large_ones_and_what_is_not_to_be_stored_are_not_kept() -> None:
    shelf = Shelf(most_bytes=100, largest=60)
    shelf.put("error", answer(1, status=404))
    shelf.put("large", answer(61))
    shelf.put("private", answer(1, Cache_Control="private, No-Store"))
    assert not any(map(shelf.get, ("error", "large", "private")))
