"""Atomic writes: files are written elsewhere and then renamed, so that a crash leaves either the old file or the new one.

Also finds the folder for runs. Nothing here imports torch.
"""

import atexit
import contextlib
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from explorer.core.errors import ExplorerError, InputError
from explorer.core.paths import RUNS

UNFINISHED = ".writing-"  # prefix of folders that are still being written
ABANDONED = 600.0  # seconds after which a folder with that prefix is abandoned
FULL = "The run cannot be saved: the disk is full, or the app may not write to it. The operator can make room."

NAMED, UPLOADS = "BERT_EXPLORER_RUNS", "GRADIO_TEMP_DIR"  # settings that name folders
CLOSED = "{setting} names {place}, where the app cannot write; let it write there, or name another folder."
NOWHERE = "The app has no folder for runs. Ask the operator to set BERT_EXPLORER_RUNS."


def check_environment() -> None:
    """Raise InputError if a folder that the operator names cannot be written to: data in another folder may be lost."""
    for setting in (NAMED, UPLOADS):
        if named := os.environ.get(setting, "").strip():
            try:
                Path(named).mkdir(mode=0o700, parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=named).close()
            except OSError as error:
                raise InputError(CLOSED.format(setting=setting, place=named)) from error


def folder() -> Path:
    """The folder for runs: BERT_EXPLORER_RUNS, `RUNS` or one in the temporary directory. Raises ExplorerError if none is open."""
    named = os.environ.get(NAMED, "").strip()
    places = [Path(named)] if named else [RUNS, Path(tempfile.gettempdir()) / "bert-explorer-runs"]
    for place in places:
        with contextlib.suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(place, os.W_OK):
                _tidy_once(place)  # before anything in it is used
                return place
    raise ExplorerError(NOWHERE)


@functools.cache
def temporary() -> str:
    """A folder for files of this process only; it is removed when the process ends."""
    made = tempfile.TemporaryDirectory(prefix="bert-explorer-", ignore_cleanup_errors=True)
    atexit.register(made.cleanup)
    return made.name


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


@contextlib.contextmanager
def begin(place: Path) -> Iterator[Path]:
    """A new folder in `place`, to be filled and given to `finish`, or removed. Raises ExplorerError when the disk is full."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=place))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        raise ExplorerError(FULL) from error


def finish(written: Path, target: Path) -> None:
    """Flush and rename a file, replacing one, or a folder; only its owner reads it. Raises OSError, also if a folder exists."""
    for path in [*written.rglob("*"), written]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        _flush(path)
    written.replace(target)
    _flush(target.parent)


def _flush(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open folders; its renames are on the disk without this
    opened = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def tidy(place: Path) -> None:
    """Remove abandoned folders, also of other processes."""
    for path in place.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if abs(time.time() - path.stat().st_mtime) > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


_tidy_once = functools.cache(tidy)
