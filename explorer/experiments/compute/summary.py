"""What an experiment found: means over items, how sure they are, and whether a place chosen on one half holds on the other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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


_falling: list[Callable[[np.ndarray], Place]] = []


def falls(pick: Callable[[np.ndarray], Place]) -> Callable[[np.ndarray], Place]:
    """Marks a pick of which lower means are more telling."""
    _falling.append(pick)
    return pick


@falls
def lowest(means: np.ndarray) -> Place:
    return _place(int(means.argmin()), means)


def highest(means: np.ndarray) -> Place:
    return _place(int(means.argmax()), means)


def first_to_stay(means: np.ndarray) -> Place:
    """The first place from which on every mean is above 0; the last one if it is not."""
    below = np.flatnonzero(means.ravel() <= 0)
    return _place(min(int(below[-1]) + 1 if len(below) else 0, means.size - 1), means)


def summarise(
    values: np.ndarray,
    seed: int = 0,
    pick: Callable[[np.ndarray], Place] = lowest,
    nulls: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
    is_hit: bool = False,
    groups: np.ndarray | None = None,
    least: np.ndarray | None = None,
) -> Summary:
    """The summary of values [items, *places], of at least two groups. The seed draws halves, bootstrap and signs.

    `groups` [items] numbers the group of each item from 0, None where every item is one. `pick` chooses a place from means less
    those of `nulls` [items, *places]. With `sizes` [items], above 0, a mean is Σ values / Σ sizes, and the place is chosen by
    that share itself. With `is_hit` a value is 0 or 1, and its null the chance of 1. No p value is smaller
    than that of `least` [*places].
    """
    values = values.astype(np.float64)
    asked = _Asked(
        values,
        values if nulls is None else values - nulls,
        np.ones(len(values)) if sizes is None else sizes.astype(np.float64),
        np.arange(len(values)) if groups is None else groups,
        pick,
        is_hit,
        seed,
    )
    selecting, testing = (asked.of_groups(half) for half in halves(asked.count, seed))
    ranked = values if sizes is not None else asked.lead
    selected = pick(_mean(ranked[selecting], asked.sizes[selecting]))
    means = None if nulls is None else _mean(nulls, asked.sizes)
    low, high, p = asked.infer(values, asked.lead)
    least = np.zeros(p.shape) if least is None else least
    p = np.maximum(p, least)
    return Summary(
        _mean(values, asked.sizes),
        low,
        high,
        p,
        benjamini_hochberg(p),
        means,
        float((_mean(values, asked.sizes) if means is None else means).mean()),
        selected,
        _held_out(asked.part(testing), ranked[testing], selected, float(least[selected])),
        asked.count,
    )


@dataclass(frozen=True)
class _Asked:
    """What is inferred from: arrays that begin with [items], and how."""

    values: np.ndarray
    lead: np.ndarray  # over the nulls
    sizes: np.ndarray
    groups: np.ndarray
    pick: Callable[[np.ndarray], Place]
    is_hit: bool
    seed: int

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    def of_groups(self, chosen: np.ndarray) -> np.ndarray:
        """The items, from 0, of some groups."""
        return np.flatnonzero(np.isin(self.groups, chosen))

    def part(self, items: np.ndarray) -> "_Asked":
        """Some items alone, whose groups count from 0 again."""
        groups = np.unique(self.groups[items], return_inverse=True)[1]
        return replace(self, values=self.values[items], lead=self.lead[items], sizes=self.sizes[items], groups=groups)

    def infer(self, values: np.ndarray, lead: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ends of the 95% interval of the mean of values [items, ...], and the p values of their lead over the nulls."""
        sums, sizes = by_group(values, self.groups), by_group(self.sizes, self.groups)
        if self.is_hit:
            return *wilson_by_group(sums, sizes), by_chance(values, values - lead, self.seed, self.groups)
        drawn = bootstrap(sums, self.seed, sizes)
        known = drawn if np.array_equal(values, lead) else None
        return drawn.low, drawn.high, differs(by_group(lead, self.groups), self.seed, sizes, known)


def _held_out(asked: _Asked, ranked: np.ndarray, selected: Place, least: float) -> HeldOut:
    values, lead = asked.values, asked.lead
    means, own = _mean(ranked, asked.sizes), at_place(values, selected)
    beside = at_place(values - lead, selected) if (values != lead).any() else values.reshape(len(values), -1).mean(1)
    groups, sizes = asked.groups, by_group(asked.sizes, asked.groups)
    ends = [*asked.infer(own, at_place(lead, selected)), *bootstrap(by_group(beside, groups), asked.seed, sizes)[:2]]
    low, high, p, random_low, random_high = map(float, ends)
    rank = 1 + int((means < means[selected] if asked.pick in _falling else means > means[selected]).sum())
    return HeldOut(
        float(_mean(own, asked.sizes)),
        low,
        high,
        rank,
        max(p, least),
        float(_mean(beside, asked.sizes)),
        random_low,
        random_high,
        len(values),
        asked.count,
    )


def _mean(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return values.sum(0) / sizes.sum()


def at_place(values: np.ndarray, place: Place) -> np.ndarray:
    """What values [items, *places] are at one place: [items]."""
    index: Any = (slice(None), *place)
    found: np.ndarray = values[index]
    return found


def _place(at: int, means: np.ndarray) -> Place:
    return tuple(int(number) for number in np.unravel_index(at, means.shape))
