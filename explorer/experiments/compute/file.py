"""An experiment as one JSON file: its items, every number, and how it was made."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import Explorer
from explorer.bert.provenance import weights_hash
from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.formats import Every, Own, parse
from explorer.core.limits import ITEMS, JSON_VALUES, LARGE, Part
from explorer.core.paths import EXPERIMENTS
from explorer.experiments.compute.experiment import MOST_SEED, QUESTIONS, Experiment, without_nan
from explorer.experiments.compute.heads import HEADS_OFF, ZERO
from explorer.experiments.compute.items import check_items, suite_items
from explorer.experiments.compute.targets import WORD
from explorer.text import limits

FORMAT = "bert-explorer experiment 1"
NO_EXPERIMENT = "This file holds no experiment that can be read; save it once more, and send it as it is."
ALSO = ("nulls", "sizes")  # arrays of some questions
MOST_PLACES = 4_096  # of a question: heads of all layers, at most
MOST_ALSO = 4  # arrays of what else was measured
MOST_SAID = 1_000  # characters of a sentence or name in a file
MEGABYTES = Part(ITEMS, 1 / 100, LARGE)
VALUES = Part(ITEMS, 1_000, JSON_VALUES.sentence)  # two numbers for each head of BERT-large
DIGITS = 6  # behind the point: a logit is not computed more exactly

Said = Annotated[str, Field(max_length=MOST_SAID)]
Sparse = Every[Every[float | None]] | Every[Every[Every[float | None]]]  # None where it was not measured
Numbers = Every[Every[float]] | Every[Every[Every[float]]]  # for each item and place, which has one or two numbers


class Provenance(Own):
    """How an experiment was made."""

    question: Said
    how: Said
    target: Said = WORD
    seed: int = Field(ge=0, le=MOST_SEED)  # which draws the same halves again
    items: int
    model: Said
    weights: Said
    dtype: Said
    device: Said = ""
    explorer: Said
    torch: Said
    transformers: Said


class Written(Own):
    format: str
    provenance: Provenance
    items: Every[tuple[str, str, str, str]]
    groups: Every[Said] | None = None
    pieces: Every[tuple[Said, Said]]
    before: Every[float]
    values: Numbers = Field(union_mode="left_to_right")
    nulls: Numbers | None = Field(None, union_mode="left_to_right")
    sizes: Every[float] | None = None
    also: dict[Said, Sparse] = Field({}, max_length=MOST_ALSO)
    left_out: dict[int, Said] = Field({})


def written(experiment: Experiment) -> str:
    """The file's text."""
    groups = [item.group for item in experiment.items]
    arrays = {name: getattr(experiment, name) for name in ("before", "values", *ALSO)}
    given = {
        "format": FORMAT,
        "provenance": experiment.provenance,
        "items": [item.row for item in experiment.items],
        "groups": groups if any(groups) else None,
        "pieces": experiment.pieces,
        **{name: None if array is None else _rounded(array) for name, array in arrays.items()},
        "left_out": experiment.left_out or None,
        "also": {name: _rounded(array) for name, array in experiment.also.items()} or None,
    }
    text = json.dumps({name: one for name, one in given.items() if one is not None}, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n"


def opened(text: str) -> Experiment:
    """The experiment of a file's text, whose summary is computed again. Raises InputError for a text that holds none."""
    MEGABYTES.check(len(text) / 2**20)
    try:
        found = _read(parse(Written, text.encode(), VALUES))
        places = tuple(len(axis.labels) for axis in found.axes)
    except (ValueError, KeyError) as error:
        raise InputError(NO_EXPERIMENT) from error
    items = (len(found.items),)
    every = (found.values, found.nulls, *found.also.values())
    shapes = [(found.before, items), (found.sizes, items), *((array, (*items, *places)) for array in every)]
    fits = all(array is None or array.shape == shape for array, shape in shapes)
    finite = all(array is None or np.isfinite(array).all() for array in (found.before, found.sizes, found.values, found.nulls))
    positive = found.sizes is None or (found.sizes > 0).all()
    counts = len(found.pieces) == len(found.items) and 0 < np.prod(places, dtype=float) <= MOST_PLACES
    if not (fits and finite and positive and counts):
        raise InputError(NO_EXPERIMENT)
    return found


def _read(given: Written) -> Experiment:
    """What a file holds, whose arrays need not fit together."""
    made = given.provenance
    question = QUESTIONS[limits.check_choice(made.question, "the question", list(QUESTIONS))]
    question.check_way(made.how)
    limits.check_choice(made.target, "the target", question.targets)
    if given.format != FORMAT or set(given.also) - set(question.also):
        raise InputError(NO_EXPERIMENT)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which no file has
        numbers = {name: getattr(given, name) for name in ("before", "values", *ALSO)}
        arrays: dict[str, Any] = {name: np.array(value, dtype=np.float32) for name, value in numbers.items() if value is not None}
        also = {name: np.array(array, dtype=np.float32) for name, array in given.also.items()}
    items, provenance = check_items(given.items, given.groups or ()), made.model_dump(exclude_unset=True)
    return Experiment(items, tuple(given.pieces), provenance=provenance, left_out=given.left_out, also=also, **arrays)


def save_experiment(experiment: Experiment, path: str | Path) -> None:
    """Write all items, numbers and the provenance of an experiment into a file for `open_experiment`. Raises OSError."""
    Path(path).write_text(written(experiment), "utf-8")


@apart
def open_experiment(path: Path) -> Experiment:
    """The experiment in a file, on any machine and without its model. Raises InputError for a file that holds none."""
    try:
        MEGABYTES.check(path.stat().st_size / 2**20)  # before it is read
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(NO_EXPERIMENT) from error
    return opened(text)


@functools.cache
def _shipped(suite: str) -> Experiment:
    return open_experiment(EXPERIMENTS / f"{suite}.json")


def shipped(
    model: Explorer, suite: str, question: str = HEADS_OFF, how: str = ZERO, seed: int = 0, target: str = WORD
) -> Experiment | None:
    """What comes with the app for the items of a suite: heads of the bundled model switched off by zeros; else None."""
    if model.checkpoint.folder != BUNDLED_FOLDER or (question, how, target) != (HEADS_OFF, ZERO, WORD):
        return None
    found, items = _shipped(suite), suite_items(suite)
    same = found.provenance["weights"] == weights_hash(model.checkpoint) and found.items == items
    return replace(found, items=items, provenance={**found.provenance, "seed": seed}) if same else None


def _rounded(values: np.ndarray) -> Any:
    return without_nan(np.round(values.astype(np.float64), DIGITS))
