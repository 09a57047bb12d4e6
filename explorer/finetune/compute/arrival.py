"""Checks of the files of an uploaded run: they must be what `pack` would have written, and within what every view can show."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors

from explorer.core.limits import CLASSES, LABEL
from explorer.finetune.compute.run import CORRELATIONS
from explorer.finetune.compute.store import HEAD_TENSORS, KINDS
from explorer.finetune.compute.task import CHECKS, MOST_UNITS
from explorer.text import limits
from explorer.training.head import Head

MOST_LAYERS = 1000
MOST_EPOCHS = 1000  # higher than here: the run may come from an app with other limits
MOST_TITLE, MOST_NAME, MOST_MODEL = 80, 60, 300  # characters of a title, and of the names of a baseline and a model
MOST_BASELINES = 10
LARGEST = 1e9  # absolute value of a head's weights and of a loss, so that what is computed with them stays finite
MOST_LETTERS = 200  # characters of the longest word that WordPiece may try to split: its time grows at least with their square
HARMLESS = {" {2,}"}  # regular expressions of published tokenizers that are known to be fast


def _layer(value: object) -> int:
    return limits.check_integer(value, "the layer", 0, MOST_LAYERS)


def _epochs(value: object) -> int:
    return limits.check_integer(value, "the number of epochs", 0, MOST_EPOCHS)


def _name(value: object, most: int) -> str:
    name = limits.check_text(value)
    if len(name) > most:
        raise ValueError("length")
    return name


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


_TRAINING: dict[str, Callable[[object], Any]] = CHECKS | {
    "layer": _layer,
    "layers_trained": _layer,
    "epochs": _epochs,
    "patience": _epochs,
    "held_out": lambda value: limits.check_number(value, "the share held out", 0, 0.9),
    "keep_best": _boolean,
    "balanced": _boolean,
}


def read_json(data: bytes) -> Any:
    """Strict JSON, without NaN and Infinity. Raises ValueError."""
    return json.loads(data, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def check_settings(settings: Any) -> dict[str, Any]:
    """The settings of a run, if every entry is what `pack` would have written; unknown entries are dropped.

    Raises InputError, ValueError, KeyError or TypeError.
    """
    labels, training, baselines = (settings[name] for name in ("labels", "training", "baselines"))
    kind = limits.check_choice(settings.get("kind", "classes"), "the kind", list(KINDS))
    predictor = KINDS[kind].predictor
    few = len(predictor.own_labels) or 2
    if not isinstance(labels, list) or not few <= len(labels) <= CLASSES.most or len(baselines) > MOST_BASELINES:
        raise ValueError("numbers")
    checked = [limits.check_text(label, "the label", LABEL) for label in labels]
    if len(set(checked)) != len(checked) or (predictor.own_labels and checked != list(predictor.own_labels)):
        raise ValueError("labels")
    pooling = limits.check_choice(settings["pooling"], "pooling", predictor.poolings)
    return {
        "kind": kind,
        "labels": checked,
        "layer": _layer(settings["layer"]),
        "pooling": pooling,
        "layers_trained": _layer(settings["layers_trained"]),
        "best": limits.check_integer(settings["best"], "best", 0, MOST_EPOCHS - 1),
        "model": _name(settings["model"], MOST_MODEL),
        "model_sha256": settings.get("model_sha256"),
        "title": limits.check_text(settings["title"])[:MOST_TITLE],
        "training": {
            **{name: check(training[name]) for name, check in _TRAINING.items() if name in training},
            "pooling": pooling,
        },
        "baselines": {
            _name(name, MOST_NAME): limits.check_number(value, "a score", _least(predictor.measures[1]), 1)
            for name, value in baselines.items()
        },
    }


def read_head(data: bytes, labels: int) -> Head:
    """The head in a safetensors file. Raises ValueError unless its tensors are finite and fit each other and the labels."""
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


def check_tokenizer(data: bytes) -> None:
    """Raise ValueError when a tokenizer.json could make reading a text very slow, or the text much longer.

    That is, for regular expressions (which may backtrack), replacements longer than what they replace, and very long words.
    """
    for entry in _objects(read_json(data)):
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
