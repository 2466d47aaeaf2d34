from __future__ import annotations

import pytest

from crawlproject.urls.huge import readable_part

LARGE = 4 * 1024 * 1024
LINK = b"<a href=/found>text</a>"


def filled(piece: bytes, size: int = 2 * LARGE) -> bytes:
    return piece * (size // len(piece))


@pytest.mark.parametrize(
    "page",
    [
        b"",
        filled(b"<p>", LARGE),
        filled(b"plain words "),
        filled(b"<p class=x id=y>" + b"a sentence of some length, " * 5),
        b"<script>" + filled(b"if (a<b) c = d; ") + b"</script>" + LINK,
        b"<!--" + filled(b"<p>x") + b"-->" + LINK,
        b"<p " + filled(b"x=y ") + b">" + LINK,
    ],
    ids=["empty", "small", "text", "ordinary", "script", "comment", "one crowded element"],
)
def test_pages_of_bearable_trees_are_untouched(page: bytes) -> None:
    part, is_cut = readable_part(page)
    assert part is page
    assert not is_cut


@pytest.mark.parametrize(
    "piece",
    [
        b"<p>x",
        b"<b>",
        b"</p>",
        b"<!---->",
        b"<?>",
        b"<p " + b" ".join(b"a%d" % number for number in range(100)) + b">",
        b"<p/a/b/c>",
        b"<script>x</script>",
        b"<",
    ],
)
def test_pages_of_too_many_nodes_keep_their_beginning(piece: bytes) -> None:
    page = LINK + filled(piece)
    part, is_cut = readable_part(page)
    assert is_cut
    assert part.startswith(LINK)
    assert page.startswith(part)
    # It is within bounds, and so the same again.
    assert readable_part(part) == (part, False)


def test_null_bytes_of_large_pages_are_left_out() -> None:
    page = LINK + filled(b"\0") + LINK
    assert readable_part(page) == (LINK + LINK, False)


@pytest.mark.parametrize("piece", [b"<a b='", b"<a b=", b"<a ", b"<!--", b"<title>", b"<a/", b"'"])
def test_what_never_ends_is_read_in_one_pass(piece: bytes) -> None:
    assert readable_part(filled(piece))[0]
