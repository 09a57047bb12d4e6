"""Several runs: one experiment with several checkpoints, of which each is one sample; and two runs beside each other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.analysis.resampling import benjamini_hochberg
from explorer.bert.explorer import Explorer, load
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.core.steps import finished, map_steps
from explorer.experiments.compute.experiment import Experiment, experiment_in_steps, without_nan
from explorer.experiments.compute.heads import HEADS_OFF
from explorer.experiments.compute.items import check_items, number_groups
from explorer.experiments.compute.question import place_of
from explorer.experiments.compute.summary import Summary, summarise
from explorer.experiments.compute.targets import WORD
from explorer.text import limits

FEWEST_CHECKPOINTS = 3  # for an interval
MOST_CHECKPOINTS = 25  # as many as there are MultiBERTs
LEAST_PLACES = 3  # for a correlation


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
                raise InputError(f"Checkpoint {number} has other layers or heads than the first; choose checkpoints of one size.")
        effects = np.stack([run.summary.effects for run in runs])
        lead = np.stack([run.summary.effects - (0 if run.summary.nulls is None else run.summary.nulls) for run in runs])
        low = high = q = np.full(effects.shape[1:], np.nan)
        if len(runs) >= FEWEST_CHECKPOINTS:
            low, high = scipy.stats.ttest_1samp(effects, 0).confidence_interval(0.95)
            q = benjamini_hochberg(np.nan_to_num(scipy.stats.ttest_1samp(lead, 0).pvalue, nan=1))  # NaN where all are 0
        return cls(tuple(runs), effects, effects.mean(0), low, high, q)

    def as_dict(self) -> dict[str, Any]:
        """As `/experiment` answers."""
        arrays = {name: without_nan(getattr(self, name)) for name in ("effects", "mean", "low", "high", "q")}
        selected = [[axis.labels[at] for axis, at in zip(run.axes, run.summary.selected, strict=True)] for run in self.runs]
        return {"models": [str(run.provenance["model"]) for run in self.runs], **arrays, "selected": selected}


def checkpoints_in_steps(
    models: Sequence[str | Explorer], items: object, groups: Sequence[str] = (), **asked: Any
) -> Generator[float, None, Checkpoints]:
    """Ask the same of every model, a name or a loaded one; yields the share done, 0 to 1. Raises as one experiment does."""
    if isinstance(models, str) or not isinstance(models, Sequence):
        raise InputError("Send the models as a list of names.")
    count = limits.check_integer(len(models), "the number of checkpoints", 2, MOST_CHECKPOINTS)
    checked, runs = check_items(items, groups), list[Experiment]()
    for model in models:
        steps = experiment_in_steps(model if isinstance(model, Explorer) else load(model), checked, **asked)
        runs.append((yield from map_steps(steps, lambda share: (len(runs) + share) / count)))
    return Checkpoints.of(runs)


def over_checkpoints(
    models: Sequence[str | Explorer],
    items: object,
    question: str = HEADS_OFF,
    how: str = "",
    seed: int = 0,
    target: str = WORD,
    groups: Sequence[str] = (),
) -> Checkpoints:
    """One experiment with a list of checkpoints: names, folders or loaded models. Arguments as of `experiment`."""
    return finished(checkpoints_in_steps(models, items, groups, question=question, how=how, seed=seed, target=target))


def with_others(run: Experiment, others: Sequence[Experiment]) -> Experiment:
    """A run with those of other checkpoints beside it. Raises InputError where their places differ."""
    Checkpoints.of([run, *others])
    return replace(run, others=tuple(others))


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
    difference = summarise(values, seed, lambda means: place_of(int(np.abs(means).argmax()), means), groups=groups)
    return replace(compared, difference=difference, largest=float(np.abs(values).max(initial=0)))


def shared_items(one: Experiment, other: Experiment) -> tuple[list[int], list[int]]:
    """The numbers, from 0, that the items of both have in each; of one that is there twice, the first."""
    own, there = ({item: row for row, item in reversed(list(enumerate(run.items)))} for run in (one, other))
    rows = sorted(row for item, row in own.items() if item in there)
    return rows, [there[one.items[row]] for row in rows]
