"""The store of runs: files under ids that cannot be guessed, which outlast a reload and a restart.

A run is a folder with `run.json` and `weights.safetensors`; nothing is ever pickled. It is never deleted to make room for another
visitor's. A visitor is known by an id that the browser keeps, a program by its address. Runs that the page itself starts with
belong to HOUSE, which has no owner.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from safetensors import SafetensorError

from explorer.bert import checkpoints
from explorer.bert.explorer import load
from explorer.bert.provenance import weights_hash
from explorer.core import disk
from explorer.core.cache import OnceCache
from explorer.core.disk import folder
from explorer.core.engine import safetensors_torch, torch
from explorer.core.errors import ExplorerError, InputError, ModelError
from explorer.core.limits import DAY, MEGABYTE, RUN_DAYS, RUNS_MEGABYTES, VISITOR_MEGABYTES
from explorer.finetune.compute.layers import Top
from explorer.finetune.compute.predictor import Run
from explorer.finetune.compute.task import HEADS, TrainingResult, as_run
from explorer.training.head import Head

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_TUNED_NAME = re.compile(checkpoints.TUNED + _ID.pattern)
HOUSE = ""
RUNS, VISITOR_RUNS = 500, 50  # of all visitors, and of one
_OWNER = "visitor.json"
_writing = threading.Lock()


def new_id() -> str:
    """A random id of 128 bits, which cannot be guessed."""
    return secrets.token_urlsafe(16)


def is_id(value: object) -> TypeGuard[str]:
    """Whether a value has the form of a run's id."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def keep(run: Run, visitor: str = HOUSE, model: Path | None = None) -> Run:
    """Write a visitor's run, with the checkpoint in the folder `model` if given, and return it with its id.

    Room is made first, see `_make_room`. The write is atomic. Raises ExplorerError if the run does not fit, if the disk is
    full, or if a run of this id exists.
    """
    run = replace(run, id=run.id or new_id(), created=run.created or time.time())
    about, place = run.as_json(), folder()
    if model is None:
        about["weights"] = weights_hash(load(run.predictor.model).checkpoint)
    with _writing:
        if (place / run.id).exists():
            raise ExplorerError("A run of this name exists already. Train or load it again.")
        _make_room(visitor, size_of(run) + (disk.size_of(model) if model is not None else 0))
        with disk.begin(place) as written:
            safetensors_torch.save_file(_tensors(run), written / "weights.safetensors")
            (written / "run.json").write_text(json.dumps(about, ensure_ascii=False), "utf-8")
            (written / _OWNER).write_text(json.dumps(visitor), "utf-8")
            if model is not None:
                model.replace(written / "model")
            disk.finish(written, place / run.id)
    _read.get(run.id, lambda: run)
    return run


def new_run(result: TrainingResult, title: str, identifier: str = "", visitor: str = HOUSE) -> Run:
    """Store a visitor's training under an id, or under a new one."""
    return keep(as_run(result, title, identifier), visitor)


def fetch(identifier: object) -> Run:
    """The run of an id. Raises InputError when there is none, or it has expired."""
    place = _place(identifier)
    with contextlib.suppress(OSError):
        os.utime(place)  # mark as used: the oldest are deleted first
    return _read.get(str(identifier), lambda: read_run(place, str(identifier)))


def peek(identifiers: list[str]) -> list[dict[str, Any]]:
    """The contents of `run.json`, without weights, of each run that still exists: for lists."""
    found = []
    for identifier in identifiers:
        with contextlib.suppress(OSError, ValueError, InputError):
            about = json.loads((_place(identifier) / "run.json").read_text("utf-8"))
            found.append({**about, "id": identifier})
    return found


def make_room(identifier: str, coming: int) -> None:
    """Make room for `coming` bytes more in the folder of a run. Raises ExplorerError if that is impossible."""
    place = _place(identifier)
    with _writing:
        _make_room(visitor_of(place), coming, new=False, spare=place)


def tuned_name(identifier: str) -> str:
    """The name of a run's tuned model in the model box. It may be shared: the run's id cannot be derived from it."""
    digest = hashlib.sha256(f"the tuned model of {identifier}".encode()).digest()
    return checkpoints.TUNED + base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def tuned_folder(name: str) -> Path | None:
    """The checkpoint of a tuned model by its name in the model box, or None for any other name.

    Raises ModelError when there is no such model, or it has expired.
    """
    if not _TUNED_NAME.fullmatch(name):
        return None
    for place in _runs():
        if tuned_name(place.name) == name and (place / "model").is_dir():
            return place / "model"
    raise ModelError(f"The model {name} is no longer stored here. Open it from its run again, or train it again.")


def _runs() -> list[Path]:
    return [path for path in folder().iterdir() if is_id(path.name) and path.is_dir()]


def _place(identifier: object) -> Path:
    """The folder of an existing run. Raises InputError."""
    if is_id(identifier) and (folder() / identifier / "run.json").is_file():
        return folder() / identifier
    raise InputError("No head has this id, or it no longer exists. Train one and use the id that comes back.")


@dataclass(frozen=True)
class _Kept:
    """A run on the disk, with its owner."""

    folder: Path
    visitor: str
    size: int  # bytes
    used: float  # seconds since 1970


def visitor_of(place: Path) -> str:
    """The owner of the run in a folder."""
    with contextlib.suppress(OSError, ValueError):
        return str(json.loads((place / _OWNER).read_text("utf-8")))
    return HOUSE


def _make_room(visitor: str, coming: int, new: bool = True, spare: Path | None = None) -> None:
    """Delete what was abandoned or has expired, and then the visitor's oldest runs, until `coming` bytes fit.

    They are of a `new` run or not; the run in `spare` is kept. Raises ExplorerError when they do not fit, because the visitor's
    share is too small or the runs of others fill the store.
    """
    disk.tidy(folder())
    kept = _without_expired(spare)
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


def _without_expired(spare: Path | None) -> list[_Kept]:
    kept = []
    for place in _runs():
        with contextlib.suppress(OSError):  # another thread may be deleting it
            used = place.stat().st_mtime
            if place != spare and time.time() - used > RUN_DAYS.most * DAY:
                _remove(place)
            else:
                kept.append(_Kept(place, visitor_of(place), disk.size_of(place), used))
    return kept


def _remove(run: Path) -> None:
    """Delete a run; run.json goes first, so that no half-deleted run is ever listed."""
    with contextlib.suppress(OSError):
        (run / "run.json").unlink(missing_ok=True)
        shutil.rmtree(run)


_read: OnceCache[str, Run] = OnceCache(16)
checkpoints.add_source(tuned_folder)


def _tensors(run: Run) -> dict[str, torch.Tensor]:
    """All weights and arrays of a run, by their names in its file."""
    arrays = {f"head.{name}": array for name, array in head_arrays(run.predictor.head).items()}
    for part, record in run.records.items():
        arrays |= {f"{part}.{name}": np.asarray(getattr(record, name), np.float32) for name in record.arrays}
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if run.predictor.top is not None:
        tensors |= {f"top.{name}": tensor for name, tensor in run.predictor.top.module.state_dict().items()}
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def size_of(run: Run) -> int:
    """The approximate size of a run in bytes, before it is written."""
    return len(json.dumps(run.as_json())) + sum(tensor.nbytes for tensor in _tensors(run).values())


def head_arrays(head: Head) -> dict[str, np.ndarray]:
    """The arrays of a head by name: two for a linear head, four with a hidden layer."""
    return {name: array for name, array in vars(head).items() if array is not None}


def _under(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): tensor.numpy() for name, tensor in tensors.items() if name.startswith(prefix)}


def _check_weights(model: str, weights: str | None) -> None:
    """Raise InputError where a model's weights are others than those that a run was trained on; a head fits one encoder only.

    Older runs do not name theirs; on the bundled model they were those of an edition before this.
    """
    if weights is None and model != checkpoints.BUNDLED:
        return
    if weights != weights_hash(load(model).checkpoint):
        raise InputError(f"This run was trained on other weights of {model} than are here now. Train it again, or open its zip.")


def read_run(folder: Path, identifier: str) -> Run:
    """The run in a folder of the store.

    Raises InputError for broken files or another model than it was trained on, ModelError when its model cannot be loaded.
    """
    try:
        about = json.loads((folder / "run.json").read_text("utf-8"))
        tensors = safetensors_torch.load_file(folder / "weights.safetensors")
        _check_weights(about["model"], about.get("weights"))
        head = Head(**_under("head.", tensors))
        place = {name: about[name] for name in ("model", "layer", "pooling")}
        kind, top = HEADS[about.get("kind", "classes")], None
        if trained := about["layers_trained"]:
            top = Top(load(about["model"]), about["layer"], trained, kind.top_pooling(about["pooling"])).freeze()
            top.module.load_state_dict({name: torch.from_numpy(weight) for name, weight in _under("top.", tensors).items()})
        predictor = kind(tuple(about["labels"]), head, **place, top=top)
        kept = {name: about[name] for name in ("title", "settings", "history", "best", "baselines", "created")}
        for part in ("held_out", "learned"):  # older runs lack the latter
            kept[part] = kind.record.read(about[part], _under(f"{part}.", tensors)) if about.get(part) is not None else None
        return Run(predictor, id=identifier, **kept)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise InputError("The files of this run are damaged. Train it again.") from error
