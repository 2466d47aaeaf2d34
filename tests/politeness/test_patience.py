from __future__ import annotations

from random import Random

import pytest
from scrapy.http import Response

from crawlproject.politeness.patience import Patience


def answer(*retry_after: str) -> Response:
    return Response("http://a.com/", headers={"Retry-After": list(retry_after)})


@pytest.mark.parametrize("seed", range(5))
def test_back_off_doubles_with_a_little_more_by_chance(seed: int) -> None:
    patience = Patience(1, 600, Random(seed))
    for failures, least in ((1, 1), (2, 2), (3, 4), (4, 8), (10, 512)):
        assert least <= patience.backoff(failures) <= 1.25 * least
    assert patience.backoff(11) == patience.backoff(10_000) == 600


def test_chance_spreads_those_who_failed_together() -> None:
    patience = Patience(1, 600, Random(0))
    assert len({patience.backoff(1) for _ in range(10)}) == 10


@pytest.mark.parametrize(
    ("response", "failures", "expected"),
    [
        (answer("7"), 5, 7),  # what it asks for, be it less than back-off
        (answer("7", "9"), 1, 9),
        (answer("600"), 1, 600),
        (answer("0"), 3, 4),
        (answer("Thu, 01 Jan 1970 00:00:00 GMT"), 3, 4),
        (answer("soon"), 3, 4),
        (answer(), 3, 4),
    ],
)
def test_a_host_is_left_alone_as_long_as_it_asks_for_or_with_back_off(
    response: Response, failures: int, expected: float
) -> None:
    seconds = Patience(1, 600, Random(0)).seconds("a.com", failures, response, 0)
    assert expected <= seconds <= (1.25 * expected if expected == 4 else expected)


def test_what_is_asked_beyond_reason_is_cut_and_said(caplog: pytest.LogCaptureFixture) -> None:
    patience = Patience(1, 600)
    assert patience.seconds("a.com", 1, answer("999999999999999999"), 0) == 600
    assert "a.com asks to be left alone for 1000000000000000000 s; 600 s is used" in caplog.text
    assert "POLITENESS_MAX_HOLD_SECONDS" in caplog.text
    assert patience.asked(answer("601"), 0) == 600
    assert patience.asked(None, 0) == 0
