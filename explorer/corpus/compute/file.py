"""Files of arrays: vectors for all tokens of a corpus, mapped into memory and written batch by batch, and small arrays."""

import contextlib
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

VECTORS, DONE = "vectors.bin", "done"

Pieces = Sequence[tuple[int, np.ndarray]]
"""Vectors [some, size], each with the token that they begin at."""


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors [layers or heads, tokens, size] in a folder, with the number of batches written so far."""

    folder: Path
    shape: tuple[int, int, int]
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        """The size of the whole file, in bytes."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    def fill(
        self, batches: Sequence[np.ndarray], read: Callable[[np.ndarray], Iterable[tuple[int, Pieces]]]
    ) -> Generator[float, None, None]:
        """Write the batches that are missing, as `read` returns them by the layer or head; yields the share done, 0 to 1."""
        if not (done := self._done()):
            (self.folder / DONE).unlink(missing_ok=True)
            (self.folder / VECTORS).touch(mode=0o600)
            os.truncate(self.folder / VECTORS, self.bytes)
        for number, rows in enumerate(batches[done:], start=done + 1):
            yield (number - 1) / len(batches)
            for index, pieces in read(rows):
                self._write(index, pieces)
            (self.folder / DONE).write_text(str(number), "ascii")
        yield 1.0

    def _done(self) -> int:
        """The number of batches written; 0 when the file is missing or has another size."""
        with contextlib.suppress(OSError, ValueError):
            if (self.folder / VECTORS).stat().st_size == self.bytes:
                return int((self.folder / DONE).read_text("ascii"))
        return 0

    def _write(self, index: int, pieces: Pieces) -> None:
        _, tokens, size = self.shape
        with (self.folder / VECTORS).open("r+b") as file:
            for token, vectors in pieces:
                file.seek((index * tokens + token) * size * self.dtype.itemsize)
                file.write(np.ascontiguousarray(vectors, self.dtype).data)

    def open(self) -> np.ndarray:
        """All vectors, mapped into memory: only rows in use are loaded. Treat it as read-only."""
        return np.memmap(self.folder / VECTORS, self.dtype, "c", shape=self.shape)


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays atomically, readable by their owner only."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    part.chmod(0o600)
    os.replace(part, path)


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays in a file of `write_arrays`."""
    with np.load(path, allow_pickle=False) as file:
        return dict(file)
