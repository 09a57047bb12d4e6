"""One experiment with several checkpoints, of which each is one sample: a finding in one is a single observation."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from explorer.analysis.resampling import benjamini_hochberg
from explorer.bert.explorer import Explorer, load
from explorer.core.errors import InputError
from explorer.core.lazy import scipy
from explorer.core.steps import finished, map_steps
from explorer.experiments.compute.experiment import Experiment, experiment_in_steps, without_nan
from explorer.experiments.compute.items import check_items
from explorer.text import limits

FEWEST_CHECKPOINTS = 3  # for an interval
MOST_CHECKPOINTS = 25  # as many as there are MultiBERTs
LEVEL = 0.95


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
        first = runs[0]
        for number, run in enumerate(runs[1:], start=2):
            if run.axes != first.axes:
                raise InputError(f"Checkpoint {number} has other layers or heads than the first; choose checkpoints of one size.")
        effects = np.stack([run.summary.effects for run in runs])
        lead = np.stack([run.summary.effects - (0 if run.summary.nulls is None else run.summary.nulls) for run in runs])
        low = high = q = np.full(effects.shape[1:], np.nan)
        if len(runs) >= FEWEST_CHECKPOINTS:
            low, high = scipy.stats.ttest_1samp(effects, 0).confidence_interval(LEVEL)
            p = scipy.stats.ttest_1samp(lead, 0).pvalue
            q = benjamini_hochberg(np.nan_to_num(p, nan=1))  # NaN where all are 0
        return cls(tuple(runs), effects, effects.mean(0), low, high, q)

    @property
    def names(self) -> list[str]:
        return [str(run.provenance["model"]) for run in self.runs]

    def as_dict(self) -> dict[str, Any]:
        """As `/experiment` answers."""
        arrays = {name: without_nan(getattr(self, name)) for name in ("effects", "mean", "low", "high", "q")}
        selected = [[axis.labels[at] for axis, at in zip(run.axes, run.summary.selected, strict=True)] for run in self.runs]
        return {"models": self.names, **arrays, "selected": selected}


def checkpoints_in_steps(
    models: Sequence[str | Explorer], items: object, groups: Sequence[str] = (), **asked: Any
) -> Generator[float, None, Checkpoints]:
    """Ask the same of every model, a name or a loaded one; yields the share done, 0 to 1. Raises as one experiment does."""
    if isinstance(models, str) or not isinstance(models, Sequence):
        raise InputError("Send the models as a list of names.")
    limits.check_integer(len(models), "the number of checkpoints", 2, MOST_CHECKPOINTS)
    checked, runs = check_items(items, groups), []
    for number, model in enumerate(models):
        own = model if isinstance(model, Explorer) else load(model)
        steps = experiment_in_steps(own, checked, **asked)
        runs.append((yield from map_steps(steps, partial(_share, number, len(models)))))
    return Checkpoints.of(runs)


def _share(done: int, count: int, share: float) -> float:
    return (done + share) / count


def over_checkpoints(
    models: Sequence[str | Explorer],
    items: object,
    question: str = "heads_off",
    how: str = "",
    seed: int = 0,
    target: str = "word",
    groups: Sequence[str] = (),
) -> Checkpoints:
    """One experiment with a list of checkpoints: names, folders or loaded models. Arguments as of `experiment`."""
    return finished(checkpoints_in_steps(models, items, groups, question=question, how=how, seed=seed, target=target))


def with_others(run: Experiment, others: Sequence[Experiment]) -> Experiment:
    """A run with those of other checkpoints beside it. Raises InputError where their places differ."""
    Checkpoints.of([run, *others])
    return replace(run, others=tuple(others))
