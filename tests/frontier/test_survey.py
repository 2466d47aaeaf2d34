"""How many hosts are in which state: of the gate, and of both engines by the contract suite."""

from __future__ import annotations

import pytest

from crawlproject.frontier.hosts import HostGate, HostLimits, HostsNow, Key

KEY: Key = (0, 0, 1)
NOW = 100.0


def gate(**limits: float) -> HostGate[Key]:
    return HostGate(
        lambda name: HostLimits(delay=limits.get(name, 0.0)),
        resolve=lambda key: key,
        refill=lambda host, lane, size: [],
        changed=lambda host: None,
    )


def test_there_may_be_no_host() -> None:
    assert gate().survey(NOW) == HostsNow(requests=[])


def test_a_host_is_in_one_state() -> None:
    hosts = gate(waiting=2.0, held=2.0, landed=4.0)
    for name in ("ready", "waiting", "held", "flying", "landed", "idle"):
        hosts.host(name)
    for name in ("ready", "waiting", "held"):
        hosts.push(hosts.host(name), KEY)
    hosts.acquire_turn("flying", NOW)
    # Its delay runs, but nothing waits for it.
    hosts.acquire_turn("landed", NOW)
    hosts.landed("landed", NOW)
    hosts.acquire_turn("waiting", NOW - 1)
    hosts.landed("waiting", NOW)
    hosts.hold("held", NOW + 2.1)
    seen = hosts.survey(NOW)
    assert seen == HostsNow(
        total=6,
        ready=2,
        waiting=1,
        held=1,
        idle=2,
        mean_delay=8 / 6,
        longest_delay=4.0,
        requests=[0, 1, 0, 1, 1, 0],
    )
    later = hosts.survey(NOW + 10)
    assert (later.ready, later.waiting, later.held, later.idle) == (4, 0, 0, 2)


@pytest.mark.parametrize(("until", "held"), [(NOW + 1, 0), (NOW + 1.01, 1), (NOW + 60, 1)])
def test_a_host_is_held_if_it_waits_for_longer_than_its_delay(until: float, held: int) -> None:
    hosts = gate(a=1.0)
    hosts.hold("a", until)
    assert hosts.survey(NOW).held == held


def test_what_is_queued_elsewhere_counts() -> None:
    hosts = gate()
    host = hosts.host("a")
    host.new.horizon = KEY
    assert hosts.survey(NOW).ready == 1
