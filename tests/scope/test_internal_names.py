"""Names that lead into private networks."""

from __future__ import annotations

import pytest

from crawlproject.scope.scope import INTERNAL, Mode, Scope

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("seed", "inside", "name", "address", "refused"),
    [
        ("https://example.com/", [], "example.com", PUBLIC, False),
        ("https://example.com/", [], "example.com", "10.0.0.1", True),
        ("https://example.com/", [], "cdn.example.net", PUBLIC, False),
        ("https://example.com/", [], "evil.example.net", "127.0.0.1", True),
        ("https://example.com/", [], "evil.example.net", "169.254.169.254", True),
        ("https://example.com/", [], "evil.example.net", "::1", True),
        ("https://example.com/", [], "evil.example.net", "fd00::1", True),
        ("http://intranet.example/", ["intranet.example"], "intranet.example", "10.0.0.5", False),
        ("http://intranet.example/", ["intranet.example"], "wiki.example", "10.0.0.6", False),
        ("http://intranet.example/", ["intranet.example"], "wiki.example", PUBLIC, False),
        # The name of an internal seed does not lead out.
        ("http://intranet.example/", ["intranet.example"], "intranet.example", PUBLIC, True),
        ("http://10.0.0.5/", [], "wiki.example", "10.0.0.6", False),
        # Only seeds open the inside.
        ("https://example.com/", ["evil.example"], "evil.example", "10.0.0.5", True),
    ],
)
def test_a_name_may_lead_inside_only_when_a_seed_is_there(
    seed: str, inside: list[str], name: str, address: str, refused: bool
) -> None:
    scope = Scope([seed], mode=Mode.ANY)
    for seed_name in inside:
        scope.decide(seed_name, is_inside=True)
    assert scope.refuses_address(name, address) is refused


def test_until_a_seeds_addresses_are_known_it_opens_nothing() -> None:
    scope = Scope(["http://intranet.example/"], mode=Mode.ANY)
    assert not scope.is_decided
    assert scope.refuses_address("intranet.example", "10.0.0.5")
    assert scope.reason("http://10.0.0.6/") == INTERNAL
    assert scope.undecided() == scope.undecided("intranet.example") == ["intranet.example"]
    scope.decide("intranet.example", is_inside=True)
    assert scope.is_decided
    assert not scope.refuses_address("intranet.example", "10.0.0.5")
    assert scope.reason("http://10.0.0.6/") is None


@pytest.mark.parametrize(
    ("mode", "name", "may"),
    [
        (Mode.ANY, "intranet.example.com", True),
        (Mode.ANY, "10.0.0.5", True),
        (Mode.ANY, "wiki.example.com", False),
        (Mode.ANY, "www.example.com", False),
        (Mode.ANY, "169.254.169.254", False),
        (Mode.HOST, "wiki.example.com", False),
        # With the domain, all its hosts are the seed's, but the public seed is known to be public.
        (Mode.DOMAIN, "wiki.example.com", True),
        (Mode.DOMAIN, "www.example.com", False),
        (Mode.DOMAIN, "evil.example", False),
        (Mode.DOMAIN, "10.0.0.6", False),
    ],
)
def test_beside_a_public_seed_an_internal_one_opens_its_own_hosts(
    mode: Mode, name: str, may: bool
) -> None:
    seeds = ["https://www.example.com/", "https://intranet.example.com/", "http://10.0.0.5/"]
    scope = Scope(seeds, mode=mode, allow=["evil.example"])
    scope.decide("intranet.example.com", is_inside=True)
    scope.decide("www.example.com", is_inside=False)
    assert scope.may_lead_inside(name) is may
    assert scope.refuses_address(name, "10.0.0.7") is not may


def test_the_first_word_on_a_seed_counts() -> None:
    scope = Scope(["http://one.example/", "http://two.example/"], mode=Mode.ANY)
    scope.decide("one.example", is_inside=True)
    assert not scope.is_decided
    scope.decide("two.example", is_inside=False)
    scope.decide("two.example", is_inside=True)
    scope.decide("one.example", is_inside=False)
    assert scope.is_decided
    assert scope.may_lead_inside("one.example")
    assert not scope.may_lead_inside("two.example")
    assert scope.undecided() == []


def test_one_public_seed_decides_for_all() -> None:
    seeds = ["http://one.example/", "http://two.example/"]
    scope = Scope([*seeds, "http://93.184.216.34/"])
    assert scope.is_decided
    assert scope.undecided() == ["one.example", "two.example"]
    assert scope.undecided("two.example") == ["two.example"]
    assert scope.undecided("three.example") == []


def test_a_seed_that_comes_later_opens_nothing() -> None:
    scope = Scope(["https://example.com/"], mode=Mode.ANY)
    scope.decide("example.com", is_inside=False)
    scope.add_seed("http://10.0.0.5/")
    assert scope.refuses_address("10.0.0.5", "10.0.0.5")
    assert scope.reason("http://10.0.0.6/") == INTERNAL


def test_without_seeds_nothing_is_internal() -> None:
    scope = Scope([], mode=Mode.ANY)
    assert scope.is_decided
    assert scope.refuses_host("10.0.0.5")


@pytest.mark.parametrize("seed", ["http://10.0.0.5/", "http://intranet.example/"])
def test_no_seed_opens_the_inside_where_none_may(seed: str) -> None:
    scope = Scope([seed], mode=Mode.ANY, internal_seeds=False)
    scope.decide("intranet.example", is_inside=True)
    assert scope.refuses_address("intranet.example", "10.0.0.5")
    assert scope.refuses_address("wiki.example", "169.254.169.254")
    assert not scope.refuses_address("example.com", PUBLIC)
    assert scope.reason("http://127.0.0.1/") == INTERNAL
