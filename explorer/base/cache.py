"""Caches that forget what was used longest ago; in one, two equal requests are computed once."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class OnceCache(Generic[Key, Value]):
    """Keeps values by key until their summed cost passes `capacity`; the one used longest ago leaves first.

    Threads that ask for a key while another computes it wait for that one result. An error is passed to all
    of them and not kept. The newest value is always kept, whatever it costs.
    """

    def __init__(self, capacity: float, cost: Callable[[Value], float] = lambda value: 1) -> None:
        self._capacity = capacity
        self._cost = cost
        self._lock = threading.Lock()
        self._entries: OrderedDict[Key, Future[Value]] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value at `key`, made by `make()` when it is not there."""
        with self._lock:
            future = self._entries.get(key)
            ours = future is None
            if future is None:
                future = self._entries[key] = Future()
            self._entries.move_to_end(key)
        if ours:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    self._entries.pop(key, None)
                future.set_exception(error)
                raise
            self._make_room()
        return future.result()

    def peek(self, key: Key) -> Value | None:
        """The value at `key` if it is there already; nothing is computed."""
        with self._lock:
            future = self._entries.get(key)
        return future.result() if future is not None and _has_result(future) else None

    def values(self) -> list[Value]:
        """What is kept now, least recently used first."""
        with self._lock:
            return [future.result() for future in self._entries.values() if _has_result(future)]

    def forget(self, key: Key, value: Value) -> None:
        """Make the value at `key` anew when it is asked for next, unless that has happened already."""
        with self._lock:
            future = self._entries.get(key)
            if future is not None and _has_result(future) and future.result() == value:
                del self._entries[key]

    def clear(self) -> None:
        """Forget all values; what is being computed now still reaches those who wait for it."""
        with self._lock:
            self._entries.clear()

    def _make_room(self) -> None:
        with self._lock:
            done = [(key, future) for key, future in self._entries.items() if _has_result(future)]
            total = sum(self._cost(future.result()) for _, future in done)
            for key, future in done[:-1]:
                if total <= self._capacity:
                    return
                total -= self._cost(future.result())
                del self._entries[key]


def _has_result(future: Future) -> bool:
    return future.done() and future.exception() is None


class RecentArrays:
    """Keeps arrays by key until they hold more than `capacity` bytes; the one used longest ago leaves first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bytes = 0
        self._lock = threading.Lock()
        self._arrays: OrderedDict[Hashable, np.ndarray] = OrderedDict()

    def get(self, key: Hashable) -> np.ndarray | None:
        """The array at `key`, or None."""
        with self._lock:
            if key in self._arrays:
                self._arrays.move_to_end(key)
            return self._arrays.get(key)

    def put(self, key: Hashable, array: np.ndarray) -> None:
        """Keep `array` at `key`, in place of what was there. The newest is always kept, whatever its size."""
        array.flags.writeable = False
        with self._lock:
            before = self._arrays.pop(key, None)
            self._bytes += array.nbytes - (0 if before is None else before.nbytes)
            self._arrays[key] = array
            while self._bytes > self._capacity and len(self._arrays) > 1:
                self._bytes -= self._arrays.popitem(last=False)[1].nbytes

    def clear(self) -> None:
        """Forget all arrays."""
        with self._lock:
            self._arrays.clear()
            self._bytes = 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._bytes
