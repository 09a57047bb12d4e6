"""The output of a model's frozen layers for many texts, in memory-mapped files: limited in size, and resumed after a stop.

A reading is a folder named after everything it depends on. Rows are appended in the order of the texts; however a reading ends,
by a stop or with the process, its rows are valid for the first texts, and the same reading continues after them.
"""

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock, Timeout

from explorer.bert.explorer import Explorer
from explorer.core import disk
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import DAY, MEGABYTE, RUN_DAYS, STATES_MEGABYTES
from explorer.text.lines import Pair

FOLDER = "readings"  # inside the folder of the runs
ROWS, LENGTHS, LOCK = "rows.bin", "lengths.bin", "lock"
LENGTH = np.dtype("<i4")
Found = TypeVar("Found")
PAUSE = 0.5  # seconds between two checks whether another caller is still filling the same folder


@dataclass(frozen=True)
class Reading:
    """A folder with `rows.bin`, the vectors of one text after the other, and `lengths.bin`, the number of vectors of each."""

    folder: Path
    width: int  # size of a vector
    dtype: np.dtype

    @property
    def _bytes(self) -> int:
        return self.width * self.dtype.itemsize

    def lengths(self) -> np.ndarray:
        """[texts read] the number of vectors of each. Rows half written when a process ended do not count."""
        with contextlib.suppress(OSError):
            lengths = np.fromfile(self.folder / LENGTHS, dtype=LENGTH)
            written = (self.folder / ROWS).stat().st_size // self._bytes
            return lengths[: np.searchsorted(lengths.cumsum(), written, side="right")].astype(np.int64)
        return np.empty(0, dtype=np.int64)

    def append(self, parts: Iterator[tuple[np.ndarray, np.ndarray]]) -> Iterator[int]:
        """Append vectors [all, width], and how many each of their texts has; yields the number of texts after each part."""
        there = self.lengths()
        for name in (ROWS, LENGTHS):
            (self.folder / name).touch(mode=0o600)
        with (self.folder / ROWS).open("ab") as rows, (self.folder / LENGTHS).open("ab") as lengths:
            rows.truncate(int(there.sum()) * self._bytes)
            lengths.truncate(len(there) * LENGTH.itemsize)
            done = len(there)
            for vectors, counts in parts:
                for file, array in ((rows, vectors.astype(self.dtype)), (lengths, counts.astype(LENGTH))):
                    file.write(np.ascontiguousarray(array).data)
                    file.flush()  # so that other processes see it
                done += len(counts)
                yield done

    def rows(self) -> np.ndarray:
        """[all vectors, width], mapped into memory: only what is accessed is loaded. Treat it as read-only."""
        shape = (int(self.lengths().sum()), self.width)
        return np.memmap(self.folder / ROWS, self.dtype, "c", shape=shape)


def key_of(model: Explorer, pairs: Iterable[Pair | str], *more: object) -> str:
    """A name for the output of a model, as it is on the disk now, for these texts or pairs and further parameters."""
    digest = hashlib.sha256(repr((model.name, str(model.checkpoint.folder), model.checkpoint.stamp, more)).encode())
    for pair in pairs:
        digest.update(repr(pair).encode())
    return digest.hexdigest()[:32]


def when_free(key: str, coming: int, fill: Callable[[Path], Generator[float, None, Found]]) -> Generator[float, None, Found]:
    """The result of `fill(folder)` for the folder of a reading; yields the share done, 0 while another caller fills it.

    Raises what `folder_for` raises, except Timeout.
    """
    while True:
        try:
            with folder_for(key, coming) as folder:
                return (yield from fill(folder))
        except Timeout:
            yield 0.0
            time.sleep(PAUSE)


@contextlib.contextmanager
def folder_for(key: str, coming: int) -> Iterator[Path]:
    """Context manager for the folder of a reading of up to `coming` bytes, locked for one caller; others make room for it.

    Raises Timeout while another caller has it, InputError when it is larger than allowed, and ExplorerError when the disk
    is full.
    """
    if coming > STATES_MEGABYTES.bytes:
        raise InputError(STATES_MEGABYTES.tell(-(-coming // MEGABYTE)))
    place = disk.folder() / FOLDER
    mine = place / key
    try:
        mine.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(mine / LOCK, timeout=0):  # against all threads and processes; it ends with the process
            os.utime(mine)
            _make_room(place, mine, coming)
            yield mine
    except Timeout:
        raise
    except OSError as error:
        raise ExplorerError(disk.FULL) from error


def _make_room(place: Path, mine: Path, coming: int) -> None:
    """Delete expired readings, and those used longest ago until this one fits; not those in use."""
    others = [folder for folder in place.iterdir() if folder.is_dir() and folder != mine]
    others.sort(key=lambda folder: folder.stat().st_mtime)
    sizes = {folder: disk.size_of(folder) for folder in others}
    for folder in others:
        expired = time.time() - folder.stat().st_mtime > RUN_DAYS.most * DAY
        if expired or sum(sizes.values()) + coming > STATES_MEGABYTES.bytes:
            with contextlib.suppress(OSError), FileLock(folder / LOCK, timeout=0):
                shutil.rmtree(folder)
                del sizes[folder]
