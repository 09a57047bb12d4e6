"""Uploaded runs: a zip from an unknown source is checked, and tried out, before any of it is stored.

Its files must be what `pack` would have written, and within what every view can show.
"""

import contextlib
import csv
import io
import os
import shutil
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, StrictBool, TypeAdapter
from safetensors.numpy import load as load_tensors

from explorer.bert import checkpoints
from explorer.bert.explorer import Explorer, load
from explorer.bert.hub import NOT_STORABLE
from explorer.bert.provenance import digest
from explorer.core import disk
from explorer.core.apart import apart
from explorer.core.errors import ExplorerError, InputError, logger
from explorer.core.formats import Every, Own, parse, values
from explorer.core.limits import CLASSES, LABEL, MEGABYTE, VALUES, Limit
from explorer.finetune.compute import store
from explorer.finetune.compute.export import FILES, INSIDE, MODEL_FILES, SCRIPT
from explorer.finetune.compute.predictor import CORRELATIONS, Run
from explorer.finetune.compute.task import CHECKS, HEADS, make_plan
from explorer.text import limits
from explorer.training.head import Head

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
MOST_UNITS = 512  # of the hidden layer of a head: the app trained such heads until 2026
MOST_EPOCHS = 1000  # and layers: higher than here, since the run may come from an app with other limits
MOST_TITLE = 80  # characters of a title that are kept
MOST_HEADER_BYTES = 16 * 2**10  # of a head's file: four tensors have a tenth of it
LARGEST = 1e9  # absolute value of a head's weights and of a loss, so that what is computed with them stays finite
MOST_LETTERS = 200  # characters of the longest word that WordPiece may try to split: its time grows at least with their square
TOKENIZER = "The tokenizer in this file could read a text without end. Use one as its library writes it."
HARMLESS = {" {2,}"}  # regular expressions of published tokenizers that are known to be fast

Count = Annotated[int, Field(strict=True, ge=0, le=MOST_EPOCHS)]
Name = Annotated[str, Field(max_length=60)]


_TRAINING: dict[str, Callable[[object], Any]] = {
    **CHECKS,
    **dict.fromkeys(("layer", "layers_trained", "epochs"), TypeAdapter(Count).validate_python),
    "keep_best": TypeAdapter(StrictBool).validate_python,
    "held_out": lambda value: limits.check_number(value, "the share held out", 0, 0.9),
}


class Settings(Own):
    """The file settings.json of a run."""

    kind: str = "classes"
    labels: Every[str]
    layer: Count
    pooling: str
    layers_trained: Count
    best: Count
    model: str = Field(max_length=300)
    model_sha256: str | None = None
    title: str
    training: dict[str, Any]  # those of another version are dropped
    baselines: dict[Name, Annotated[float, Field(ge=-1, le=1)]] = Field(max_length=10)
    max_tokens: int = 0  # for the script in the zip, as the next one
    final_norm: str = ""


def unpack(path: Path, visitor: str = store.HOUSE) -> Run:
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
    kind = HEADS[settings.kind]
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
        if not np.isfinite(predictor.scores(model, predictor.samples)).all():
            raise ValueError("scores")


def read_settings(data: bytes) -> Settings:
    """The settings of a run, if every entry is what `pack` would have written. Raises InputError, ValueError or KeyError."""
    given = parse(Settings, data, VALUES)
    predictor, labels = HEADS[given.kind], tuple(limits.check_text(name, "a label", LABEL) for name in given.labels)
    if len(set(labels)) != len(labels) or len(labels) > CLASSES.most or (predictor.own_labels or labels) != labels:
        raise ValueError("labels")
    if len(labels) < 2 and not predictor.own_labels:
        raise ValueError("labels")
    limits.check_choice(given.pooling, "pooling", predictor.poolings)
    for text in (given.model, given.title, *given.baselines):
        limits.check_text(text)
    training = {name: check(given.training[name]) for name, check in _TRAINING.items() if name in given.training}
    return given.model_copy(
        update={"labels": labels, "title": given.title[:MOST_TITLE], "training": {**training, "pooling": given.pooling}}
    )


def read_head(data: bytes, labels: int) -> Head:
    """The head in a safetensors file. Raises ValueError unless its tensors are finite and fit each other and the labels."""
    if int.from_bytes(data[:8], "little") > MOST_HEADER_BYTES:
        raise ValueError("header")
    head = Head(**load_tensors(data))
    units, hidden = head.weight.shape[-1], head.hidden_weight
    shapes: list[tuple[int, ...]] = [(labels, units), (labels,)]
    if hidden is not None:
        shapes += [(units, hidden.shape[-1]), (units,)]
    tensors = [tensor for tensor in vars(head).values() if tensor is not None]
    if [tensor.shape for tensor in tensors] != shapes or units < 1 or (hidden is not None and units > MOST_UNITS):
        raise ValueError("shapes")
    if not all(tensor.dtype == np.float32 and (np.abs(tensor) < LARGEST).all() for tensor in tensors):
        raise ValueError("numbers")
    return head


def read_history(log: str, settings: Settings) -> list[dict[str, float]]:
    """The rows of the log, one per epoch from 1. Raises ValueError for a number that training cannot give."""
    names = [f"{part}_{name}" for part in ("train", "held_out") for name in HEADS[settings.kind].measures]
    history = []
    for number, row in enumerate(csv.DictReader(io.StringIO(log)), start=1):
        found = {name: float(value) for name, value in row.items()}
        if set(found) != {"epoch", *names} or number > MOST_EPOCHS or found.pop("epoch") != number:
            raise ValueError("log")
        for name, value in found.items():
            least = -1 if name.endswith(CORRELATIONS) else 0
            limits.check_number(value, name, least, LARGEST if name.endswith("loss") else 1)
        history.append({"epoch": number, **found})
    if settings.best >= len(history):
        raise ValueError("best")
    return history


@apart
def check_tokenizer(path: Path) -> None:
    """Raise InputError when a tokenizer.json could make reading a text very slow, or the text much longer.

    That is, for regular expressions (which may backtrack), replacements longer than what they replace, and very long words.
    """
    try:
        _check_tokenizer(values(path.read_bytes(), VALUES))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(TOKENIZER) from error


def _check_tokenizer(given: object) -> None:
    for entry in _objects(given):
        pattern = entry.get("pattern")
        if isinstance(pattern, dict) and not set(pattern) <= {"String"} and pattern.get("Regex") not in HARMLESS:
            raise ValueError("regular expression")
        if entry.get("type") == "Replace":
            replaced = "".join(map(str, pattern.values())) if isinstance(pattern, dict) else ""
            if len(entry["content"]) > len(replaced):
                raise ValueError("replacement")
        limits.check_integer(entry.get("max_input_chars_per_word", 0), "the letters of a word", 0, MOST_LETTERS)


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, without recursion; the vocabulary, which is long and flat, is one of them."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield found
        if isinstance(found, dict | list):
            waiting.extend(part for part in (found.values() if isinstance(found, dict) else found))
