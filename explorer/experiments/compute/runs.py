"""Runs as JSON files, with their items, every number and how they were made; several checkpoints, and two runs side by side."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from explorer.analysis.evaluation import spearman
from explorer.analysis.resampling import benjamini_hochberg
from explorer.bert.checkpoints import BUNDLED_FOLDER
from explorer.bert.explorer import Explorer, load
from explorer.bert.provenance import weights_hash
from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.formats import Every, Own, parse
from explorer.core.lazy import scipy
from explorer.core.limits import ITEMS, LARGE, VALUES, Part
from explorer.core.paths import EXPERIMENTS
from explorer.core.steps import in_one_call, map_steps
from explorer.experiments.compute.experiment import MOST_SEED, QUESTIONS, Experiment, experiment_in_steps, without_nan
from explorer.experiments.compute.heads import HEADS_OFF, ZERO
from explorer.experiments.compute.items import check_items, number_groups
from explorer.experiments.compute.minimal_pairs import TITLES, suite_items
from explorer.experiments.compute.question import place_of
from explorer.experiments.compute.summary import Summary, summarise
from explorer.experiments.compute.targets import WORD
from explorer.text import limits

FEWEST_CHECKPOINTS = 3  # for an interval
MOST_CHECKPOINTS = 25  # as many as there are MultiBERTs
LEAST_PLACES = 3  # for a correlation
FORMAT = "bert-explorer experiment 1"
NO_EXPERIMENT = "This file holds no experiment that can be read; save it once more, and send it as it is."
ALSO = ("nulls", "sizes")  # arrays of some questions
MOST_PLACES = 32_768  # of a question: edges of a model of the size of BERT-base, at most
MOST_HEADS = 64
MOST_ALSO = 4  # arrays of what else was measured
MOST_SAID = 1_000  # characters of a sentence or name in a file
MEGABYTES = Part(ITEMS, 1 / 100, LARGE)
VALUES = Part(ITEMS, 1_000, VALUES.sentence)  # two numbers for each head of BERT-large
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
    heads: int = Field(0, ge=0, le=MOST_HEADS)  # of each layer, where places are edges
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


def run_to_json(experiment: Experiment) -> str:
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


def run_from_json(text: str) -> Experiment:
    """The experiment of a file's text, whose summary is computed again. Raises InputError for a text that holds none."""
    MEGABYTES.check(len(text) / 2**20)
    try:
        given = parse(Written, text.encode(), VALUES)
        made = given.provenance
        question = QUESTIONS[made.question]
        if given.format != FORMAT or made.target not in question.targets or set(given.also) - set(question.also):
            raise InputError(NO_EXPERIMENT)
        question.check_way(made.how)
        numbers = {name: one for name in ("before", "values", *ALSO) if (one := getattr(given, name)) is not None}
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which no file has
            arrays: Any = {name: np.array(one, np.float32) for name, one in numbers.items()}
            also = {name: np.array(one, np.float32) for name, one in given.also.items()}
        items, provenance = check_items(given.items, given.groups or ()), made.model_dump(exclude_unset=True)
        found = Experiment(items, tuple(given.pieces), provenance=provenance, left_out=given.left_out, also=also, **arrays)
        places = tuple(len(axis.labels) for axis in found.axes)
    except (ValueError, KeyError) as error:
        raise InputError(NO_EXPERIMENT) from error
    count, every = len(found.items), (found.values, found.nulls, *found.also.values())
    shapes = [(found.before, (count,)), (found.sizes, (count,)), *((array, (count, *places)) for array in every)]
    fits = all(array is None or array.shape == shape for array, shape in shapes)
    finite = all(array is None or np.isfinite(array).all() for array in (found.before, found.sizes, found.values, found.nulls))
    positive = found.sizes is None or (found.sizes > 0).all()
    counts = len(found.pieces) == count and 0 < np.prod(places, dtype=float) <= MOST_PLACES
    if not (fits and finite and positive and counts):
        raise InputError(NO_EXPERIMENT)
    return found


def save_experiment(experiment: Experiment, path: str | Path) -> None:
    """Write all items, numbers and the provenance of an experiment into a file for `open_experiment`. Raises OSError."""
    Path(path).write_text(run_to_json(experiment), "utf-8")


@apart
def open_experiment(path: Path) -> Experiment:
    """The experiment in a file, on any machine and without its model. Raises InputError for a file that holds none."""
    try:
        MEGABYTES.check(path.stat().st_size / 2**20)  # before it is read
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(NO_EXPERIMENT) from error
    return run_from_json(text)


@functools.cache
def _shipped(suite: str) -> Experiment:
    return open_experiment(EXPERIMENTS / f"{suite}.json")


def find_shipped(
    model: Explorer, suite: str, question: str = HEADS_OFF, how: str = ZERO, seed: int = 0, target: str = WORD
) -> Experiment | None:
    """What comes with the app for the items of a suite: heads of the bundled model switched off by zeros; else None."""
    if suite not in TITLES or model.checkpoint.folder != BUNDLED_FOLDER or (question, how, target) != (HEADS_OFF, ZERO, WORD):
        return None
    found, items = _shipped(suite), suite_items(suite)
    same = found.provenance["weights"] == weights_hash(model.checkpoint) and found.items == items
    return replace(found, items=items, provenance={**found.provenance, "seed": seed}) if same else None


def _rounded(values: np.ndarray) -> Any:
    return without_nan(np.round(values.astype(np.float64), DIGITS))


@dataclass(frozen=True, eq=False)
class Checkpoints:
    """The same experiment with several checkpoints.

    `effects` [checkpoints, *places] are the means of each over its items. `mean`, `low`, `high` and `q` [*places] are over
    checkpoints: Student's 95% interval, and the t test of the lead over the nulls, corrected for all places (Benjamini and
    Hochberg 1995). Both assume that checkpoints are independent, such as seeds; steps of one training are not. NaN below
    FEWEST_CHECKPOINTS.
    """

    runs: tuple[Experiment, ...]
    effects: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, runs: Sequence[Experiment]) -> Checkpoints:
        """Compare runs of one question. Raises InputError where their places differ."""
        for number, run in enumerate(runs[1:], start=2):
            if run.axes != runs[0].axes:
                raise InputError(f"Checkpoint {number} has other layers or heads than the first. Choose checkpoints of one size.")
        effects = np.stack([run.summary.effects for run in runs])
        lead = np.stack([run.summary.effects - (0 if run.summary.nulls is None else run.summary.nulls) for run in runs])
        low = high = q = np.full(effects.shape[1:], np.nan)
        if len(runs) >= FEWEST_CHECKPOINTS:
            low, high = scipy.stats.ttest_1samp(effects, 0).confidence_interval(0.95)
            q = benjamini_hochberg(np.nan_to_num(scipy.stats.ttest_1samp(lead, 0).pvalue, nan=1))  # NaN where all are 0
        return cls(tuple(runs), effects, effects.mean(0), low, high, q)

    def as_dict(self) -> dict[str, Any]:
        arrays = {name: without_nan(getattr(self, name)) for name in ("effects", "mean", "low", "high", "q")}
        selected = [[axis.labels[at] for axis, at in zip(run.axes, run.summary.selected, strict=True)] for run in self.runs]
        return {"models": [str(run.provenance["model"]) for run in self.runs], **arrays, "selected": selected}


def over_checkpoints_in_steps(
    models: Sequence[str | Explorer], items: object, *asked: Any, read: Callable[[str], Explorer] = load, **named: Any
) -> Generator[float, None, Checkpoints]:
    """Ask every model, loaded or `read` by its name, as `experiment` asks one; yields the share done, 0 to 1."""
    if isinstance(models, str) or not isinstance(models, Sequence):
        raise InputError("Send the models as a list of names.")
    count = limits.check_integer(len(models), "the number of checkpoints", 2, MOST_CHECKPOINTS)
    runs = list[Experiment]()
    for model in models:
        steps = experiment_in_steps(model if isinstance(model, Explorer) else read(model), items, *asked, **named)
        runs.append((yield from map_steps(steps, lambda share: (len(runs) + share) / count)))
    return Checkpoints.of(runs)


over_checkpoints = in_one_call(over_checkpoints_in_steps)


@dataclass(frozen=True, eq=False)
class Compared:
    """Two runs. `changed` are the entries of the provenance in which they differ, `items` how many both have.

    `correlation` is Spearman's of their means over places, None for fewer than LEAST_PLACES or if the places differ. `difference`
    is what the first measured less what the other did in the items of both, and `largest` the largest of these numbers.
    It is None where numbers cannot be subtracted: for another question, target or other places, for fewer than two groups of
    shared items, and for patching, whose values are parts of a difference that each run has for itself.
    """

    changed: tuple[str, ...]
    items: int
    correlation: float | None = None
    difference: Summary | None = None
    largest: float = 0.0


def compare_experiments(one: Experiment, other: Experiment, seed: int = 0) -> Compared:
    """Compare two runs; the seed draws bootstrap and signs. Raises InputError for arguments that are not experiments."""
    if not (isinstance(one, Experiment) and isinstance(other, Experiment)):
        raise InputError("Compare two experiments, such as those that open_experiment gives.")
    names = dict.fromkeys([*one.provenance, *other.provenance])
    changed = tuple(name for name in names if one.provenance.get(name) != other.provenance.get(name))
    rows, others = shared_items(one, other)
    compared = Compared(changed, len(rows))
    if one.axes != other.axes:
        return compared
    means = one.summary.effects.ravel(), other.summary.effects.ravel()
    if len(means[0]) >= LEAST_PLACES and all(np.ptp(mean) > 0 for mean in means):
        compared = replace(compared, correlation=spearman(*means))
    groups = number_groups([one.items[row] for row in rows])
    if {"question", "target"} & {*changed} or one.sizes is not None or other.sizes is not None or groups.max(initial=0) == 0:
        return compared
    values = one.values[rows].astype(np.float64) - other.values[others]
    difference = summarise(values, seed, lambda means: place_of(int(np.abs(means).argmax()), means), groups)
    return replace(compared, difference=difference, largest=float(np.abs(values).max(initial=0)))


def shared_items(one: Experiment, other: Experiment) -> tuple[list[int], list[int]]:
    """The numbers, from 0, that the items of both have in each; of one that is there twice, the first."""
    own, there = ({item: row for row, item in reversed(list(enumerate(run.items)))} for run in (one, other))
    rows = sorted(row for item, row in own.items() if item in there)
    return rows, [there[one.items[row]] for row in rows]
