"""A memory-mapped file of vectors for all tokens of a corpus, written batch by batch."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VECTORS, DONE = "vectors.bin", "done"


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

    def done(self) -> int:
        """The number of batches written; 0 when the file is missing or has another size."""
        with contextlib.suppress(OSError, ValueError):
            if (self.folder / VECTORS).stat().st_size == self.bytes:
                return int((self.folder / DONE).read_text("ascii"))
        return 0

    def begin(self) -> None:
        """Create the file at its full size, readable by its owner only."""
        (self.folder / DONE).unlink(missing_ok=True)
        (self.folder / VECTORS).touch(mode=0o600)
        os.truncate(self.folder / VECTORS, self.bytes)

    def write(self, index: int, pieces: Sequence[tuple[int, np.ndarray]]) -> None:
        """Write pieces, each vectors [some, size] and the token they begin at, into the layer or head `index`."""
        _, tokens, size = self.shape
        with (self.folder / VECTORS).open("r+b") as file:
            for token, vectors in pieces:
                file.seek((index * tokens + token) * size * self.dtype.itemsize)
                file.write(np.ascontiguousarray(vectors, self.dtype).data)

    def finish(self, batches: int) -> None:
        """Note that `batches` batches are written."""
        (self.folder / DONE).write_text(str(batches), "ascii")

    def opened(self) -> np.ndarray:
        """All vectors, mapped into memory: only what is read is loaded. Treat it as read-only."""
        return np.memmap(self.folder / VECTORS, self.dtype, "c", shape=self.shape)
