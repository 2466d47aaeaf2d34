"""Which hosts are internal: this machine, private networks, link-local and metadata addresses.

Pure. A name is internal when it says so itself; what a name resolves to is checked where
it is resolved (``resolver.py``).
"""

from __future__ import annotations

from ipaddress import ip_address

_INTERNAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")


def is_internal_address(address: str) -> bool:
    """Whether an IP address is not one of the public Internet."""
    ip = ip_address(address)
    mapped = getattr(ip, "ipv4_mapped", None)
    return not (mapped or ip).is_global


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
