"""A cache that drops the value used longest ago, and computes equal requests once."""

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

MAPPED = 16  # how many bytes of a mapped file count as one: the system loads and drops them, but a deleted file fills the disk


def weight(value: Any, depth: int = 8) -> int:
    """The approximate size of a value in bytes: exact for arrays and tensors, for containers the sum of their parts.

    Dataclasses count as containers. Other objects, such as a model, are shared, and only their own size counts.
    """
    if isinstance(value, str | int | float):  # most parts of most values
        return sys.getsizeof(value)
    if isinstance(nbytes := getattr(value, "nbytes", None), int):
        return nbytes // MAPPED if isinstance(value, np.memmap) else nbytes
    parts: list[Any] = []
    if isinstance(value, Mapping):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value)]
    return sys.getsizeof(value) + sum(weight(part, depth - 1) for part in parts if depth)


class OnceCache(Generic[Key, Value]):
    """Keeps values by key until their summed cost exceeds `capacity`; the newest is kept whatever it costs. None is not a value.

    Threads that need a key being computed wait for that result. An error is raised in all of them, and not cached.
    """

    def __init__(self, capacity: float, cost: Callable[[Value], float] = lambda value: 1) -> None:
        self._capacity, self._cost = capacity, cost
        self._lock = threading.RLock()
        self._kept: OrderedDict[Key, tuple[Value, float]] = OrderedDict()  # with its cost, the value used longest ago first
        self.total = 0.0  # the summed cost
        self._making: dict[Key, Future[Value]] = {}

    def values(self) -> list[Value]:
        """All values, least recently used first."""
        with self._lock:
            return [value for value, _ in self._kept.values()]

    def peek(self, key: Key) -> Value | None:
        """The value at `key`, or None; nothing is computed."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value at `key`, computed by `make()` if missing."""
        with self._lock:
            if (value := self.peek(key)) is not None:
                return value
            future = self._making.get(key)
            if ours := future is None:
                future = self._making[key] = Future()
        if not ours:
            return future.result()
        try:
            value = make()
            self.put(key, value)
            future.set_result(value)
            return value
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key]

    def put(self, key: Key, value: Value) -> None:
        cost = self._cost(value)
        with self._lock:
            self.total += cost - self._kept.pop(key, (None, 0.0))[1]
            self._kept[key] = value, cost
            self._make_room()

    def weigh_again(self) -> None:
        """Measure the cost of all values again, since they may have grown, and drop what exceeds the capacity."""
        with self._lock:
            for key, (value, _) in self._kept.items():
                self._kept[key] = value, self._cost(value)
            self.total = sum(cost for _, cost in self._kept.values())
            self._make_room()

    def _make_room(self) -> None:
        while self.total > self._capacity and len(self._kept) > 1:
            self.total -= self._kept.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self.total = 0.0
