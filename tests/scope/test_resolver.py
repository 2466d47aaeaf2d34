"""Names that lead into private networks."""

from __future__ import annotations

import pytest

from crawlproject.scope import resolver
from crawlproject.scope.resolver import guard, is_refused
from crawlproject.scope.scope import Mode, Scope


@pytest.fixture(autouse=True)
def only_scopes_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "_scopes", set())


@pytest.mark.parametrize(
    ("seed", "name", "address", "refused"),
    [
        ("https://example.com/", "example.com", "93.184.216.34", False),
        ("https://example.com/", "cdn.example.net", "93.184.216.34", False),
        ("https://example.com/", "evil.example.net", "127.0.0.1", True),
        ("https://example.com/", "evil.example.net", "169.254.169.254", True),
        ("https://example.com/", "evil.example.net", "::1", True),
        ("https://example.com/", "evil.example.net", "fd00::1", True),
        ("http://intranet.example/", "intranet.example", "10.0.0.5", False),
        ("http://10.0.0.5/", "wiki.example", "10.0.0.6", False),
    ],
)
def test_a_name_may_lead_inside_only_when_a_seed_is_there(
    seed: str, name: str, address: str, refused: bool
) -> None:
    scope = Scope([seed], mode=Mode.ANY)
    guard(scope)
    assert is_refused(name, address) is refused
    assert scope.refused_hosts == ({name} if refused else set())


def test_a_seed_that_resolves_inside_opens_the_inside_for_the_others() -> None:
    scope = Scope(["http://intranet.example/"], mode=Mode.ANY)
    guard(scope)
    assert is_refused("wiki.example", "10.0.0.6")
    assert not is_refused("intranet.example", "10.0.0.5")
    assert not is_refused("wiki.example", "10.0.0.6")


def test_other_programs_resolve_what_they_like() -> None:
    assert not is_refused("anything.example", "127.0.0.1")
