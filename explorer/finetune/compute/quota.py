"""The owner of each run, and how many runs there may be: a run is never deleted to make room for another visitor's.

A visitor is known by an id that the browser keeps, a program by its address. Runs that the page itself starts with belong to
HOUSE, which has no owner.
"""

import contextlib
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from explorer.core.disk import size_of
from explorer.core.errors import ExplorerError
from explorer.core.limits import DAY, MEGABYTE, RUN_DAYS, RUNS_MEGABYTES, VISITOR_MEGABYTES

HOUSE = ""
RUNS, VISITOR_RUNS = 500, 50  # of all visitors, and of one
_FILE = "visitor.json"


@dataclass(frozen=True)
class _Kept:
    """A run on the disk, with its owner."""

    folder: Path
    visitor: str
    size: int  # bytes
    used: float  # seconds since 1970


def sign(folder: Path, visitor: str) -> None:
    """Note the owner of a run in its folder."""
    (folder / _FILE).write_text(json.dumps(visitor), "utf-8")


def visitor_of(folder: Path) -> str:
    """The owner of the run in a folder."""
    with contextlib.suppress(OSError, ValueError):
        return str(json.loads((folder / _FILE).read_text("utf-8")))
    return HOUSE


def make_room(folders: list[Path], visitor: str, coming: int, new: bool = True, spare: Path | None = None) -> None:
    """Delete expired runs, and then the visitor's oldest, until `coming` bytes (of a `new` run or not) fit.

    The run in `spare` is kept. Raises ExplorerError when they do not fit, because the visitor's share is too small or the runs of
    others fill the store.
    """
    kept = _without_expired(folders, spare)
    if coming > VISITOR_MEGABYTES.bytes:
        raise ExplorerError(VISITOR_MEGABYTES.tell(round(coming / MEGABYTE)))
    mine = sorted((run for run in kept if run.visitor == visitor), key=lambda run: run.used)
    for oldest in [run for run in mine if run.folder != spare]:
        if _fits(mine, coming, new, VISITOR_RUNS, VISITOR_MEGABYTES.bytes):
            break
        _remove(oldest.folder)
        mine.remove(oldest)
        kept.remove(oldest)
    if visitor != HOUSE and not _fits(kept, coming, new, RUNS, RUNS_MEGABYTES.bytes):
        raise ExplorerError(RUNS_MEGABYTES.tell())


def _fits(kept: list[_Kept], coming: int, new: bool, most_runs: int, most_bytes: int) -> bool:
    return len(kept) + new <= most_runs and sum(run.size for run in kept) + coming <= most_bytes


def _without_expired(folders: list[Path], spare: Path | None) -> list[_Kept]:
    kept = []
    for folder in folders:
        with contextlib.suppress(OSError):  # another thread may be deleting it
            used = folder.stat().st_mtime
            if folder != spare and time.time() - used > RUN_DAYS.most * DAY:
                _remove(folder)
            else:
                kept.append(_Kept(folder, visitor_of(folder), size_of(folder), used))
    return kept


def _remove(run: Path) -> None:
    """Delete a run; run.json goes first, so that no half-deleted run is ever listed."""
    with contextlib.suppress(OSError):
        (run / "run.json").unlink(missing_ok=True)
        shutil.rmtree(run)
