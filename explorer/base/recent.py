"""How often something came from each address within the last minute."""

from collections import OrderedDict, deque
from time import monotonic

MINUTE = 60.0  # seconds


class Recent:
    """What each address did of late, by the loop of the server only. Who asks whether it is too much comes before who adds."""

    def __init__(self, addresses: int = 10_000) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._most = addresses  # that are remembered; of more, the one that was added longest ago is forgotten

    def __len__(self) -> int:
        """How many addresses are remembered."""
        return len(self._times)

    def count(self, address: str) -> int:
        """How often it was within the last minute."""
        times, since = self._times.get(address, deque()), monotonic() - MINUTE
        while times and times[0] <= since:
            times.popleft()
        return len(times)

    def add(self, address: str) -> None:
        """Once more, now."""
        self._times.setdefault(address, deque()).append(monotonic())
        self._times.move_to_end(address)
        if len(self._times) > self._most:
            self._times.popitem(last=False)

    def clear(self) -> None:
        """Forget everybody."""
        self._times.clear()
