"""What a mean or a share over items is worth: intervals, a test, and a correction for many tests.

Items that are similar are one group. A function here takes rows that are independent of each other: one per group, as `by_group`
makes them.
"""

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from explorer.core.lazy import scipy

DRAWS = 10_000  # of a bootstrap or of signs: the smallest p value is 1 / 10,001, which survives the correction for 384 heads
AT_ONCE = 2**22  # numbers drawn at once: 32 MB
FEWEST_GROUPS = 6  # for an interval: the signs of five cannot reach p < 0.05
LEAST_DRAWN = 3  # different groups in a draw: of fewer, no spread can be estimated
LEAST_SPREAD = 0.1  # of a draw's standard error, as a share of the one of all groups: keeps a draw of equal values finite
NORMAL_95 = 1.959963984540054  # what 95% of a standard normal distribution is within
TIE = 1e-9  # two means that differ by less, relative to their size, are the same
ROUNDED = 1e-5  # of what is summed, in single precision: less than that is left where it cancels


class Bootstrapped(NamedTuple):
    """The ends of the 95% interval of a mean, NaN for fewer than FEWEST_GROUPS, and the two-sided p value of a mean of 0."""

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray


def by_group(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The sums over the items of each group, [groups, ...], of values [items, ...]; `groups` [items] numbers them from 0.

    Values that cancel sum to 0: the sign of what rounding leaves would decide a test.
    """
    sums, sizes = np.zeros((2, int(groups.max()) + 1, *values.shape[1:]))
    np.add.at(sums, groups, values)
    np.add.at(sizes, groups, np.abs(values))
    return np.where(np.abs(sums) < ROUNDED * sizes, 0, sums)


def bootstrap(values: np.ndarray, seed: int = 0, sizes: np.ndarray | None = None, ends: bool = True) -> Bootstrapped:
    """The mean over independent groups: values [groups, ...] to three arrays [...].

    The studentized bootstrap (Efron and Tibshirani 1993, section 12.5): groups are drawn with replacement, and each draw's
    distance from the mean is divided by its own standard error. It allows for skewed values and for few groups, which the
    percentile bootstrap does not. With `sizes` [groups], above 0, values are sums over so many items, and the mean is Σ values /
    Σ sizes, with the standard error of a ratio. Without `ends`, which take half of the time, the interval is NaN.
    """
    count, flat = len(values), _flat(values)
    held = np.ones(count) if sizes is None else sizes.astype(np.float64)
    mean = flat.sum(0) / held.sum()
    apart = flat - held[:, None] * mean
    error = np.sqrt((apart**2).sum(0)) / held.sum()  # but for √(count / (count − 1)), as in the draws
    least, every = np.maximum(LEAST_SPREAD * error, np.finfo(float).tiny), np.empty((DRAWS, flat.shape[1]))
    random, done = np.random.default_rng(seed), 0
    for batch in _batches(DRAWS, max(count, 16 * flat.shape[1])):  # small enough for the caches
        drawn = random.integers(0, count, (batch.stop - batch.start, count))
        rows = np.arange(len(drawn))[:, None] * count
        weights = np.bincount((drawn + rows).ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.float64)
        weights = weights[(weights > 0).sum(1) >= min(LEAST_DRAWN, count)]
        size = (weights @ held)[:, None]
        distance = weights @ apart  # of the drawn mean from the mean, in standard errors in the end
        distance /= size
        spread = weights @ (apart * held[:, None])  # Σ weights · (apart − held · distance)², by its three terms
        spread *= -2 * distance
        spread += weights @ apart**2
        spread += distance**2 * (weights @ held**2)[:, None]
        spread = np.sqrt(np.maximum(spread, 0, out=spread), out=spread)
        spread /= size
        distance /= np.maximum(spread, least, out=spread)
        every[done : done + len(weights)] = distance
        done += len(weights)
    every = every[:done]
    wanted = ends and count >= FEWEST_GROUPS
    by_mean = np.ascontiguousarray(every.T) if wanted else np.full((flat.shape[1], 1), np.nan)  # percentiles of rows are quicker
    low, high = np.percentile(by_mean, (97.5, 2.5), axis=1, overwrite_input=True)
    observed = np.divide(mean, error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    beyond = np.minimum((every >= observed).sum(0), (every <= observed).sum(0))
    p = np.minimum(1, 2 * (beyond + 1) / (done + 1))
    shape = values.shape[1:]
    return Bootstrapped((mean - low * error).reshape(shape), (mean - high * error).reshape(shape), p.reshape(shape))


def sign_flip(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Two-sided p values (0 to 1) of means over independent groups: [groups, ...] to [...].

    How often the mean is at least as far from 0 when the sign of every group is drawn at random, or with all signs in turn where
    these are fewer than DRAWS (Fisher's randomisation test for pairs). It is exact if a group's change is as likely in either
    direction. Drawn signs count the observed ones too, so that p is never 0 (Phipson and Smyth 2010).
    """
    count, flat = len(values), _flat(values)
    least = np.abs(flat.sum(0)) * (1 - TIE)
    if 2**count <= DRAWS:
        signs = 1.0 - 2 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)
        return (np.abs(signs @ flat) >= least).mean(0).reshape(values.shape[1:])
    random, found = np.random.default_rng(seed), np.ones(flat.shape[1])
    for batch in _batches(DRAWS, count):
        signs = 1.0 - 2 * random.integers(0, 2, (batch.stop - batch.start, count), dtype=np.int8)
        found += (np.abs(signs @ flat) >= least).sum(0)
    return (found / (DRAWS + 1)).reshape(values.shape[1:])


def differs(values: np.ndarray, seed: int = 0, sizes: np.ndarray | None = None, drawn: Bootstrapped | None = None) -> np.ndarray:
    """Two-sided p values (0 to 1) of means over independent groups: the larger one of `sign_flip` and `bootstrap`.

    Flipped signs alone take a skewed effect for a mean too often, the bootstrap alone one of few groups. `drawn` is that
    bootstrap, where it is known.
    """
    drawn = bootstrap(values, seed, sizes, ends=False) if drawn is None else drawn
    return np.maximum(sign_flip(values, seed), drawn.p)


def by_chance(values: np.ndarray, chances: np.ndarray, seed: int = 0, groups: np.ndarray | None = None) -> np.ndarray:
    """Two-sided p values (0 to 1) of how often something happens: values [items, ...], 0 or 1, and the chance of each, to [...].

    How often the sum is at least as far from that of the chances when every item is drawn at random with its own chance. Unlike
    signs, which are flipped as if a change were as likely in either direction, this holds for chances far from a half. Items of
    one of the `groups` [items] are drawn together, as if they were copies. The observed values count as a draw too.
    """
    count, flat, odds = len(values), _flat(values), _flat(np.broadcast_to(chances, values.shape))
    of_item = np.arange(count) if groups is None else groups
    least = np.abs((flat - odds).sum(0)) * (1 - TIE)
    random, found = np.random.default_rng(seed), np.zeros(flat.shape[1])
    for batch in _batches(DRAWS, count):
        drawn = random.random((batch.stop - batch.start, int(of_item.max()) + 1))[:, of_item]
        for column, chance in enumerate(odds.T):
            found[column] += (np.abs((drawn < chance).sum(1) - chance.sum()) >= least[column]).sum()
    return ((found + 1) / (DRAWS + 1)).reshape(values.shape[1:])


def wilson_by_group(hits: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the 95% interval of a share, NaN for fewer than FEWEST_GROUPS: hits [groups, ...] of `sizes` [groups] items.

    The score interval of Wilson 1927 for so many independent items as would give the standard error that the groups have (the
    effective sample size of Kish 1965); for the number of groups where all are equal.
    """
    count, flat = len(hits), _flat(hits)
    if count < FEWEST_GROUPS:
        nothing = np.full(hits.shape[1:], np.nan)
        return nothing, nothing
    share = flat.sum(0) / sizes.sum()
    variance = ((flat - sizes[:, None] * share) ** 2).sum(0) / sizes.sum() ** 2 * count / (count - 1)
    least = np.full(len(share), float(count))
    effective = np.divide(share * (1 - share), variance, out=least, where=variance > 0).clip(1, sizes.sum())
    ends = np.array([wilson(part * items, items) for part, items in zip(share, effective, strict=True)])
    return ends[:, 0].reshape(hits.shape[1:]), ends[:, 1].reshape(hits.shape[1:])


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """The q values of p values, of the same shape: the lowest false discovery rate for each (Benjamini and Hochberg 1995)."""
    return scipy.stats.false_discovery_control(p, axis=None).reshape(p.shape)


def halve_groups(groups: np.ndarray, seed: int = 0) -> list[np.ndarray]:
    """The rows of each half of the groups, drawn at random; `groups` [rows] numbers the group of each row from 0.

    The second half has one more where they are odd.
    """
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    return [np.flatnonzero(np.isin(groups, half)) for half in np.split(order, [len(order) // 2])]


def wilson(right: float, items: float) -> tuple[float, float]:
    """The 95% score interval of a binomial share, 0 to 1 (Wilson 1927): all p from which right / items is within NORMAL_95 of its
    standard deviations √(p (1 − p) / items). It assumes that the items are independent; `right` may be a mean over repetitions.
    Raises ValueError without items.
    """
    if not 0 <= right <= items or not items:
        raise ValueError(f"{right} of {items} is not a share")
    share, spread = right / items, NORMAL_95**2 / items
    middle = (share + spread / 2) / (1 + spread)
    width = NORMAL_95 * sqrt(share * (1 - share) / items + spread / (4 * items)) / (1 + spread)
    low, high = max(0.0, middle - width), min(1.0, middle + width)
    return low if right else 0.0, high if right < items else 1.0  # exactly, where rounding would leave 1e-17


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1).astype(np.float64)


def _batches(rows: int, width: int) -> Iterator[slice]:
    size = max(1, AT_ONCE // width)
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))
