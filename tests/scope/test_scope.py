from __future__ import annotations

from typing import Any

import pytest

from crawlproject.scope.domains import registered_domain
from crawlproject.scope.internal import is_internal, is_loopback
from crawlproject.scope.scope import Mode, Scope
from crawlproject.scope.traps import Traps

SEED = "https://www.example.co.uk/start/start"
TRAPS = Traps(max_repeated_segments=1, max_pages_per_host=7, max_pages_per_prefix=5)


@pytest.mark.parametrize(
    ("options", "url", "reason"),
    [
        ({}, SEED, None),
        ({}, "https://www.example.co.uk/other?x=1", None),
        ({}, "http://www.example.co.uk:8080/", None),
        ({}, "https://example.co.uk/", "offsite"),
        ({}, "https://shop.example.co.uk/", "offsite"),
        ({}, "https://evilwww.example.co.uk/", "offsite"),
        ({"mode": Mode.DOMAIN}, "https://example.co.uk/", None),
        ({"mode": Mode.DOMAIN}, "https://a.b.example.co.uk/", None),
        ({"mode": Mode.DOMAIN}, "https://other.co.uk/", "offsite"),
        ({"mode": Mode.ANY}, "https://anything.org/", None),
        ({"mode": Mode.ANY}, "http://127.0.0.1/", "internal address"),
        ({"mode": Mode.ANY}, "http://169.254.169.254/latest/meta-data", "internal address"),
        ({"mode": Mode.ANY}, "http://localhost/", "internal address"),
        ({"mode": Mode.ANY}, "http://[::1]/", "internal address"),
        ({"mode": Mode.ANY}, "http://[::ffff:10.0.0.1]/", "internal address"),
        ({"allow": ["partner.org"]}, "https://partner.org/", None),
        ({"allow": ["partner.org"]}, "https://cdn.partner.org/", None),
        ({"allow": ["partner.org"]}, "https://notpartner.org/", "offsite"),
        ({"allow": ["10.0.0.5"]}, "http://10.0.0.5/", "internal address"),
        ({"exclude": [r"/private/"]}, "https://www.example.co.uk/private/x", "excluded: /private/"),
        (
            {"exclude": [r"/a$", r"\?p=\d", r"p="]},
            "https://www.example.co.uk/x?p=1",
            r"excluded: \?p=\d",
        ),
        ({"exclude": [r"\?"]}, "https://www.example.co.uk/x", None),
        ({"include": [r"/blog/"]}, "https://www.example.co.uk/shop", "not included"),
        ({"include": [r"/blog/", r"/shop"]}, "https://www.example.co.uk/shop", None),
        ({"include": [r"/blog/"]}, SEED, None),
        (
            {"max_url_length": 40},
            "https://www.example.co.uk/" + "x" * 40,
            "url too long: URLLENGTH_LIMIT=40",
        ),
        (
            {"traps": TRAPS},
            "https://www.example.co.uk/a/b/a/b",
            "repeated path: SCOPE_MAX_REPEATED_SEGMENTS=1",
        ),
        ({"traps": TRAPS}, "https://other.org/a/b/a/b", "offsite"),
        ({"traps": TRAPS, "exclude": ["b"]}, "https://www.example.co.uk/a/b/a/b", "excluded: b"),
        ({"traps": TRAPS}, SEED, None),
    ],
)
def test_scope_says_why_a_url_does_not_belong(
    options: dict[str, Any], url: str, reason: str | None
) -> None:
    assert Scope([SEED], **options).reason(url) == reason


def test_a_seed_has_no_budget() -> None:
    seed = "https://example.com/calendar/2026/11/16/"
    scope = Scope([seed], traps=TRAPS)
    assert scope.budgets(seed) == ()
    assert [budget.pages for budget in scope.budgets(f"{seed}?view=week")] == [7, 5]


def test_a_scope_without_traps_has_no_budgets_and_refuses_no_shape() -> None:
    scope = Scope(["https://example.com/"])
    assert scope.reason("https://example.com" + "/a" * 99) is None
    assert scope.budgets("https://example.com/calendar/2026/11/16/") == ()


def test_an_internal_seed_lets_internal_addresses_in() -> None:
    scope = Scope(["http://127.0.0.1:8000/"], mode=Mode.ANY)
    assert scope.reason("http://10.1.2.3/") is None


def test_widening_takes_a_host_in_and_says_whether_it_was_new() -> None:
    scope = Scope(["https://example.com/"])
    assert scope.reason("https://www.example.com/") == "offsite"
    assert scope.widen("www.example.com")
    assert not scope.widen("www.example.com")
    assert scope.reason("https://www.example.com/") is None


def test_widening_does_not_open_private_networks() -> None:
    scope = Scope(["https://example.com/"])
    scope.widen("192.168.0.1")
    assert scope.reason("http://192.168.0.1/") == "internal address"


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


@pytest.mark.parametrize(
    ("host", "internal", "loopback"),
    [
        ("127.0.0.1", True, True),
        ("127.9.9.9", True, True),
        ("::1", True, True),
        ("localhost", True, True),
        ("app.localhost", True, True),
        ("10.0.0.1", True, False),
        ("printer.local", True, False),
        ("metadata.google.internal", True, False),
        ("224.0.0.1", True, False),
        ("fec0::1", True, False),
        ("ff02::1", True, False),
        # IPv4 addresses in IPv6 ones: mapped, translated, 6to4, compatible.
        ("::ffff:10.0.0.1", True, False),
        ("64:ff9b::a9fe:a9fe", True, False),
        ("64:ff9b:1::a00:1", True, False),
        ("2002:7f00:1::", True, False),
        ("::7f00:1", True, False),
        ("::ffff:8.8.8.8", False, False),
        ("64:ff9b::808:808", False, False),
        ("8.8.8.8", False, False),
        ("example.com", False, False),
    ],
)
def test_internal_hosts(host: str, internal: bool, loopback: bool) -> None:
    assert (is_internal(host), is_loopback(host)) == (internal, loopback)
