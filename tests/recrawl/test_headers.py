"""What headers say of when to come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Headers

from crawlproject.recrawl.headers import conditions, visit_of
from crawlproject.recrawl.visit import Visit

# Tue, 15 Nov 1994 12:45:26 GMT
AT = 784_903_526.0


def visit(**headers: str) -> Visit:
    return visit_of(Headers({name.replace("_", "-"): headers[name] for name in headers}), AT)


def test_an_answer_that_says_nothing() -> None:
    assert visit() == Visit(AT)


@pytest.mark.parametrize("etag", ['"a"', 'W/"a-1"', '""', '"Ã¤"'])
def test_an_etag_goes_back_as_it_came(etag: str) -> None:
    found = visit_of(Headers({"ETag": etag.encode("latin-1")}), AT)
    assert found.etag == etag
    assert conditions(found.etag, None) == {b"If-None-Match": [etag.encode("latin-1")]}


@pytest.mark.parametrize("etag", ["a", '"a', '"a"b"', '"a\tb"', '"' + 1001 * "a" + '"', ""])
def test_what_is_no_etag_is_not_sent_back(etag: str) -> None:
    assert visit(ETag=etag).etag is None


def test_a_date_goes_back_as_it_came_and_is_understood() -> None:
    text = "Sun, 06 Nov 1994 08:49:37 GMT"
    found = visit(Last_Modified=text)
    assert (found.last_modified, found.modified_at) == (text, 784_111_777)
    assert conditions(None, text) == {b"If-Modified-Since": [text.encode()]}


def test_what_is_no_date_is_not_sent_back() -> None:
    assert visit(Last_Modified="yesterday") == Visit(AT)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Cache_Control": "max-age=600"}, 600),
        ({"Cache_Control": 'public, Max-Age = "60"'}, 60),
        ({"Cache_Control": "max-age=600", "Age": "100"}, 500),
        ({"Cache_Control": "max-age=600", "Age": "x"}, 600),
        ({"Cache_Control": "max-age=600", "Expires": "Tue, 15 Nov 1994 12:45:27 GMT"}, 600),
        ({"Cache_Control": "no-cache, max-age=600"}, None),
        ({"Cache_Control": "no-store"}, None),
        ({"Cache_Control": "max-age"}, None),
        ({"Cache_Control": "max-age=-1"}, None),
        ({"Expires": "Tue, 15 Nov 1994 12:46:26 GMT"}, 60),
        # Its clock is an hour behind.
        (
            {"Expires": "Tue, 15 Nov 1994 11:46:26 GMT", "Date": "Tue, 15 Nov 1994 11:45:26 GMT"},
            60,
        ),
        ({"Expires": "0"}, None),
    ],
)
def test_how_long_it_promises_to_be_fresh(headers: dict[str, str], seconds: float | None) -> None:
    assert visit(**headers).fresh_until == (None if seconds is None else AT + seconds)


@given(
    st.dictionaries(
        st.sampled_from([b"Etag", b"Last-Modified", b"Cache-Control", b"Expires", b"Age", b"Date"]),
        st.lists(st.binary(max_size=40), max_size=2),
    )
)
def test_whatever_a_server_says_is_read(headers: dict[bytes, list[bytes]]) -> None:
    found = visit_of(headers, AT)
    for values in conditions(found.etag, found.last_modified).values():
        assert all(b"\n" not in value and b"\r" not in value for value in values)
