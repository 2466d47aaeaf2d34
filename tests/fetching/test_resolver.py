"""What a crawl remembers of names, against a real name server on loopback."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.statscollectors import StatsCollector
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.failures import NameNotResolved, Unresolved
from crawlproject.fetching.lookups import CaresLookup
from crawlproject.fetching.resolver import NameResolver, resolver_of
from tests.dns_server import ABSENT, SERVFAIL, SILENT, Name, NameServer
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BOUNDS = {
    "max_lookups": 4,
    "cache_size": 100,
    "min_ttl": 30.0,
    "max_ttl": 300.0,
    "negative_ttl": 60.0,
}


class Names:
    """A resolver with its name server, and a clock that stands still."""

    def __init__(self, server: NameServer, **options: Any) -> None:
        self.now = 0.0
        self.server = server
        self.stats = StatsCollector(get_crawler())
        seconds = options.pop("timeout", 60.0)
        self.resolver = NameResolver(
            CaresLookup([server.address], seconds),
            self.stats,
            timeout=seconds,
            clock=lambda: self.now,
            **{**BOUNDS, **options},
        )

    async def addresses(self, name: str) -> list[str]:
        return [address for _, address in await self.resolver.resolve(name)]

    async def reason(self, name: str) -> Unresolved:
        with pytest.raises(NameNotResolved) as raised:
            await self.addresses(name)
        return raised.value.reason

    @property
    def lookups(self) -> int:
        return int(self.stats.get_value("dns/lookups", 0))


@asynccontextmanager
async def names(zone: dict[str, Name], **options: Any) -> AsyncIterator[Names]:
    with NameServer(zone) as server:
        made = Names(server, **options)
        try:
            yield made
        finally:
            await made.resolver.close()


@pytest.mark.parametrize(("ttl", "seconds"), [(0, 30), (29, 30), (100, 100), (86_400, 300)])
@deferred_f_from_coro_f
async def test_an_answer_counts_for_its_ttl_within_bounds(ttl: int, seconds: int) -> None:
    async with names({"a.test": Name("127.0.0.2", ttl)}) as known:
        assert await known.addresses("a.test") == ["127.0.0.2"]
        known.now = seconds - 0.001
        assert known.resolver.is_known("A.test.")
        assert await known.addresses("A.test.") == ["127.0.0.2"]
        assert known.lookups == 1
        known.now = seconds
        assert not known.resolver.is_known("a.test")
        assert await known.addresses("a.test") == ["127.0.0.2"]
        assert known.lookups == 2


@deferred_f_from_coro_f
async def test_a_new_address_is_found_when_the_old_one_has_expired() -> None:
    async with names({"a.test": Name("127.0.0.2", 0)}) as known:
        assert await known.addresses("a.test") == ["127.0.0.2"]
        known.server.zone["a.test"] = Name("127.0.0.3", 0)
        assert await known.addresses("a.test") == ["127.0.0.2"]
        known.now = 31
        assert await known.addresses("a.test") == ["127.0.0.3"]


@deferred_f_from_coro_f
async def test_what_nobody_expects_is_a_failure_of_the_name() -> None:
    """Or it would be looked up again and again, and no page would say why."""
    async with names({}) as known:

        async def fail(name: str) -> Any:
            raise RuntimeError("can't start new thread")

        known.resolver._lookup.find = fail  # type: ignore[method-assign]
        await known.resolver.look_up("a.test")
        assert known.resolver.is_known("a.test")
        failure = known.resolver.failure("a.test")
        assert failure is not None
        assert failure.reason == "server failure"


@deferred_f_from_coro_f
async def test_families_are_told_apart() -> None:
    async with names({"a.test": Name(("::1", "127.0.0.2"))}) as known:
        found = await known.resolver.resolve("a.test")
        assert list(found) == [(socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1")]
        assert known.lookups == 1


@deferred_f_from_coro_f
async def test_that_a_name_does_not_exist_is_remembered_briefly() -> None:
    async with names({}) as known:
        for moment in (0, 59):
            known.now = moment
            assert await known.reason("no.test") is Unresolved.NO_SUCH_NAME
        assert known.server.asked("no.test") == 2
        known.now = 60
        known.server.zone["no.test"] = Name("127.0.0.2")
        assert await known.addresses("no.test") == ["127.0.0.2"]


@deferred_f_from_coro_f
async def test_that_a_server_failed_is_remembered_for_seconds() -> None:
    async with names({"a.test": Name(rcode=SERVFAIL)}) as known:
        assert await known.reason("a.test") is Unresolved.SERVER_FAILURE
        known.server.zone["a.test"] = Name("127.0.0.2")
        known.now = 4.9
        assert await known.reason("a.test") is Unresolved.SERVER_FAILURE
        known.now = 5
        assert await known.addresses("a.test") == ["127.0.0.2"]
    assert known.stats.get_value("dns/failed/server_failure") == 1


@deferred_f_from_coro_f
async def test_the_last_addresses_are_used_while_a_server_fails() -> None:
    async with names({"a.test": Name("127.0.0.2", 0)}) as known:
        assert await known.addresses("a.test") == ["127.0.0.2"]
        known.server.zone["a.test"] = Name(rcode=SERVFAIL)
        for moment in (100, 299):
            known.now = moment
            assert await known.addresses("a.test") == ["127.0.0.2"]
        assert known.lookups == 3
        # They are not true for ever.
        known.now = 305
        assert await known.reason("a.test") is Unresolved.SERVER_FAILURE
        # A server that says that the name is gone has not failed.
        known.now = 320
        known.server.zone["a.test"] = Name("127.0.0.2", 0)
        assert await known.addresses("a.test") == ["127.0.0.2"]
        known.now = 400
        known.server.zone["a.test"] = ABSENT
        assert await known.reason("a.test") is Unresolved.NO_SUCH_NAME


@deferred_f_from_coro_f
async def test_many_who_want_one_name_ask_once_and_none_ends_it_for_the_others() -> None:
    async with names({"a.test": SILENT}) as known:
        waiting = [asyncio.create_task(known.addresses("a.test")) for _ in range(50)]
        await until(lambda: "a.test" in known.server.waiting)
        for impatient in waiting[:10]:
            impatient.cancel()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(known.addresses("a.test"), 0.01)
        known.server.release(Name("127.0.0.2"))
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert [isinstance(one, asyncio.CancelledError) for one in found[:10]] == [True] * 10
        assert found[10:] == [["127.0.0.2"]] * 40
        assert known.lookups == 1


@deferred_f_from_coro_f
async def test_what_was_looked_up_ahead_counts_for_one_request_at_least() -> None:
    zone = {"a.test": Name("127.0.0.2", 0), "broken.test": Name(rcode=SERVFAIL)}
    async with names(zone, cache_size=0) as known:
        for name in ("a.test", "broken.test"):
            assert not known.resolver.is_known(name)
            await known.resolver.look_up(name)
            known.now += 1_000_000
            assert known.resolver.is_known(name)
        assert await known.addresses("a.test") == ["127.0.0.2"]
        assert await known.reason("broken.test") is Unresolved.SERVER_FAILURE
        assert known.lookups == 2
        # Nothing is remembered beyond that.
        assert not known.resolver.is_known("a.test")
        assert not known.resolver.is_known("broken.test")


@deferred_f_from_coro_f
async def test_the_cache_is_bounded() -> None:
    zone = {f"n{number}.test": Name("127.0.0.2") for number in range(30)}
    async with names(zone, cache_size=10) as known:
        for name in zone:
            await known.addresses(name)
        assert [known.resolver.is_known(name) for name in zone] == [False] * 20 + [True] * 10


@deferred_f_from_coro_f
async def test_lookups_beyond_the_limit_have_their_place_in_time() -> None:
    zone = dict.fromkeys((f"n{number}.test" for number in range(4)), SILENT)
    async with names(zone, timeout=40.0) as known:
        waiting = [asyncio.create_task(known.resolver.look_up(name)) for name in zone]
        assert known.resolver.put_off() == 0
        await until(lambda: len(known.server.waiting) == 4)
        # Four lookups take forty seconds at worst: one begins every ten.
        assert [known.resolver.put_off() for _ in range(3)] == [10, 20, 30]
        known.now = 25
        assert known.resolver.put_off() == 15
        known.server.release(Name("127.0.0.2"))
        await asyncio.gather(*waiting)
        assert known.resolver.put_off() == 0
        assert known.stats.get_value("dns/put_off") == 4


@pytest.mark.parametrize("name", ["invalid", "no.such.host.invalid", "No.Such.INVALID."])
@deferred_f_from_coro_f
async def test_invalid_names_are_no_server_s_to_answer(name: str) -> None:
    async with names({"no.such.host.invalid": Name("127.0.0.2")}) as known:
        assert await known.reason(name) is Unresolved.NO_SUCH_NAME
        assert known.server.log == []


@pytest.mark.parametrize("literal", ["127.0.0.2", "::1"])
@deferred_f_from_coro_f
async def test_an_address_is_known(literal: str) -> None:
    async with names({}) as known:
        assert known.resolver.is_known(literal)
        assert await known.addresses(literal) == [literal]
        assert known.server.log == []


@deferred_f_from_coro_f
async def test_closing_ends_lookups_and_may_be_done_twice() -> None:
    async with names({"a.test": SILENT}) as known:
        waiting = asyncio.create_task(known.resolver.look_up("a.test"))
        await until(lambda: "a.test" in known.server.waiting)
        await known.resolver.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await known.reason("b.test") is Unresolved.CANCELLED


@deferred_f_from_coro_f
async def test_handlers_of_a_crawl_share_it() -> None:
    crawler = get_crawler()
    resolver = resolver_of(crawler)
    assert resolver_of(crawler) is resolver
    assert resolver_of(get_crawler()) is not resolver
    await resolver.close()
