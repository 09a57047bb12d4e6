"""Vectors of all tokens of a corpus on the disk: written where they belong as they come, then read like memory."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VECTORS, DONE = "vectors.bin", "done"


@dataclass(frozen=True)
class VectorFile:
    """Vectors [layers or heads, tokens, size] in a folder, and how many batches of them are written."""

    folder: Path
    shape: tuple[int, int, int]
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        """Of the whole file."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    def done(self) -> int:
        """The number of batches that are written."""
        with contextlib.suppress(OSError, ValueError):
            if (self.folder / VECTORS).stat().st_size == self.bytes:
                return int((self.folder / DONE).read_text("ascii"))
        return 0

    def begin(self) -> None:
        """Have a file of the whole size, for its owner only."""
        (self.folder / DONE).unlink(missing_ok=True)
        (self.folder / VECTORS).touch(mode=0o600)
        os.truncate(self.folder / VECTORS, self.bytes)

    def write(self, index: int, pieces: Sequence[tuple[int, np.ndarray]]) -> None:
        """Put vectors [some, size] where they belong in the layer or head of this index: each piece from its first token on."""
        _, tokens, size = self.shape
        with (self.folder / VECTORS).open("r+b") as file:
            for token, vectors in pieces:
                file.seek((index * tokens + token) * size * self.dtype.itemsize)
                file.write(np.ascontiguousarray(vectors, self.dtype).data)

    def finish(self, batches: int) -> None:
        """Note that so many batches are written."""
        (self.folder / DONE).write_text(str(batches), "ascii")

    def opened(self) -> np.ndarray:
        """All vectors, of which only those that are looked at come into memory; to be changed by nobody."""
        return np.memmap(self.folder / VECTORS, self.dtype, "c", shape=self.shape)
