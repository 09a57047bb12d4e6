"""Checks of the files of an uploaded run: they must be what `pack` would have written, and within what every view can show."""

import csv
import io
from collections.abc import Callable, Iterator
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
from explorer.finetune.compute.store import KINDS
from explorer.finetune.compute.task import CHECKS, MOST_UNITS
from explorer.text import limits
from explorer.training.head import Head

MOST_EPOCHS = 1000  # and layers: higher than here, since the run may come from an app with other limits
MOST_TITLE = 80  # characters of a title that are kept
MOST_HEADER_BYTES = 16 * 2**10  # of a head's file: four tensors have a tenth of it
LARGEST = 1e9  # absolute value of a head's weights and of a loss, so that what is computed with them stays finite
MOST_LETTERS = 200  # characters of the longest word that WordPiece may try to split: its time grows at least with their square
TOKENIZER = "The tokenizer in this file could read a text without end; use one as its library writes it."
HARMLESS = {" {2,}"}  # regular expressions of published tokenizers that are known to be fast

Count = Annotated[int, Field(ge=0, le=MOST_EPOCHS)]
Name = Annotated[str, Field(max_length=60)]


def _whole(value: object) -> int:
    return limits.check_integer(value, "the number", 0, MOST_EPOCHS)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


_TRAINING: dict[str, Callable[[object], Any]] = {
    **CHECKS,
    **dict.fromkeys(("layer", "layers_trained", "epochs"), _whole),
    **dict.fromkeys(("keep_best", "balanced"), _boolean),
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


def read_settings(data: bytes) -> Settings:
    """The settings of a run, if every entry is what `pack` would have written. Raises InputError, ValueError or KeyError."""
    given = parse(Settings, data, JSON_VALUES)
    predictor, labels = KINDS[given.kind].predictor, tuple(limits.check_text(name, "a label", LABEL) for name in given.labels)
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
    names = [f"{part}_{name}" for part in ("train", "held_out") for name in KINDS[settings.kind].predictor.measures]
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
