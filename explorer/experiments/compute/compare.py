"""Two runs of experiments beside each other: how similar their means are, and where they differ in the items that both have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.analysis.resampling import benjamini_hochberg, bootstrap, by_group, differs
from explorer.core.errors import InputError
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.items import FEWEST, number_groups
from explorer.experiments.compute.summary import Place

LEAST_PLACES = 3  # for a correlation


@dataclass(frozen=True, eq=False)
class Difference:
    """What one run measured less what the other did, in the items of both.

    Arrays [*places]: the mean, its 95% interval over groups of items (NaN for too few), and p and q values by group. `items`
    and `groups` are how many these are, and `largest` the largest difference of a single number.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    q: np.ndarray
    items: int
    groups: int
    largest: float

    @property
    def surest(self) -> Place:
        """The place with the smallest q; of several, the one with the largest mean."""
        order = np.lexsort((-np.abs(self.mean).ravel(), self.q.ravel()))
        return tuple(int(number) for number in np.unravel_index(order[0], self.mean.shape))


@dataclass(frozen=True, eq=False)
class Compared:
    """Two runs. `changed` are the entries of the provenance in which they differ.

    `correlation` is Spearman's of their means over places, None for fewer than LEAST_PLACES or if the places differ. `difference`
    is None where numbers cannot be subtracted: for another question, target or other places, for fewer than two shared items, and
    for patching, whose values are parts of a difference that each run has for itself.
    """

    changed: tuple[str, ...]
    correlation: float | None
    difference: Difference | None


def compare_experiments(one: Experiment, other: Experiment, seed: int = 0) -> Compared:
    """Compare two runs; the seed draws bootstrap and signs. Raises InputError for arguments that are not experiments."""
    if not (isinstance(one, Experiment) and isinstance(other, Experiment)):
        raise InputError("Compare two experiments, such as those that open_experiment gives.")
    names = dict.fromkeys([*one.provenance, *other.provenance])
    changed = tuple(name for name in names if one.provenance.get(name) != other.provenance.get(name))
    if one.axes != other.axes:
        return Compared(changed, None, None)
    means = one.summary.effects.ravel(), other.summary.effects.ravel()
    varies = len(means[0]) >= LEAST_PLACES and all(np.ptp(mean) > 0 for mean in means)
    return Compared(changed, spearman(*means) if varies else None, _difference(one, other, seed))


def shared_items(one: Experiment, other: Experiment) -> list[tuple[int, int]]:
    """The numbers, from 0, that the items of both have in each; of one that is there twice, the first."""
    there = {item: number for number, item in reversed(list(enumerate(other.items)))}
    own = {item: number for number, item in reversed(list(enumerate(one.items)))}
    return sorted((number, there[item]) for item, number in own.items() if item in there)


def _difference(one: Experiment, other: Experiment, seed: int) -> Difference | None:
    shared = shared_items(one, other)
    same = all(one.provenance.get(name) == other.provenance.get(name) for name in ("question", "target"))
    if not same or one.sizes is not None or other.sizes is not None or len(shared) < FEWEST:
        return None
    rows, others = (list(numbers) for numbers in zip(*shared, strict=True))
    values = one.values[rows].astype(np.float64) - other.values[others]
    groups = number_groups([one.items[row] for row in rows])
    sums, sizes = by_group(values, groups), np.bincount(groups)
    drawn = bootstrap(sums, seed, sizes)
    p = differs(sums, seed, sizes, drawn)
    largest = float(np.abs(values).max(initial=0))
    return Difference(values.mean(0), drawn.low, drawn.high, p, benjamini_hochberg(p), len(rows), len(sums), largest)
