"""A cache of values that share large parts, such as the corpus that many results are about: each part counts once."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from explorer.core.cache import Kept, Key, Value, inside
from explorer.core.limits import Limit

LARGE = 2**14  # bytes from which a part is counted by itself, once for all values that have it
DEPTH = 8  # levels of containers in containers
MOST = 256  # values, however small they are


class Size(NamedTuple):
    """Bytes in memory, and bytes of files that are mapped into it: the system loads and drops their pages as it likes."""

    memory: int = 0
    files: int = 0


def parts_of(value: Any) -> dict[int, Size]:
    """The sizes of the large parts of a value by `id`, and that of all the rest by the value's own."""
    found: dict[int, Size] = {}
    rest = _collect(value, DEPTH, found)
    return found | {id(value): Size(rest)} if rest else found


def _collect(value: Any, depth: int, found: dict[int, Size]) -> int:
    """Note the large parts of a value in `found`, and return the bytes of the small ones."""
    if isinstance(nbytes := getattr(value, "nbytes", None), int):
        if nbytes < LARGE:
            return nbytes
        found[id(value)] = Size(0, nbytes) if isinstance(value, np.memmap) else Size(nbytes)
        return 0
    return sys.getsizeof(value) + sum(_collect(part, depth - 1, found) for part in inside(value) if depth)


class SharedCache(Kept[Key, Value, dict[int, Size]]):
    """Keeps values by key within two limits, on memory and on mapped files; the value used longest ago is dropped first.

    A file that was deleted takes room on the disk as long as it is mapped, hence the second limit. The newest value always stays.
    """

    def __init__(self, memory: Limit, files: Limit) -> None:
        super().__init__()
        self._memory, self._files = memory, files

    get = Kept.peek

    def put(self, key: Key, value: Value) -> None:
        """Store `value` at `key`, replacing an older one, and drop what no longer fits."""
        parts = parts_of(value)
        with self._lock:
            self._kept[key] = value, parts
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and not self._fits():
                self._kept.popitem(last=False)

    @property
    def size(self) -> Size:
        """What all values hold together."""
        with self._lock:
            together = {at: size for _, parts in self._kept.values() for at, size in parts.items()}
        return Size(sum(size.memory for size in together.values()), sum(size.files for size in together.values()))

    def _fits(self) -> bool:
        memory, files = self.size
        return len(self._kept) <= MOST and memory <= self._memory.bytes and files <= self._files.bytes
