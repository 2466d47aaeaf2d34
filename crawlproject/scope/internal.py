"""Which hosts are internal: this machine, private networks, link-local and metadata addresses.

Pure. A name is internal when it says so itself; what a name resolves to is checked where
it is resolved (``resolver.py``).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_INTERNAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")


# IPv6 addresses that stand for the IPv4 address in their last bits: translated (NAT64) or
# compatible ones.
_TRANSLATED = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))


def is_internal_address(address: str) -> bool:
    """Whether an IP address is not one of the public Internet, or leads to one that is not."""
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return _is_internal_v4(ip)
    if ip.ipv4_mapped is not None:
        return _is_internal_v4(ip.ipv4_mapped)
    inner = _inner(ip)
    is_outside = ip.is_global and not ip.is_multicast and not ip.is_site_local
    return not is_outside or (inner is not None and _is_internal_v4(inner))


def _is_internal_v4(ip: IPv4Address) -> bool:
    return not ip.is_global or ip.is_multicast


def _inner(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to."""
    if ip.sixtofour is not None:
        return ip.sixtofour
    if any(ip in network for network in _TRANSLATED):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def is_internal(host: str) -> bool:
    try:
        return is_internal_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or host.endswith(_INTERNAL_SUFFIXES)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
