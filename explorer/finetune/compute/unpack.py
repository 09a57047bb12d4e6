"""Uploaded runs: a zip from an unknown source is checked, and tried out, before any of it is stored."""

import contextlib
import os
import shutil
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer, load
from explorer.bert.hub import NOT_STORABLE
from explorer.core import disk
from explorer.core.errors import ExplorerError, InputError, logger
from explorer.core.limits import MEGABYTE, Limit
from explorer.finetune.compute import quota, store
from explorer.finetune.compute.arrival import Settings, check_tokenizer, read_head, read_history, read_settings
from explorer.finetune.compute.export import FILES, INSIDE, MODEL_FILES, SCRIPT, digest
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.store import KINDS
from explorer.finetune.compute.task import make_plan

ZIP_MEGABYTES = Limit(  # BERT-base has 440 MB
    600, "This zip unpacks to more than {most} MB, which is more than a run can have."
)
WEIGHTS = "model/model.safetensors"
MOST_BYTES = {
    **dict.fromkeys(FILES, 32 * 2**20),  # a tokenizer's
    **{WEIGHTS: 600 * MEGABYTE, "head.safetensors": 8 * 2**20, SCRIPT.name: 2**20},
    **{"settings.json": 2**18, "log.csv": 2**19},  # with 100 labels, and of 1,000 epochs
}
MOST_SHRUNK, FEW_BYTES = 30, 8 * 2**20  # the highest compression ratio of larger zips: weights hardly compress
FREE = 64 * 2**20  # bytes that must stay free on the disk
END_BYTES = 20 + 22
MOST_LISTED_BYTES = 16 * 2**10  # the list of a dozen files' names and sizes
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
STRANGE = "This zip was not made by BERT Explorer, or it was changed; save a run as a zip and use that."


def unpack(path: Path, visitor: str = quota.HOUSE) -> Run:
    """Store the run in a zip for a visitor. Raises InputError unless it is what `pack` would have written.

    Only the files that `pack` writes are read, their sizes are limited, nothing in them is executed, and nothing of a refused zip
    stays on the disk. Raises ExplorerError when it does not fit, ModelError when its model cannot be loaded.
    """
    identifier = store.new_id()
    with disk.begin(disk.folder()) as folder:
        run, has_model = _read(path, folder)
        predictor = run.predictor
        if has_model:
            predictor = replace(predictor, model=store.tuned_name(identifier))
            with _nothing_strange():  # because its errors contain the model's name, which is secret
                model = Explorer(checkpoints.in_folder(predictor.model, folder))
        else:
            model = load(predictor.model)
        run = replace(run, id=identifier, predictor=predictor)
        _try(run, model)
        return store.keep(run, visitor, folder if has_model else None)


def _read(path: Path, folder: Path) -> tuple[Run, bool]:
    """The run in a zip, and whether its model was extracted to `folder`."""
    with _nothing_strange():
        _check_end(path)
        archive = zipfile.ZipFile(path)
    with archive:
        _check_entries(archive.infolist(), path.stat().st_size, folder)
        with _nothing_strange():
            settings = read_settings(archive.read("settings.json"))
            head = read_head(archive.read("head.safetensors"), len(settings.labels))
            history = read_history(archive.read("log.csv").decode("utf-8"), settings)
            has_model = WEIGHTS in archive.namelist() and not _is_here(settings)
            if has_model:
                _extract_model(archive, folder)
            elif settings.model.startswith(checkpoints.TUNED) or settings.model == INSIDE:
                raise ValueError("a model that is not in it")
    kind = KINDS[settings.kind].predictor
    predictor = kind(tuple(settings.labels), head, settings.model, settings.layer, settings.pooling)
    return Run(predictor, settings.title, settings.training, history, settings.best, None, settings.baselines), has_model


@contextlib.contextmanager
def _nothing_strange() -> Iterator[None]:
    """Convert any error to InputError(STRANGE), except when the disk is full."""
    try:
        yield
    except Exception as error:  # readers of broken files raise all kinds of errors
        if isinstance(error, OSError) and error.errno in NOT_STORABLE:
            raise
        logger.info("A zip was refused", exc_info=error)
        raise InputError(STRANGE) from error


def _check_end(path: Path) -> None:
    """Raise ValueError unless the list of entries is short: one of millions would take minutes and gigabytes to read.

    A zip ends with a record of 22 bytes: a signature, four numbers of 2 bytes, the size of that list in 4, its offset in 4, and
    the length of a comment in 2. Our zips are never so large that they need a zip64 record.
    """
    with path.open("rb") as file:
        file.seek(-END_BYTES, os.SEEK_END)
        newer, end = file.read(20), file.read()
    mark, listed, comment = struct.unpack("<4s8xI4xH", end)
    if mark != b"PK\5\6" or comment or listed > MOST_LISTED_BYTES or newer.startswith(b"PK\6\7"):
        raise ValueError("end")


def _check_entries(entries: list[zipfile.ZipInfo], packed: int, folder: Path) -> None:
    """Raise InputError unless the entries are the expected ones, with sizes possible in a zip of `packed` bytes."""
    sizes = {entry.filename: entry.file_size for entry in entries}
    total = sum(sizes.values())
    ZIP_MEGABYTES.check(total / MEGABYTE)
    unknown = not set(sizes) <= MOST_BYTES.keys() or len(sizes) < len(entries)
    packed_otherwise = any(entry.compress_type not in METHODS for entry in entries)
    bomb = total > FEW_BYTES and total > MOST_SHRUNK * packed
    if unknown or packed_otherwise or bomb or any(size > MOST_BYTES[name] for name, size in sizes.items()):
        raise InputError(STRANGE)
    if shutil.disk_usage(folder).free < total + FREE:
        raise ExplorerError(disk.FULL)


def _is_here(settings: Settings) -> bool:
    """Whether the packed model is the local one of that name; nothing is downloaded to find out."""
    folder = None if settings.layers_trained else checkpoints.here(settings.model)
    weights = folder and folder / "model.safetensors"
    return weights is not None and weights.is_file() and digest(weights) == settings.model_sha256


def _extract_model(archive: zipfile.ZipFile, folder: Path) -> None:
    """Extract the files of the model.

    Raises ValueError when one is shorter than declared; zipfile does not read beyond that size.
    """
    for name in MODEL_FILES:
        if f"model/{name}" in archive.namelist():
            with archive.open(f"model/{name}") as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)
                if target.tell() != archive.getinfo(f"model/{name}").file_size:
                    raise ValueError("size")
    if (folder / "tokenizer.json").is_file():
        check_tokenizer(folder / "tokenizer.json")


def _try(run: Run, model: Explorer) -> None:
    """Run what the views will run. Raises InputError when it fails or gives numbers that are not finite."""
    predictor = run.predictor
    with _nothing_strange():
        make_plan(model, predictor.layer, predictor.pooling, predictor=type(predictor))
        if not np.isfinite(predictor.sample(model)).all():
            raise ValueError("scores")
