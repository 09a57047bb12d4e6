"""Checks of the files of an uploaded run: they must be what `pack` would have written, and within what every view can show."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from safetensors.numpy import load as load_tensors

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.formats import Every, Own, parse, values
from explorer.core.limits import CLASSES, JSON_VALUES, LABEL
from explorer.finetune.compute.run import CORRELATIONS
from explorer.finetune.compute.store import HEAD_TENSORS, KINDS
from explorer.finetune.compute.task import CHECKS, MOST_UNITS
from explorer.text import limits
from explorer.training.head import Head

MOST_LAYERS = 1000
MOST_EPOCHS = 1000  # higher than here: the run may come from an app with other limits
MOST_TITLE, MOST_NAME, MOST_MODEL = 80, 60, 300  # characters of a title, and of the names of a baseline and a model
MOST_BASELINES = 10
MOST_HEADER_BYTES = 16 * 2**10  # of a head's file: four tensors have a tenth of it
LARGEST = 1e9  # absolute value of a head's weights and of a loss, so that what is computed with them stays finite
MOST_LETTERS = 200  # characters of the longest word that WordPiece may try to split: its time grows at least with their square
TOKENIZER = "The tokenizer in this file could read a text without end; use one as its library writes it."
HARMLESS = {" {2,}"}  # regular expressions of published tokenizers that are known to be fast


def _layer(value: object) -> int:
    return limits.check_integer(value, "the layer", 0, MOST_LAYERS)


def _epochs(value: object) -> int:
    return limits.check_integer(value, "the number of epochs", 0, MOST_EPOCHS)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


_TRAINING: dict[str, Callable[[object], Any]] = CHECKS | {
    "layer": _layer,
    "layers_trained": _layer,
    "epochs": _epochs,
    "held_out": lambda value: limits.check_number(value, "the share held out", 0, 0.9),
    "keep_best": _boolean,
    "balanced": _boolean,
}


class Settings(Own):
    """The file settings.json of a run."""

    kind: str = "classes"
    labels: Every[str]
    layer: int
    pooling: str
    layers_trained: int
    best: int
    model: str = Field(max_length=MOST_MODEL)
    model_sha256: str | None = None
    title: str
    training: dict[str, Any]  # those of another version are dropped
    baselines: dict[Annotated[str, Field(max_length=MOST_NAME)], float] = Field(max_length=MOST_BASELINES)
    max_tokens: int = 0  # for the script in the zip, as the next one
    final_norm: str = ""


def read_settings(data: bytes) -> dict[str, Any]:
    """The settings of a run, if every entry is what `pack` would have written. Raises InputError, ValueError or TypeError."""
    given = parse(Settings, data, JSON_VALUES)
    kind = limits.check_choice(given.kind, "the kind", list(KINDS))
    predictor = KINDS[kind].predictor
    few = len(predictor.own_labels) or 2
    if not few <= len(given.labels) <= CLASSES.most:
        raise ValueError("numbers")
    checked = [limits.check_text(label, "the label", LABEL) for label in given.labels]
    if len(set(checked)) != len(checked) or (predictor.own_labels and checked != list(predictor.own_labels)):
        raise ValueError("labels")
    pooling = limits.check_choice(given.pooling, "pooling", predictor.poolings)
    training = {name: check(given.training[name]) for name, check in _TRAINING.items() if name in given.training}
    return {
        "kind": kind,
        "labels": checked,
        "layer": _layer(given.layer),
        "pooling": pooling,
        "layers_trained": _layer(given.layers_trained),
        "best": limits.check_integer(given.best, "best", 0, MOST_EPOCHS - 1),
        "model": limits.check_text(given.model),
        "model_sha256": given.model_sha256,
        "title": limits.check_text(given.title)[:MOST_TITLE],
        "training": {**training, "pooling": pooling},
        "baselines": {
            limits.check_text(name): limits.check_number(value, "a score", _least(predictor.measures[1]), 1)
            for name, value in given.baselines.items()
        },
    }


def read_head(data: bytes, labels: int) -> Head:
    """The head in a safetensors file. Raises ValueError unless its tensors are finite and fit each other and the labels."""
    if int.from_bytes(data[:8], "little") > MOST_HEADER_BYTES:
        raise ValueError("header")
    tensors = load_tensors(data)
    if not {"weight", "bias"} <= set(tensors) <= set(HEAD_TENSORS) or ("hidden_weight" in tensors) != ("hidden_bias" in tensors):
        raise ValueError("tensors")
    units = tensors["weight"].shape[-1]
    shapes: dict[str, tuple[int, ...]] = {"weight": (labels, units), "bias": (labels,)}
    if "hidden_weight" in tensors:
        shapes |= {"hidden_weight": (units, tensors["hidden_weight"].shape[-1]), "hidden_bias": (units,)}
    if any(tensors[name].shape != shape for name, shape in shapes.items()) or units < 1:
        raise ValueError("shapes")
    if "hidden_weight" in tensors and units > MOST_UNITS:
        raise ValueError("units")
    if not all(tensor.dtype == np.float32 and (np.abs(tensor) < LARGEST).all() for tensor in tensors.values()):
        raise ValueError("numbers")
    return Head(**tensors)


def _least(measure: str) -> float:
    return -1 if measure in CORRELATIONS else 0


def read_history(log: str, settings: Mapping[str, Any]) -> list[dict[str, float]]:
    """The rows of the log, one per epoch from 1. Raises ValueError for a number that training cannot give."""
    measures = KINDS[settings["kind"]].predictor.measures
    least = {f"{part}_{name}": _least(name) for part in ("train", "held_out") for name in measures}
    history = []
    for number, row in enumerate(csv.DictReader(io.StringIO(log)), start=1):
        found = {name: float(value) for name, value in row.items()}
        if set(found) != {"epoch", *least} or number > MOST_EPOCHS or found.pop("epoch") != number:
            raise ValueError("log")
        for name, value in found.items():
            limits.check_number(value, name, least[name], LARGEST if name.endswith("loss") else 1)
        history.append({"epoch": number, **found})
    if settings["best"] >= len(history):
        raise ValueError("best")
    return history


@apart
def check_tokenizer(path: Path) -> None:
    """Raise InputError when a tokenizer.json could make reading a text very slow, or the text much longer.

    That is, for regular expressions (which may backtrack), replacements longer than what they replace, and very long words.
    """
    try:
        _check_tokenizer(values(path.read_bytes(), JSON_VALUES))
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
