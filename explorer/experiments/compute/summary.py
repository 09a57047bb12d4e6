"""What an experiment found: means over items, how sure they are, and whether a place chosen on one half holds on the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.resampling import benjamini_hochberg, bootstrap, by_chance, halves, sign_flip

Place = tuple[int, ...]
"""(layer, head), (hidden state, role) or (hidden state,), zero-based."""


@dataclass(frozen=True)
class HeldOut:
    """The selected place on the items that it was not selected on.

    `rank` is its place among all there, 1 for the most telling one. `random` is what it is judged by, with its interval: its null
    where the question has one, else the mean of all places, which is that of a random place.
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


@dataclass(frozen=True, eq=False)
class Summary:
    """Arrays of all places: the mean, its 95% interval over items, p values and, corrected for all places, q values.

    `nulls` are the means of what values are compared with, None for 0. `random` is the mean over all places (of the nulls, if
    there are any). `selected` is the place that the selection half of the items chooses.
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
) -> Summary:
    """The summary of values [items, *places], of at least two items. The seed draws halves, bootstrap and signs.

    `pick` chooses a place from means less those of `nulls` [items, *places]. With `sizes` [items], above 0, a mean is Σ values /
    Σ sizes, and the place is chosen by that share itself. With `is_hit` a value is 0 or 1, and its null the chance of 1.
    """
    values = values.astype(np.float64)
    shares = sizes is not None
    sizes = np.ones(len(values)) if sizes is None else sizes.astype(np.float64)
    lead = values if nulls is None else values - nulls
    selecting, testing = halves(len(values), seed)
    ranked = values if shares else lead
    selected = pick(_mean(ranked[selecting], sizes[selecting]))
    p = by_chance(values, values - lead, seed) if is_hit else sign_flip(lead, seed)
    means = None if nulls is None else _mean(nulls, sizes)
    return Summary(
        _mean(values, sizes),
        *bootstrap(values, seed, sizes),
        p,
        benjamini_hochberg(p),
        means,
        float((_mean(values, sizes) if means is None else means).mean()),
        selected,
        _held_out(values[testing], lead[testing], ranked[testing], sizes[testing], selected, (pick, is_hit, seed)),
    )


def _held_out(
    values: np.ndarray,
    lead: np.ndarray,
    ranked: np.ndarray,
    sizes: np.ndarray,
    selected: Place,
    asked: tuple[Callable[[np.ndarray], Place], bool, int],
) -> HeldOut:
    pick, is_hit, seed = asked
    means, own = _mean(ranked, sizes), at_place(values, selected)
    beside = at_place(values - lead, selected) if (values != lead).any() else values.reshape(len(values), -1).mean(1)
    both = np.stack([own, beside], axis=1)
    (effect, random), (low, high) = _mean(both, sizes).tolist(), bootstrap(both, seed, sizes)
    rank = 1 + int((means < means[selected] if pick is lowest else means > means[selected]).sum())
    p = float(by_chance(own, beside, seed) if is_hit else sign_flip(at_place(lead, selected), seed))
    return HeldOut(effect, float(low[0]), float(high[0]), rank, p, random, float(low[1]), float(high[1]), len(values))


def _mean(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return values.sum(0) / sizes.sum()


def at_place(values: np.ndarray, place: Place) -> np.ndarray:
    """What values [items, *places] are at one place: [items]."""
    index: Any = (slice(None), *place)
    found: np.ndarray = values[index]
    return found


def _place(at: int, means: np.ndarray) -> Place:
    return tuple(int(number) for number in np.unravel_index(at, means.shape))
