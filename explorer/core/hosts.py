"""Host names and client addresses."""

import ipaddress
from collections.abc import Sequence
from typing import Any

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
OF_ONE_LINE = 64  # bits of an IPv6 address that identify a connection; the user chooses the rest and may change it


def is_loopback(host: str) -> bool:
    """Whether an address or name is that of this machine only (loopback)."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def visitor(client: Sequence[Any] | None) -> str:
    """The visitor's address, by which limits count and to which runs belong; '' if there is none.

    `client` is ASGI's: the address that `server.connections` has found, and a port.
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
