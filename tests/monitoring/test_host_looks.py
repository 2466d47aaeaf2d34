from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.hosts import HostsNow
from crawlproject.monitoring.host_looks import HostLooks

if TYPE_CHECKING:
    from collections.abc import Sequence


class Crowd:
    """Hosts whose requests are said, and at which a look takes some seconds."""

    def __init__(self, requests: Sequence[int], takes: float = 0.0) -> None:
        self.requests = requests
        self.takes = takes
        self.looks: list[float] = []
        self._watch = 0.0
        self.watched = HostLooks(self._look, 0.0, lambda: self._watch)

    def _look(self, now: float) -> HostsNow:
        self.looks.append(now)
        self._watch += self.takes
        return HostsNow(total=len(self.requests), ready=2, requests=list(self.requests))

    def busiest(self, now: float, *requests: int) -> float:
        self.requests = requests
        return self.watched.hosts(now).busiest_per_second


def test_hosts_are_told_as_they_were_at_the_last_look() -> None:
    crowd = Crowd([0, 0, 0])
    assert crowd.watched.hosts(1.0).total == 3
    assert crowd.watched.hosts(1.0).ready == 2


def test_a_look_that_takes_time_is_not_soon_followed_by_another() -> None:
    crowd = Crowd([0], takes=0.1)
    for moment in range(13):
        crowd.watched.hosts(float(moment))
    assert crowd.looks == [0.0, 5.0, 10.0]


def test_one_that_takes_none_is() -> None:
    crowd = Crowd([0])
    for moment in range(3):
        crowd.watched.hosts(float(moment))
    assert crowd.looks == [0.0, 0.0, 1.0, 2.0]


def test_the_busiest_host_is_the_one_that_got_most_requests_lately() -> None:
    # An earlier run has asked the second one a lot.
    crowd = Crowd([0, 500])
    assert crowd.busiest(0.5, 9, 500) == 0
    # In the beginning, since then.
    assert crowd.busiest(2.0, 10, 501) == 5
    assert crowd.busiest(5.0, 20, 501) == 4
    # Later, over some seconds.
    assert crowd.busiest(9.0, 90, 501) == 4
    assert crowd.busiest(10.0, 20, 501, 10) == 2
    assert crowd.busiest(20.0, 21, 504, 10) == 0.3


def test_turns_that_were_handed_back_are_no_requests() -> None:
    crowd = Crowd([3])
    assert crowd.busiest(5.0, 2) == 0


def test_without_hosts_nobody_is_busy() -> None:
    assert Crowd([]).busiest(5.0) == 0


def test_the_last_answer_is_worth_a_look_whatever_it_costs() -> None:
    crowd = Crowd([], takes=9.0)
    assert crowd.watched.hosts(1.0).total == 0
    crowd.requests = [1]
    assert crowd.watched.hosts(2.0).total == 0
    crowd.watched.look_again()
    assert crowd.watched.hosts(3.0).total == 1
