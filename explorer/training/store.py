"""Runs: what was trained, kept in files under ids that nobody can guess, so that it outlasts a reload and a restart.

A run is a folder with `run.json` and `weights.safetensors`; nothing is ever pickled. Runs expire, and all of them
together stay below a size. Nothing here imports torch before a run is written or read.
"""

import contextlib
import functools
import json
import os
import re
import secrets
import shutil
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.base.cache import OnceCache
from explorer.base.errors import ExplorerError, InputError
from explorer.base.paths import ASSETS
from explorer.model import checkpoints
from explorer.training import disk
from explorer.training.run import Run

MOST_RUNS = 300
MOST_BYTES = 2 * 2**30
EXPIRES_AFTER = 7 * 24 * 3600  # seconds without being used
TUNED = "tuned-"  # what the name of a tuned model starts with in the model box; the id of its run follows

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_writing = threading.Lock()


def folder() -> Path:
    """Where runs are kept: BERT_EXPLORER_RUNS, or `runs` beside the app, or the machine's folder for passing files."""
    named = os.environ.get("BERT_EXPLORER_RUNS", "").strip()
    places = [Path(named)] if named else []
    places += [ASSETS.parent / "runs", Path(tempfile.gettempdir()) / "bert-explorer-runs"]
    for place in places:
        with contextlib.suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(place, os.W_OK):
                _open(place)
                return place
    raise ExplorerError("There is no folder that runs can be kept in; set BERT_EXPLORER_RUNS to one.")


@functools.cache
def _open(place: Path) -> None:
    """What is done once, before anything in the folder is used."""
    disk.tidy(place)


def new_id() -> str:
    """An id that nobody can guess: 128 bits of chance."""
    return secrets.token_urlsafe(16)


def keep(run: Run, model: Path | None = None) -> Run:
    """Write a run, with the checkpoint in the folder `model` if there is one, and return it with its id.

    Runs that are too old or too many leave. When this returns the run is on the disk; until then there is none. Raises
    ExplorerError when the disk is full, or has a run of this id.
    """
    from explorer.training.files import write_run

    run = replace(run, id=run.id or new_id(), created=run.created or time.time())
    place = folder()
    with _writing:
        if (place / run.id).exists():
            raise ExplorerError("There is a run of this name already; train or load it again.")
        disk.tidy(place)
        _make_room(place)
        with disk.unfinished(place) as written:
            write_run(run, written)
            if model is not None:
                model.replace(written / "model")
            disk.finish(written, place / run.id)
    _read.get(run.id, lambda: run)
    return run


def fetch(identifier: object) -> Run:
    """The run kept under an id. Raises InputError when there is none (any more)."""
    from explorer.training.files import read_run

    place = _place(identifier)
    with contextlib.suppress(OSError):
        os.utime(place)  # used: it stays
    return _read.get(str(identifier), lambda: read_run(place, str(identifier)))


def peek(identifiers: list[str]) -> list[dict[str, Any]]:
    """What `run.json` says of each run that is still there, without its weights: for lists."""
    found = []
    for identifier in identifiers:
        with contextlib.suppress(OSError, ValueError, InputError):
            about = json.loads((_place(identifier) / "run.json").read_text("utf-8"))
            found.append({**about, "id": identifier})
    return found


def tuned_folder(name: str) -> Path | None:
    """The checkpoint of a tuned model by its name in the model box, or None when that is not the name of one."""
    with contextlib.suppress(InputError):
        if name.startswith(TUNED) and (place := _place(name.removeprefix(TUNED)) / "model").is_dir():
            return place
    return None


def _place(identifier: object) -> Path:
    """The folder of a run that exists."""
    if isinstance(identifier, str) and _ID.fullmatch(identifier) and (folder() / identifier / "run.json").is_file():
        return folder() / identifier
    raise InputError("There is no such head (any more); train one and use the id that comes back.")


def _make_room(place: Path) -> None:
    """Remove what is too old, then the oldest until there is room for one more."""
    runs = (path for path in place.iterdir() if _ID.fullmatch(path.name) and path.is_dir())
    entries = sorted(runs, key=lambda path: path.stat().st_mtime)
    sizes = {path: sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) for path in entries}
    total, count = sum(sizes.values()), len(entries)
    for path in entries:
        expired = time.time() - path.stat().st_mtime > EXPIRES_AFTER
        if not expired and total <= MOST_BYTES and count < MOST_RUNS:
            return
        _remove(path)
        total, count = total - sizes[path], count - 1


def _remove(run: Path) -> None:
    """Remove a run; what makes it listed goes first, so that no half of it is ever found."""
    with contextlib.suppress(OSError):
        (run / "run.json").unlink(missing_ok=True)
        shutil.rmtree(run)


_read: OnceCache[str, Run] = OnceCache(16)
checkpoints.add_source(tuned_folder)
