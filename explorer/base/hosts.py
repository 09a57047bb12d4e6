"""Names of machines, and by which address a visitor is told apart from the others."""

import ipaddress
from collections.abc import Sequence
from typing import Any

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
OF_ONE_LINE = 64  # bits of an IPv6 address that a provider gives a line; the rest every visitor chooses, and may change


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from its own machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def visitor(client: Sequence[Any] | None) -> str:
    """Whom limits count and runs belong to: the address of who asks, '' where there is none.

    `client` is what ASGI calls so: the address that `server.proxies` has found, and a port.
    """
    host = str(client[0]) if client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address) >> OF_ONE_LINE << OF_ONE_LINE, OF_ONE_LINE)))
