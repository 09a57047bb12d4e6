"""Count events by address within the last minute, for rate limits."""

from collections import OrderedDict, deque
from time import monotonic

MINUTE = 60.0  # seconds


class Recent:
    """Events of each address in the last minute. For the event loop only. Call `count` before `add`."""

    def __init__(self, addresses: int = 10_000) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._most = addresses  # addresses remembered; beyond that, the one added longest ago is dropped

    def __len__(self) -> int:
        return len(self._times)

    def count(self, address: str) -> int:
        """The number of events of an address within the last minute."""
        times, since = self._times.get(address, deque()), monotonic() - MINUTE
        while times and times[0] <= since:
            times.popleft()
        return len(times)

    def add(self, address: str) -> None:
        """Record an event of an address now."""
        self._times.setdefault(address, deque()).append(monotonic())
        self._times.move_to_end(address)
        if len(self._times) > self._most:
            self._times.popitem(last=False)

    def take_back(self, address: str) -> None:
        """Forget the latest event of an address."""
        if times := self._times.get(address):
            times.pop()

    def clear(self) -> None:
        self._times.clear()
