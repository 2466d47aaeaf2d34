"""Internal addresses, block by block. They are judged; nobody connects to them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest

from crawlproject.scope.internal import (
    BLOCKS_V4,
    BLOCKS_V6,
    is_internal,
    is_internal_address,
    is_loopback,
)
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of

# For each block: whether the address before it, the block, and the address after it are
# internal ("x"), public ("-"), or not there (" ").
EDGES = {
    "0.0.0.0/0": None,
    "0.0.0.0/8": " x-",
    "10.0.0.0/8": "-x-",
    "100.64.0.0/10": "-x-",
    "100.100.100.200/32": "xxx",
    "127.0.0.0/8": "-x-",
    "168.63.129.16/32": "-x-",
    "169.254.0.0/16": "-x-",
    "169.254.169.254/32": "xxx",
    "172.16.0.0/12": "-x-",
    "192.0.0.0/24": "-x-",
    "192.0.0.0/29": "-xx",
    "192.0.0.8/32": "xx-",
    "192.0.0.9/32": "x--",
    "192.0.0.10/32": "--x",
    "192.0.0.170/31": "xxx",
    "192.0.0.192/32": "xxx",
    "192.0.2.0/24": "-x-",
    "192.31.196.0/24": "---",
    "192.52.193.0/24": "---",
    "192.88.99.0/24": "-x-",
    "192.88.99.2/32": "xxx",
    "192.168.0.0/16": "-x-",
    "192.175.48.0/24": "---",
    "198.18.0.0/15": "-x-",
    "198.51.100.0/24": "-x-",
    "203.0.113.0/24": "-x-",
    "224.0.0.0/4": "-xx",
    "240.0.0.0/4": "xx ",
    "255.255.255.255/32": "xx ",
    "::/8": " xx",
    "::/128": " xx",
    "::1/128": "xxx",
    "64:ff9b:1::/48": "xxx",
    "100::/8": "xxx",
    "100::/64": "xxx",
    "100:0:0:1::/64": "xxx",
    "200::/7": "xxx",
    "400::/6": "xxx",
    "800::/5": "xxx",
    "1000::/4": "xx-",
    "2000::/3": "x-x",
    "2001::/23": "-x-",
    "2001::/32": "-xx",
    "2001:1::1/128": "x--",
    "2001:1::2/128": "---",
    "2001:1::3/128": "--x",
    "2001:2::/48": "xxx",
    "2001:3::/32": "x-x",
    "2001:4:112::/48": "x-x",
    "2001:10::/28": "xx-",
    "2001:20::/28": "x--",
    "2001:30::/28": "--x",
    "2001:db8::/32": "-x-",
    "2002::/16": "-x-",
    "2620:4f:8000::/48": "---",
    "3fff::/20": "-x-",
    "4000::/3": "-xx",
    "5f00::/16": "xxx",
    "6000::/3": "xxx",
    "8000::/3": "xxx",
    "a000::/3": "xxx",
    "c000::/3": "xxx",
    "e000::/4": "xxx",
    "f000::/5": "xxx",
    "f800::/6": "xxx",
    "fc00::/7": "xxx",
    "fd00:42::42/128": "xxx",
    "fd00:c1::a9fe:a9fe/128": "xxx",
    "fd00:ec2::254/128": "xxx",
    "fd20:ce::254/128": "xxx",
    "fe00::/9": "xxx",
    "fe80::/10": "xxx",
    "fe80::a9fe:a9fe/128": "xxx",
    "fec0::/10": "xxx",
    "ff00::/8": "xx ",
}


@pytest.mark.parametrize("block", [*BLOCKS_V4, *BLOCKS_V6], ids=lambda block: block.network)
def test_a_block_ends_where_it_ends(block: tuple[str, bool, str]) -> None:
    network = ip_network(block[0])
    kind = IPv4Address if network.version == 4 else IPv6Address
    edges = EDGES[block[0]]
    if edges is None:
        # All of IPv4: the other rows are inside it.
        assert not is_internal_address("8.8.8.8")
        return
    first, last = int(network.network_address), int(network.broadcast_address)
    most = 2 ** (32 if network.version == 4 else 128) - 1

    def seen(number: int) -> str:
        if not 0 <= number <= most:
            return " "
        return "x" if is_internal_address(str(kind(number))) else "-"

    assert seen(first - 1) + seen(first) + seen(last + 1) == edges
    assert seen(last) == edges[1]


def test_every_block_has_its_edges() -> None:
    networks = [block.network for block in (*BLOCKS_V4, *BLOCKS_V6)]
    assert sorted(networks) == sorted(EDGES)


@pytest.mark.parametrize(
    "address",
    [
        "192.0.0.192",
        "192.0.0.8",
        "168.63.129.16",
        "3fff::1",
        "5f00::1",
        "100:0:0:1::1",
        "::ffff:0:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:168.63.129.16",
        "64:ff9b::168.63.129.16",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::8.8.8.8",
        "::10.0.0.1",
        "2002:a00:1::1",
        # Teredo: a server inside, a client inside (its bits are flipped), and any other.
        "2001:0:a00:1::1",
        "2001:0:808:808:0:0:f5ff:fffe",
        "2001:0:808:808::1",
        # ISATAP
        "fe80::5efe:10.0.0.1",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:10.0.0.1",
        "fe80::1%eth0",
        "::1%lo",
        "::ffff:127.0.0.1%1",
    ],
)
def test_an_address_that_leads_inside_is_internal(address: str) -> None:
    assert is_internal_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "168.63.129.17",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2606:4700::1111",
        "2606:4700::5efe:8.8.8.8",
        "2606:4700::200:5efe:8.8.8.8",
        "2a00:1450:4001::200e",
    ],
)
def test_an_address_of_the_internet_is_not(address: str) -> None:
    assert not is_internal_address(address)


@pytest.mark.parametrize("text", ["", "example.com", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "::g"])
def test_what_is_no_address_is_not_judged(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be an IPv4 or IPv6 address"):
        is_internal_address(text)


@pytest.mark.parametrize(
    ("host", "internal"),
    [
        ("localhost", True),
        ("localhost.", True),
        ("wiki.corp", True),
        ("nas.lan", True),
        ("router.home.arpa", True),
        ("internal", True),
        ("metadata.google.internal", True),
        ("metadata.google.internal.", True),
        ("corp.example", False),
        ("mylocalhost", False),
        ("lan.example.com", False),
    ],
)
def test_some_names_are_used_only_inside(host: str, internal: bool) -> None:
    assert is_internal(host) is internal


def test_loopback_in_ipv6_is_loopback() -> None:
    assert is_loopback("[::ffff:127.0.0.1]")
    assert not is_loopback("[::ffff:10.0.0.1]")


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "0X7F.0.0.0X1",
        "2130706433",
        "017700000001",
        "0177.0.0.01",
        "127.0.0.1.",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "0",
        "0.0.0.0",
        "169.254.43518",
        "0xa9fea9fe",
        "3232235777",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        # No URL has a zone.
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "LocalHost",
        "localhost.",
        "ｌｏｃａｌｈｏｓｔ",
        "user@127.0.0.1",
        "example.com@127.0.0.1",
        "256.0.0.1",
        "127.0.0.1.1",
        "0x1ffffffff",
    ],
)
def test_every_spelling_of_an_internal_host_is_known_or_refused(host: str) -> None:
    try:
        canonical = canonicalize(f"http://{host}/")
    except NotCrawlable:
        return
    assert is_internal(host_of(canonical)), canonical
