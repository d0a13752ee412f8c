"""Which addresses belong to the public Internet, so that no link can lead the crawl into the network it runs in.

The tables follow IANA's special-purpose registries (RFC 6890). An IPv6 address that embeds an IPv4 address is judged by
the IPv4 address.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_REFUSED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # "this network"
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; 100.100.100.200 is a cloud's metadata service
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's metadata and agent service, inside public space
        "169.254.0.0/16",  # link-local; 169.254.169.254 is most clouds' metadata service
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, given up
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")  # all that IANA has given out; loopback, fc00::/7, fe80::/10 … lie outside
_REFUSED_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, benchmarks, ORCHID; Teredo is judged before
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_LOW_32_BITS_V4 = (
    IPv6Network("::/96"),  # IPv4-compatible; :: and ::1 fall into 0.0.0.0/8
    IPv6Network("64:ff9b::/96"),  # NAT64 (RFC 6052)
)
_JUDGED = 16_384  # verdicts remembered, on single addresses and on lists of addresses


class Guard:
    """Which addresses may be dialled: public ones, those in `networks`, or, with `allows_all`, every one."""

    def __init__(self, allows_all: bool = False, networks: tuple[str, ...] = ()) -> None:
        self.allows_all = allows_all
        self._networks = tuple(map(ip_network, networks))
        self.permits = lru_cache(_JUDGED)(self._permits)
        self.permitted = lru_cache(_JUDGED)(self._permitted)

    def _permitted(self, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Returns those of a host's addresses that may be dialled."""
        return tuple(filter(self._permits, addresses))

    def _permits(self, address: str) -> bool:
        """True if `address` may be dialled; False also for a text that is no address."""
        parsed = _parse(address)
        if parsed is None:
            return False
        if self.allows_all or _is_public(parsed):
            return True
        embedded = _embedded_v4(parsed) if isinstance(parsed, IPv6Address) else None
        return any(parsed in network or (embedded is not None and embedded in network) for network in self._networks)


def is_public(address: str) -> bool:
    """True if the numeric `address` belongs to the public Internet. An IPv6 zone ("%eth0") is ignored."""
    parsed = _parse(address)
    return parsed is not None and _is_public(parsed)


def _parse(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address.partition("%")[0])
    except ValueError:
        return None


def _is_public(parsed: IPv4Address | IPv6Address) -> bool:
    if isinstance(parsed, IPv6Address):
        embedded = _embedded_v4(parsed)
        if embedded is None:
            return parsed in _GLOBAL_UNICAST_V6 and not any(parsed in network for network in _REFUSED_V6)
        parsed = embedded
    return not any(parsed in network for network in _REFUSED_V4)


def _embedded_v4(address: IPv6Address) -> IPv4Address | None:
    """Returns the IPv4 address that packets to `address` are sent on to, or None if it embeds none."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _LOW_32_BITS_V4):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None
