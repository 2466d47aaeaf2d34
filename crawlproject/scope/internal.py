"""Which hosts are internal: this machine, private networks, link-local and metadata addresses.

Pure. An address is judged by the table below, whatever the version of Python: the IANA
registries of special-purpose addresses (IPv4, IPv6), the blocks of the IPv6 address space that
nobody has been given, multicast, and the metadata services of clouds. A block is public only
where its registry says "Globally Reachable: True"; "N/A" (6to4, Teredo) means no. The most
specific row counts. An IPv6 address that stands for an IPv4 one is judged as that one.

A name is internal if it says so itself; its addresses are judged where a connection is made
(``resolver.py``, ``fetching/guard.py``).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# Reserved (RFC 6761, 6762, 8375, .internal), or never delegated because networks use them
# inside (RFC 6762, appendix G).
_INTERNAL_SUFFIXES = (
    ".localhost",
    ".local",
    ".internal",
    ".home.arpa",
    ".intranet",
    ".private",
    ".corp",
    ".home",
    ".lan",
    ".localdomain",
)


class Block(NamedTuple):
    network: str
    # Whether it is reached from everywhere.
    is_public: bool
    name: str


BLOCKS_V4 = (
    Block("0.0.0.0/0", True, "public, unless a row below says otherwise"),
    Block("0.0.0.0/8", False, "this network (RFC 791)"),
    Block("10.0.0.0/8", False, "private use (RFC 1918)"),
    Block("100.64.0.0/10", False, "shared address space of providers (RFC 6598)"),
    Block("100.100.100.200/32", False, "metadata: Alibaba Cloud"),
    Block("127.0.0.0/8", False, "loopback (RFC 1122)"),
    Block("168.63.129.16/32", False, "metadata: Azure WireServer"),
    Block("169.254.0.0/16", False, "link-local (RFC 3927)"),
    Block("169.254.169.254/32", False, "metadata: most clouds"),
    Block("172.16.0.0/12", False, "private use (RFC 1918)"),
    Block("192.0.0.0/24", False, "IETF protocol assignments (RFC 6890)"),
    Block("192.0.0.0/29", False, "IPv4 service continuity (RFC 7335)"),
    Block("192.0.0.8/32", False, "IPv4 dummy address (RFC 7600)"),
    Block("192.0.0.9/32", True, "port control protocol anycast (RFC 7723)"),
    Block("192.0.0.10/32", True, "TURN anycast (RFC 8155)"),
    Block("192.0.0.170/31", False, "NAT64 and DNS64 discovery (RFC 8880)"),
    Block("192.0.0.192/32", False, "metadata: Oracle Cloud"),
    Block("192.0.2.0/24", False, "documentation, TEST-NET-1 (RFC 5737)"),
    Block("192.31.196.0/24", True, "AS112-v4 (RFC 7535)"),
    Block("192.52.193.0/24", True, "automatic multicast tunneling (RFC 7450)"),
    Block("192.88.99.0/24", False, "6to4 relay anycast, deprecated (RFC 7526)"),
    Block("192.88.99.2/32", False, "6a44 relay anycast (RFC 6751)"),
    Block("192.168.0.0/16", False, "private use (RFC 1918)"),
    Block("192.175.48.0/24", True, "direct delegation AS112 (RFC 7534)"),
    Block("198.18.0.0/15", False, "benchmarking (RFC 2544)"),
    Block("198.51.100.0/24", False, "documentation, TEST-NET-2 (RFC 5737)"),
    Block("203.0.113.0/24", False, "documentation, TEST-NET-3 (RFC 5737)"),
    Block("224.0.0.0/4", False, "multicast (RFC 5771)"),
    Block("240.0.0.0/4", False, "reserved (RFC 1112)"),
    Block("255.255.255.255/32", False, "limited broadcast (RFC 919)"),
)

BLOCKS_V6 = (
    Block("::/8", False, "reserved: unspecified, loopback, IPv4-compatible and -translated"),
    Block("::/128", False, "unspecified (RFC 4291)"),
    Block("::1/128", False, "loopback (RFC 4291)"),
    Block("64:ff9b:1::/48", False, "translation for local use (RFC 8215)"),
    Block("100::/8", False, "reserved (RFC 4291)"),
    Block("100::/64", False, "discard only (RFC 6666)"),
    Block("100:0:0:1::/64", False, "dummy prefix (RFC 9780)"),
    Block("200::/7", False, "reserved (RFC 4048)"),
    Block("400::/6", False, "reserved (RFC 4291)"),
    Block("800::/5", False, "reserved (RFC 4291)"),
    Block("1000::/4", False, "reserved (RFC 4291)"),
    Block("2000::/3", True, "global unicast (RFC 4291)"),
    Block("2001::/23", False, "IETF protocol assignments (RFC 2928)"),
    Block("2001::/32", False, "Teredo (RFC 4380)"),
    Block("2001:1::1/128", True, "port control protocol anycast (RFC 7723)"),
    Block("2001:1::2/128", True, "TURN anycast (RFC 8155)"),
    Block("2001:1::3/128", True, "service registration protocol anycast (RFC 9665)"),
    Block("2001:2::/48", False, "benchmarking (RFC 5180)"),
    Block("2001:3::/32", True, "automatic multicast tunneling (RFC 7450)"),
    Block("2001:4:112::/48", True, "AS112-v6 (RFC 7535)"),
    Block("2001:10::/28", False, "ORCHID, deprecated (RFC 4843)"),
    Block("2001:20::/28", True, "ORCHIDv2 (RFC 7343)"),
    Block("2001:30::/28", True, "drone remote identification (RFC 9374)"),
    Block("2001:db8::/32", False, "documentation (RFC 3849)"),
    Block("2002::/16", False, "6to4 (RFC 3056)"),
    Block("2620:4f:8000::/48", True, "direct delegation AS112 (RFC 7534)"),
    Block("3fff::/20", False, "documentation (RFC 9637)"),
    Block("4000::/3", False, "reserved (RFC 4291)"),
    Block("5f00::/16", False, "segment routing identifiers (RFC 9602)"),
    Block("6000::/3", False, "reserved (RFC 4291)"),
    Block("8000::/3", False, "reserved (RFC 4291)"),
    Block("a000::/3", False, "reserved (RFC 4291)"),
    Block("c000::/3", False, "reserved (RFC 4291)"),
    Block("e000::/4", False, "reserved (RFC 4291)"),
    Block("f000::/5", False, "reserved (RFC 4291)"),
    Block("f800::/6", False, "reserved (RFC 4291)"),
    Block("fc00::/7", False, "unique local (RFC 4193)"),
    Block("fd00:42::42/128", False, "metadata: Scaleway"),
    Block("fd00:c1::a9fe:a9fe/128", False, "metadata: Oracle Cloud"),
    Block("fd00:ec2::254/128", False, "metadata: Amazon EC2"),
    Block("fd20:ce::254/128", False, "metadata: Google Cloud"),
    Block("fe00::/9", False, "reserved (RFC 4291)"),
    Block("fe80::/10", False, "link-local (RFC 4291)"),
    Block("fe80::a9fe:a9fe/128", False, "metadata: OpenStack"),
    Block("fec0::/10", False, "site-local, deprecated (RFC 3879)"),
    Block("ff00::/8", False, "multicast (RFC 4291)"),
)

# IPv6 addresses that stand for the IPv4 address in their last 32 bits, by all bits before it:
# mapped (RFC 4291), and translated by NAT64 (RFC 6052).
_IPV4_INSIDE = frozenset(int(IPv6Address(prefix)) >> 32 for prefix in ("::ffff:0:0", "64:ff9b::"))
# ISATAP (RFC 5214): the first half of an interface's identifier, before an IPv4 address.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})


class _Table:
    """Blocks cut into ranges that do not overlap, to be found by bisection."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        networks = [(ip_network(block.network), block.is_public) for block in blocks]
        networks.sort(key=lambda row: row[0].prefixlen)
        spans = [
            (int(network.network_address), int(network.broadcast_address), is_public)
            for network, is_public in networks
        ]
        self._starts = sorted({edge for first, last, _ in spans for edge in (first, last + 1)})
        self._is_public: list[bool] = []
        for start in self._starts:
            rows = [is_public for first, last, is_public in spans if first <= start <= last]
            # The most specific one is the last.
            self._is_public.append(bool(rows) and rows[-1])

    def is_public(self, number: int) -> bool:
        return self._is_public[bisect_right(self._starts, number) - 1]


_V4 = _Table(BLOCKS_V4)
_V6 = _Table(BLOCKS_V6)


@lru_cache(maxsize=65_536)
def is_internal_address(address: str) -> bool:
    """Whether an IP address is not one of the public Internet, or leads to one that is not.

    A zone (``fe80::1%eth0``) does not change it. Raises ValueError for what is no address.
    """
    ip = _plain(address)
    if isinstance(ip, IPv4Address):
        return not _V4.is_public(int(ip))
    number = int(ip)
    if not _V6.is_public(number):
        return True
    is_isatap = number >> 32 & 0xFFFF_FFFF in _ISATAP
    return is_isatap and not _V4.is_public(number & 0xFFFF_FFFF)


def _plain(address: str) -> IPv4Address | IPv6Address:
    """The address, or the IPv4 address that it stands for."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address) and int(ip) >> 32 in _IPV4_INSIDE:
        return IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip


def is_internal(host: str) -> bool:
    """Whether a host is an internal address, or has a name that is used only inside."""
    try:
        return is_internal_address(host.strip("[]"))
    except ValueError:
        return f".{host.removesuffix('.')}".endswith(_INTERNAL_SUFFIXES)


def is_address(host: str) -> bool:
    try:
        return bool(ip_address(host.strip("[]")))
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    try:
        return _plain(host.strip("[]")).is_loopback
    except ValueError:
        return f".{host}".endswith(".localhost")
