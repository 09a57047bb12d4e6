"""What an experiment found: means over items, how sure they are, and whether a place chosen on one half holds on the other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.analysis.resampling import (
    FEWEST_GROUPS,
    benjamini_hochberg,
    bootstrap,
    by_chance,
    by_group,
    differs,
    halve_groups,
    wilson_by_group,
)

LEAST_P = "shuffled p"  # of what else was measured: the p values of another test, the same in all items
LEVEL = 0.05  # p and q values below this count
AT_ONCE = 1_024  # places whose intervals are drawn together: 80 MB
Place = tuple[int, ...]
"""(layer, head), (hidden state, role) or (hidden state,), zero-based."""


@dataclass(frozen=True)
class HeldOut:
    """The selected place on the groups of items that it was not selected on.

    `low` and `high` are NaN for fewer groups than an interval needs. `rank` is its place among all there, 1 for the most telling
    one. `random` is what it is judged by, with its interval: its null where the question has one, else the mean of all places,
    which is that of a random place.
    """

    effect: float
    low: float
    high: float
    rank: int
    p: float
    random: float
    random_low: float
    random_high: float
    items: int
    groups: int

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves out 0, and the test agrees."""
        return (self.low > 0 or self.high < 0) and self.p < LEVEL


@dataclass(frozen=True, eq=False)
class Summary:
    """Arrays of all places: the mean, its 95% interval by group, p values and, corrected for all places, q values.

    `low` and `high` are NaN for fewer `groups` than an interval needs. `tested` are places with anything but 0, such as edges to
    a later component; q is corrected for these, and 1 elsewhere. `nulls` are the means of what values are compared with, None
    for 0. `random` is the mean over all places (of the nulls, if there are any). `selected` is the place that the selection
    half of the groups chooses.
    """

    effects: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    q: np.ndarray
    tested: np.ndarray
    nulls: np.ndarray | None
    random: float
    selected: Place
    held_out: HeldOut
    groups: int

    def at(self, place: Place) -> tuple[float, float, float, float]:
        """The mean, the ends of its interval, and the q value at one place."""
        return float(self.effects[place]), float(self.low[place]), float(self.high[place]), float(self.q[place])


def summarise(
    values: np.ndarray,
    seed: int,
    pick: Callable[[np.ndarray], Place],
    *,
    falls: bool = False,
    nulls: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    is_hit: bool = False,
    groups: np.ndarray | None = None,
    least: np.ndarray | float = 0,
) -> Summary:
    """The summary of values [items, *places], of at least two groups. The seed draws halves, bootstrap and signs.

    `groups` [items] numbers the group of each item from 0, None where every item is one. `pick` chooses a place from means less
    those of `nulls` [items, *places], and lower ones are more telling if it `falls`. With `sizes` [items], above 0, a mean is Σ
    values / Σ sizes, and the place is chosen by that share itself. With `is_hit` a value is 0 or 1, and its null the chance of 1.
    No p value is smaller than that of `least` [*places].
    """
    groups = np.arange(len(values)) if groups is None else groups
    parts = np.ones(len(values)) if sizes is None else sizes.astype(np.float64)
    own = values.astype(np.float64)
    every = _Sample(own, own if nulls is None else own - nulls, parts, groups, is_hit, seed)
    choosing, testing = map(every.of, halve_groups(groups, seed))
    selected = pick(choosing.mean(choosing.lead if sizes is None else choosing.values))
    others = testing.mean(testing.lead if sizes is None else testing.values)
    rank = 1 + int((others < others[selected] if falls else others > others[selected]).sum())
    low, high, p = every.infer()
    p = np.maximum(p, least)
    q, tested = np.ones(p.shape), np.asarray(own.any(0) | every.lead.any(0))
    q[tested] = benjamini_hochberg(p[tested]) if tested.any() else 1
    effects, means = every.mean(own), None if nulls is None else every.mean(own - every.lead)
    held_out = _held_out(testing, selected, nulls is None, rank, float(np.broadcast_to(least, p.shape)[selected]))
    random = float((effects if means is None else means).mean())
    return Summary(effects, low, high, p, q, tested, means, random, selected, held_out, every.count)


@dataclass(frozen=True)
class _Sample:
    values: np.ndarray
    lead: np.ndarray  # over the nulls
    sizes: np.ndarray
    groups: np.ndarray
    is_hit: bool
    seed: int

    @property
    def count(self) -> int:
        return int(self.groups.max()) + 1

    def of(self, rows: np.ndarray) -> "_Sample":
        """Some items, whose groups count from 0 again."""
        groups = np.unique(self.groups[rows], return_inverse=True)[1]
        return replace(self, values=self.values[rows], lead=self.lead[rows], sizes=self.sizes[rows], groups=groups)

    def mean(self, values: np.ndarray) -> np.ndarray:
        return values.sum(0) / self.sizes.sum()

    def infer(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ends of the 95% interval of the mean, and the p values of the lead over the nulls.

        In blocks of places, without those where all is 0, such as edges to an earlier layer.
        """
        values, lead = (array.reshape(len(array), -1) for array in (self.values, self.lead))
        some, sizes = np.flatnonzero(values.any(0) | lead.any(0)), by_group(self.sizes, self.groups)
        found = np.empty((3, values.shape[1]))
        found[:] = np.array([0, 0, 1] if self.count >= FEWEST_GROUPS else [np.nan, np.nan, 1])[:, None]
        for block in np.array_split(some, -(-len(some) // AT_ONCE) or 1):
            own, over = values[:, block], lead[:, block]
            sums = by_group(own, self.groups)
            if self.is_hit:
                found[:2, block], found[2, block] = (
                    wilson_by_group(sums, sizes),
                    by_chance(own, own - over, self.seed, self.groups),
                )
                continue
            drawn = bootstrap(sums, self.seed, sizes)
            known = drawn if np.array_equal(own, over) else None
            found[:, block] = drawn.low, drawn.high, differs(by_group(over, self.groups), self.seed, sizes, known)
        low, high, p = found.reshape(3, *self.values.shape[1:])
        return low, high, p


def _held_out(testing: _Sample, selected: Place, by_places: bool, rank: int, least: float) -> HeldOut:
    """The selected place on the other half, judged by the mean of all places, or by its null."""
    values, lead = at_place(testing.values, selected), at_place(testing.lead, selected)
    beside = testing.values.reshape(len(values), -1).mean(1) if by_places else values - lead
    low, high, p = map(float, replace(testing, values=values, lead=lead).infer())
    sizes = by_group(testing.sizes, testing.groups)
    random_low, random_high, _ = map(float, bootstrap(by_group(beside, testing.groups), testing.seed, sizes))
    effect, random = float(testing.mean(values)), float(testing.mean(beside))
    return HeldOut(effect, low, high, rank, max(p, least), random, random_low, random_high, len(values), testing.count)


def at_place(values: np.ndarray, place: Place) -> np.ndarray:
    """What values [items, *places] are at one place: [items]."""
    index: Any = (slice(None), *place)
    return np.asarray(values[index])
