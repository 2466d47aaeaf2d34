"""Name lookups: by c-ares, or by the system's own resolver.

c-ares keeps thousands of lookups under way in one thread, so a name server that never answers
delays nobody else. It reads ``/etc/hosts`` and ``/etc/resolv.conf``, also when they change, and
asks for IPv4 and IPv6 addresses at once. Search domains are off: a URL says a whole name. The
system's resolver knows more (mDNS, LDAP, search domains) and blocks a thread for each lookup.

The order of addresses is IPv4 before IPv6: c-ares would find out the usual order (RFC 6724) by a
socket for each address, and connections are tried in parallel anyway.
"""

from __future__ import annotations

import asyncio
import re
import socket
from ipaddress import ip_address
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawlproject.errors import BadArgument
from crawlproject.failures import NameNotResolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import aiodns

CARES = "c-ares"
SYSTEM = "system"

# ARES_AI_NOSORT of ares.h, which pycares does not name.
_NO_SORT = 1 << 7
# c-ares waits for an answer at least so many seconds, then twice as long, with some jitter.
_LEAST_WAIT, _LONGEST_FIRST_WAIT = 0.25, 1.0
# Lookups of a channel. Then another one takes its place: c-ares caches what it is told without a
# bound, goes on with lookups that were given up, and uses one port while any is under way.
_LOOKUPS_PER_CHANNEL = 500
# Seconds that an answer of the system's resolver counts, which tells no TTL.
_SYSTEM_TTL = 60
# Addresses of one name that are kept, of each family.
_MOST_ADDRESSES = 16

_DNS_PORT = 53
_LARGEST_PORT = 65_535
# An address alone may be one of IPv6.
_SERVER = re.compile(
    r"(?:(?P<address>[^:\[\]]+)|\[(?P<inner>[^\[\]]+)\])(?::(?P<port>[0-9]{1,5}))?"
)

_NO_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class Found(NamedTuple):
    addresses: tuple[tuple[socket.AddressFamily, str], ...]
    # Seconds.
    ttl: float


class Lookup(Protocol):
    async def find(self, name: str) -> Found:
        """Raises NameNotResolved."""

    async def close(self) -> None: ...


class _Channel:
    def __init__(self, resolver: aiodns.DNSResolver) -> None:
        self.resolver = resolver
        self.begun = 0
        self.under_way = 0


class CaresLookup:
    """``servers`` are addresses with or without a port; none: those of the system."""

    def __init__(self, servers: Sequence[str], timeout: float) -> None:
        self._servers = servers
        self._timeout = timeout
        # The waits grow until the whole time is used; jitter may halve each but the first.
        self._tries = max(2, ceil(log2(timeout / _LEAST_WAIT + 1)) + 1)
        self._first_wait = min(max(_LEAST_WAIT, timeout / 16), _LONGEST_FIRST_WAIT)
        # Made by the process and in the loop that use it.
        self._channel: _Channel | None = None
        self._is_closed = False

    async def find(self, name: str) -> Found:
        from aiodns.error import DNSError

        channel = await self._use_channel(name)
        try:
            async with asyncio.timeout(self._timeout):
                found = await channel.resolver.getaddrinfo(
                    name, socket.AF_UNSPEC, type=socket.SOCK_STREAM, flags=_NO_SORT
                )
        except TimeoutError:
            raise NameNotResolved(name, Unresolved.TIMED_OUT) from None
        except DNSError as error:
            raise NameNotResolved(name, _meaning(error.args[0])) from None
        except UnicodeError:
            raise NameNotResolved(name, Unresolved.BAD_NAME) from None
        finally:
            channel.under_way -= 1
            await self._close_unused(channel)
        addresses = [(node.family, node.addr[0].decode()) for node in found.nodes]
        ttls = [node.ttl for node in found.nodes] + [alias.ttl for alias in found.cnames]
        return Found(_bounded(addresses), min(ttls, default=0))

    async def _use_channel(self, name: str) -> _Channel:
        if self._is_closed:
            raise NameNotResolved(name, Unresolved.CANCELLED)
        before = channel = self._channel
        if channel is None or channel.begun >= _LOOKUPS_PER_CHANNEL:
            channel = self._channel = _Channel(self._make_resolver())
        channel.begun += 1
        channel.under_way += 1
        if before is not None:
            await self._close_unused(before)
        return channel

    def _make_resolver(self) -> aiodns.DNSResolver:
        # Only here: a crawl of addresses has no need of it, and importing takes time.
        import aiodns
        import pycares

        return aiodns.DNSResolver(
            self._servers,
            asyncio.get_running_loop(),
            # Flags that are given take the place of c-ares' own, which is EDNS.
            flags=pycares.ARES_FLAG_EDNS | pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_NOALIASES,
            timeout=self._first_wait,
            tries=self._tries,
            # Not ``lookups`` or ``resolvconf_path``: pycares 5.2 frees them before they are read.
        )

    async def _close_unused(self, channel: _Channel) -> None:
        if not channel.under_way and (channel is not self._channel or self._is_closed):
            await channel.resolver.close()

    async def close(self) -> None:
        self._is_closed = True
        if self._channel is not None:
            await self._close_unused(self._channel)


class SystemLookup:
    def __init__(self, timeout: float) -> None:
        self._timeout = timeout

    async def find(self, name: str) -> Found:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout):
                found = await loop.getaddrinfo(
                    name, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
                )
        except TimeoutError:
            raise NameNotResolved(name, Unresolved.TIMED_OUT) from None
        except socket.gaierror as error:
            is_absent = error.errno in _NO_NAME
            reason = Unresolved.NO_SUCH_NAME if is_absent else Unresolved.SERVER_FAILURE
            raise NameNotResolved(name, reason) from None
        except UnicodeError:
            raise NameNotResolved(name, Unresolved.BAD_NAME) from None
        addresses = [(family, str(place[0])) for family, *_, place in found]
        return Found(_bounded(addresses), _SYSTEM_TTL)

    async def close(self) -> None:
        pass


def parse_name_servers(setting: str, value: object) -> list[str]:
    """Addresses, each perhaps with a port, as a list or separated by white space or commas."""
    parts = value if isinstance(value, list | tuple) else str(value or "").replace(",", " ").split()
    return [_parse_server(setting, str(part).strip()) for part in parts]


def _parse_server(setting: str, text: str) -> str:
    match = _SERVER.fullmatch(text)
    try:
        address = ip_address(match["address"] or match["inner"] if match else text)
        port = int(match["port"] or _DNS_PORT) if match else _DNS_PORT
        if not 1 <= port <= _LARGEST_PORT:
            raise ValueError(port)
    except ValueError:
        raise BadArgument(
            setting,
            f"{text[:50]!r} is not the address of a name server such as 192.0.2.53, "
            "127.0.0.1:5353 or [2001:db8::53]:53",
        ) from None
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def _bounded(
    addresses: Iterable[tuple[int, str]],
) -> tuple[tuple[socket.AddressFamily, str], ...]:
    """The first of each family, IPv4 before IPv6, each once."""
    different = dict.fromkeys(addresses)
    return tuple(
        (family, address)
        for family in (socket.AF_INET, socket.AF_INET6)
        for address in [one for kind, one in different if kind == family][:_MOST_ADDRESSES]
    )


def _meaning(code: int) -> Unresolved:
    from pycares import errno

    return {
        errno.ARES_ENOTFOUND: Unresolved.NO_SUCH_NAME,
        errno.ARES_ENODATA: Unresolved.NO_ADDRESS,
        errno.ARES_EBADNAME: Unresolved.BAD_NAME,
        errno.ARES_ETIMEOUT: Unresolved.TIMED_OUT,
        errno.ARES_EREFUSED: Unresolved.REFUSED,
        errno.ARES_ECANCELLED: Unresolved.CANCELLED,
        errno.ARES_EDESTRUCTION: Unresolved.CANCELLED,
        errno.ARES_ECONNREFUSED: Unresolved.UNREACHABLE,
    }.get(code, Unresolved.SERVER_FAILURE)
