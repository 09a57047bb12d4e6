"""Host names, client addresses, and how often each address did something within the last minute."""

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Sequence
from time import monotonic
from typing import Any

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
OF_ONE_LINE = 64  # bits of an IPv6 address that identify a connection; the user chooses the rest and may change it
MINUTE = 60.0  # seconds


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def visitor(client: Sequence[Any] | None) -> str:
    """The address of ASGI's `client`, found by `server.gate`: limits count by it and runs belong to it. '' if there is none."""
    host = str(client[0]) if client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    return str(address if address.version == 4 else ipaddress.ip_network((int(address), OF_ONE_LINE), strict=False))


class Recent:
    """Events of each address in the last minute. For the event loop only."""

    def __init__(self, addresses: int = 10_000) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._most = addresses  # addresses remembered; beyond that, the one added longest ago is dropped

    def count(self, address: str) -> int:
        times, since = self._times.get(address, deque()), monotonic() - MINUTE
        while times and times[0] <= since:
            times.popleft()
        return len(times)

    def allow(self, address: str, most: int) -> bool:
        """Whether an address may have another event, of `most` in a minute; it is recorded then."""
        if self.count(address) >= most:
            return False
        self.add(address)
        return True

    def add(self, address: str) -> None:
        """Record an event of an address now, after a `count`."""
        self._times.setdefault(address, deque()).append(monotonic())
        self._times.move_to_end(address)
        if len(self._times) > self._most:
            self._times.popitem(last=False)
