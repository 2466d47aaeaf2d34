"""Names that lead into private networks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp.resolver import ThreadedResolver
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.scope.resolver import GuardedResolver, is_refused
from crawlproject.scope.scope import INTERNAL, Mode, Scope


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
    assert is_refused(scope, name, address) is refused
    assert scope.refused_hosts == ({name} if refused else set())


def test_a_seed_that_resolves_inside_opens_the_inside_for_the_others() -> None:
    scope = Scope(["http://intranet.example/"], mode=Mode.ANY)
    assert is_refused(scope, "wiki.example", "10.0.0.6")
    assert not is_refused(scope, "intranet.example", "10.0.0.5")
    assert not is_refused(scope, "wiki.example", "10.0.0.6")


@pytest.mark.parametrize("seed", ["http://10.0.0.5/", "http://intranet.example/"])
def test_no_seed_opens_the_inside_where_none_may(seed: str) -> None:
    scope = Scope([seed], mode=Mode.ANY, internal_seeds=False)
    assert not scope.allows_internal
    assert is_refused(scope, "intranet.example", "10.0.0.5")
    assert is_refused(scope, "wiki.example", "169.254.169.254")
    assert not is_refused(scope, "example.com", "93.184.216.34")
    assert scope.reason("http://127.0.0.1/") == INTERNAL


async def resolved(scope: Scope | None, name: str) -> list[str]:
    crawler: Any = SimpleNamespace(spider=SimpleNamespace(scope=scope))
    names = GuardedResolver(crawler, ThreadedResolver())
    return [result["host"] for result in await names.resolve(name)]


@deferred_f_from_coro_f
async def test_a_name_is_resolved_for_one_crawl_and_not_for_another() -> None:
    with pytest.raises(OSError, match="localhost leads into a private network"):
        await resolved(Scope(["https://example.com/"]), "localhost")
    for scope in (Scope(["http://127.0.0.1/"]), None):
        assert await resolved(scope, "localhost") == ["127.0.0.1"]
