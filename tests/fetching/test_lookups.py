"""Name lookups, against a real name server on loopback."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.errors import BadArgument
from crawlproject.failures import NameNotResolved, Unresolved
from crawlproject.fetching import lookups
from crawlproject.fetching.lookups import (
    CaresLookup,
    Found,
    SystemLookup,
    parse_name_servers,
)
from tests.dns_server import (
    AAAA,
    REFUSED,
    SERVFAIL,
    SILENT,
    Name,
    NameServer,
)

HOSTS = Path("/etc/hosts").read_text().splitlines()
V4, V6 = socket.AF_INET, socket.AF_INET6
# Seconds for what is never answered; all else is answered at once.
SHORT, LONG = 0.3, 60

ZONE = {
    "both.test": Name(("127.0.0.2", "::1"), ttl=70),
    "four.test": Name("127.0.0.2", ttl=70),
    "six.test": Name("::1", ttl=70),
    "under_score.test": Name("127.0.0.2", ttl=70),
    "alias.test": Name("127.0.0.2", ttl=70, cname="target.test"),
    # Its name server drops questions for IPv6 addresses, as some do.
    "no-aaaa.test": Name("127.0.0.2", ttl=70, ignored_type=AAAA),
    "single": Name("127.0.0.2", ttl=70),
    "forged.test": Name("127.0.0.2", ttl=70, noise=("wrong id", "wrong name", "other port")),
}


async def find(name: str, zone: dict[str, Name] = ZONE, seconds: float = LONG) -> Found:
    with NameServer(zone) as server:
        lookup = CaresLookup([server.address], seconds)
        try:
            return await lookup.find(name)
        finally:
            await lookup.close()


async def reason(name: str, said: Name, seconds: float = LONG) -> Unresolved:
    with pytest.raises(NameNotResolved) as raised:
        await find(name, {name: said}, seconds)
    return raised.value.reason


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("both.test", ((V4, "127.0.0.2"), (V6, "::1"))),
        ("BOTH.test.", ((V4, "127.0.0.2"), (V6, "::1"))),
        ("four.test", ((V4, "127.0.0.2"),)),
        ("six.test", ((V6, "::1"),)),
        ("under_score.test", ((V4, "127.0.0.2"),)),
        ("alias.test", ((V4, "127.0.0.2"),)),
        ("no-aaaa.test", ((V4, "127.0.0.2"),)),
        ("single", ((V4, "127.0.0.2"),)),
        ("forged.test", ((V4, "127.0.0.2"),)),
    ],
)
@deferred_f_from_coro_f
async def test_addresses_of_both_kinds_and_their_ttl(
    name: str, addresses: tuple[tuple[socket.AddressFamily, str], ...]
) -> None:
    assert await find(name) == Found(addresses, 70)


@pytest.mark.parametrize("name", ["localhost", "app.localhost"])
@deferred_f_from_coro_f
async def test_localhost_is_this_machine_without_a_question(name: str) -> None:
    with NameServer({}) as server:
        lookup = CaresLookup([server.address], LONG)
        addresses, _ = await lookup.find(name)
        await lookup.close()
        assert set(addresses) <= {(V4, "127.0.0.1"), (V6, "::1")}
        assert addresses
        assert server.log == []


@deferred_f_from_coro_f
async def test_the_hosts_file_comes_before_name_servers() -> None:
    entries = [line.partition("#")[0].split() for line in HOSTS]
    named = {name: line[0] for line in entries for name in line[1:] if "localhost" not in name}
    if not named:
        pytest.skip("/etc/hosts has no name but localhost")
    for name, address in named.items():
        with NameServer({name: Name("127.66.66.66")}) as server:
            lookup = CaresLookup([server.address], LONG)
            addresses, _ = await lookup.find(name)
            await lookup.close()
            assert address in {found for _, found in addresses}
            assert server.log == []


@deferred_f_from_coro_f
async def test_search_domains_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALDOMAIN", "corp.test")
    with NameServer({"wiki.corp.test": Name("127.0.0.2")}) as server:
        lookup = CaresLookup([server.address], LONG)
        with pytest.raises(NameNotResolved):
            await lookup.find("wiki")
        await lookup.close()
        assert set(server.counts()) == {"wiki"}


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("gone.test", Name(rcode=3), Unresolved.NO_SUCH_NAME),
        ("empty.test", Name(), Unresolved.NO_ADDRESS),
        ("loop.test", Name(cname="loop.test"), Unresolved.NO_ADDRESS),
        ("broken.test", Name(rcode=SERVFAIL), Unresolved.SERVER_FAILURE),
        ("closed.test", Name(rcode=REFUSED), Unresolved.REFUSED),
        ("nonsense.test", Name("127.0.0.2", noise=("garbage",)), Unresolved.SERVER_FAILURE),
        (f"{'x' * 64}.test", Name("127.0.0.2"), Unresolved.BAD_NAME),
        (".".join(["x" * 60] * 5), Name("127.0.0.2"), Unresolved.BAD_NAME),
        ("a..test", Name("127.0.0.2"), Unresolved.BAD_NAME),
        ("tor.onion", Name("127.0.0.2"), Unresolved.NO_SUCH_NAME),
    ],
)
@deferred_f_from_coro_f
async def test_why_a_name_has_no_address(name: str, said: Name, expected: Unresolved) -> None:
    assert await reason(name, said) is expected
    assert expected.is_final == (expected in {"no such name", "no address", "bad name"})


@deferred_f_from_coro_f
async def test_what_is_never_answered_times_out() -> None:
    assert await reason("silent.test", SILENT, SHORT) is Unresolved.TIMED_OUT


@deferred_f_from_coro_f
async def test_a_name_server_that_is_not_there_is_a_failure() -> None:
    with NameServer({}) as server:
        address = server.address
    lookup = CaresLookup([address], LONG)
    with pytest.raises(NameNotResolved) as raised:
        await lookup.find("a.test")
    await lookup.close()
    assert raised.value.reason is Unresolved.UNREACHABLE


@deferred_f_from_coro_f
async def test_an_answer_too_long_for_udp_comes_by_tcp_and_is_bounded() -> None:
    many = tuple(f"127.1.{number // 250}.{number % 250}" for number in range(1000))
    many += tuple(f"fd00::{number:x}" for number in range(1, 1001))
    with NameServer({"many.test": Name(many)}) as server:
        lookup = CaresLookup([server.address], LONG)
        addresses, _ = await lookup.find("many.test")
        await lookup.close()
        assert server.asked("many.test", transport="tcp") == 2
    assert [family for family, _ in addresses] == [V4] * 16 + [V6] * 16
    assert {address for _, address in addresses} <= set(many)


@deferred_f_from_coro_f
async def test_channels_are_replaced_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "_LOOKUPS_PER_CHANNEL", 3)
    names = [f"n{number}.test" for number in range(20)]
    with NameServer({name: Name("127.0.0.2") for name in names}) as server:
        lookup = CaresLookup([server.address], LONG)
        channels = set()
        for name in names:
            await lookup.find(name)
            channels.add(lookup._channel)
        assert len(channels) == 7
        await lookup.close()
        for channel in channels:
            assert channel is not None
            assert channel.resolver._closed
        with pytest.raises(NameNotResolved, match="cancelled"):
            await lookup.find("n1.test")


@deferred_f_from_coro_f
async def test_the_system_resolver_knows_this_machine() -> None:
    lookup = SystemLookup(LONG)
    addresses, ttl = await lookup.find("localhost")
    assert addresses[0] == (V4, "127.0.0.1")
    assert ttl > 0
    with pytest.raises(NameNotResolved) as raised:
        await lookup.find(f"{'x' * 64}.test")
    assert raised.value.reason is Unresolved.BAD_NAME
    await lookup.close()


@pytest.mark.parametrize(
    ("value", "servers"),
    [
        ([], []),
        ("", []),
        (["192.0.2.53"], ["192.0.2.53:53"]),
        ("192.0.2.53:5353, 192.0.2.54", ["192.0.2.53:5353", "192.0.2.54:53"]),
        ("2001:db8::53", ["[2001:db8::53]:53"]),
        ("[2001:db8::53] [::1]:5353", ["[2001:db8::53]:53", "[::1]:5353"]),
    ],
)
def test_name_servers_are_addresses(value: object, servers: list[str]) -> None:
    assert parse_name_servers("S", value) == servers


@pytest.mark.parametrize(
    "value", ["dns.example", "1.2.3", "1.2.3.4:0", "1.2.3.4:99999", "[::1", "::1]:5", "x:y"]
)
def test_what_is_no_address_is_no_name_server(value: str) -> None:
    with pytest.raises(BadArgument, match=r"is not the address of a name server such as 192\.0"):
        parse_name_servers("POLITENESS_NAME_SERVERS", value)
