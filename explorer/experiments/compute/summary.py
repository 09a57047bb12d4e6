"""What an experiment found: means over items, how sure they are, and whether a place chosen on one half holds on the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.resampling import benjamini_hochberg, bootstrap, by_chance, by_group, differs, halves, wilson_by_group

LEAST_P = "shuffled p"  # of what else was measured: the p values of another test, the same in all items
LEVEL = 0.05  # p and q values below this count
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

    `low` and `high` are NaN for fewer `groups` than an interval needs. `nulls` are the means of what values are compared with,
    None for 0. `random` is the mean over all places (of the nulls, if there are any). `selected` is the place that the selection
    half of the groups chooses.
    """

    effects: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    q: np.ndarray
    nulls: np.ndarray | None
    random: float
    selected: Place
    held_out: HeldOut
    groups: int


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
    values = values.astype(np.float64)
    lead = values if nulls is None else values - nulls
    ranked = lead if sizes is None else values
    parts = np.ones(len(values)) if sizes is None else sizes.astype(np.float64)
    groups = np.arange(len(values)) if groups is None else groups
    count = int(groups.max()) + 1
    choosing, testing = (np.flatnonzero(np.isin(groups, half)) for half in halves(count, seed))

    def mean(arrays: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        return arrays[rows].sum(0) / parts[rows].sum()

    def infer(own: np.ndarray, lead: np.ndarray, rows: Any = slice(None)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ends of the 95% interval of the mean of some rows, and the p values of their lead over the nulls."""
        named = np.unique(groups[rows], return_inverse=True)[1]
        own, lead, of_group = own[rows], lead[rows], by_group(parts[rows], named)
        sums = by_group(own, named)
        if is_hit:
            return *wilson_by_group(sums, of_group), by_chance(own, own - lead, seed, named)
        drawn = bootstrap(sums, seed, of_group)
        known = drawn if np.array_equal(own, lead) else None
        return drawn.low, drawn.high, differs(by_group(lead, named), seed, of_group, known)

    selected = pick(mean(ranked, choosing))
    low, high, p = infer(values, lead)
    p = np.maximum(p, least)
    effects, means = mean(values), None if nulls is None else mean(nulls.astype(np.float64))
    beside = values.reshape(len(values), -1).mean(1) if nulls is None else at_place(values - lead, selected)
    others, named = mean(ranked, testing), np.unique(groups[testing], return_inverse=True)[1]
    drawn = bootstrap(by_group(beside[testing], named), seed, by_group(parts[testing], named))
    own = at_place(values, selected)
    own_low, own_high, own_p = infer(own, at_place(lead, selected), testing)
    held_out = HeldOut(
        float(mean(own, testing)),
        float(own_low),
        float(own_high),
        1 + int((others < others[selected] if falls else others > others[selected]).sum()),
        max(float(own_p), float(np.broadcast_to(least, p.shape)[selected])),
        float(mean(beside, testing)),
        float(drawn.low),
        float(drawn.high),
        len(testing),
        int(named.max()) + 1,
    )
    random = float((effects if means is None else means).mean())
    return Summary(effects, low, high, p, benjamini_hochberg(p), means, random, selected, held_out, count)


def at_place(values: np.ndarray, place: Place) -> np.ndarray:
    """What values [items, *places] are at one place: [items]."""
    index: Any = (slice(None), *place)
    return np.asarray(values[index])
