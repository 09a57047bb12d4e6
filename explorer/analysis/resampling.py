"""What a mean or a share over items is worth: intervals, a sign-flip test, and a correction for many tests."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from explorer.core.lazy import scipy

DRAWS = 2_000  # of a bootstrap: the ends of a 95% interval are stable to about a twentieth of its width
FLIPS = 10_000  # of a test: the smallest p value is 1 / 10,001, which survives the correction for 384 heads
AT_ONCE = 2**22  # numbers drawn at once: 32 MB
NORMAL_95 = 1.959963984540054  # what 95% of a standard normal distribution is within
TIE = 1e-9  # two means that differ by less, relative to their size, are the same


def bootstrap(values: np.ndarray, seed: int = 0, sizes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the 95% interval of the mean over items: values [items, ...] to two arrays [...].

    The percentile bootstrap: items are drawn with replacement DRAWS times (Efron and Tibshirani 1993, chapter 13). The
    same draws serve all columns. With `sizes` [items], above 0, values are sums over clusters of so many, such as the words of a
    sentence told right, and the interval is that of the mean over what they hold.
    """
    count, flat = len(values), _flat(values)
    held = np.ones(count) if sizes is None else sizes.astype(np.float64)
    random, means = np.random.default_rng(seed), np.empty((DRAWS, flat.shape[1]))
    for batch in _batches(DRAWS, count):
        drawn = random.integers(0, count, (batch.stop - batch.start, count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn])
        means[batch] = weights @ flat / (weights @ held)[:, None]
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    return low.reshape(values.shape[1:]), high.reshape(values.shape[1:])


def sign_flip(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Two-sided p values (0 to 1) of means over items: [items, ...] to [...].

    How often the mean is at least as far from 0 when the sign of every item is drawn at random, or with all signs in turn where
    these are fewer than FLIPS (Fisher's randomisation test for pairs). It holds if an item's change is as likely in either
    direction. Drawn signs count the observed ones too, so that p is never 0 (Phipson and Smyth 2010).
    """
    count, flat = len(values), _flat(values)
    least = np.abs(flat.sum(0)) * (1 - TIE)
    every = 2**count <= FLIPS
    found = np.zeros(flat.shape[1])
    for signs in _every_sign(count) if every else _drawn_signs(count, seed):
        found += (np.abs(signs @ flat) >= least).sum(0)
    shares = found / 2**count if every else (found + 1) / (FLIPS + 1)
    return shares.reshape(values.shape[1:])


def by_chance(values: np.ndarray, chances: np.ndarray, seed: int = 0) -> np.ndarray:
    """Two-sided p values (0 to 1) of how often something happens: values [items, ...], 0 or 1, and the chance of each, to [...].

    How often the sum is at least as far from that of the chances when every item is drawn at random with its own chance. Unlike
    signs, which are flipped as if a change were as likely in either direction, this holds for chances far from a half. The
    observed values count as a draw too.
    """
    count, flat, odds = len(values), _flat(values), _flat(np.broadcast_to(chances, values.shape))
    least = np.abs((flat - odds).sum(0)) * (1 - TIE)
    random, found = np.random.default_rng(seed), np.zeros(flat.shape[1])
    for batch in _batches(FLIPS, count):
        drawn = random.random((batch.stop - batch.start, count))
        for column, chance in enumerate(odds.T):
            found[column] += (np.abs((drawn < chance).sum(1) - chance.sum()) >= least[column]).sum()
    return ((found + 1) / (FLIPS + 1)).reshape(values.shape[1:])


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """The q value of every p value, of the same shape: the smallest false discovery rate at which it is still a discovery.

    Benjamini and Hochberg 1995.
    """
    return scipy.stats.false_discovery_control(p, axis=None).reshape(p.shape)


def halves(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers from 0 to `count` in two halves at random, each in order; the second has one more where they are odd."""
    order = np.random.default_rng(seed).permutation(count)
    return np.sort(order[: count // 2]), np.sort(order[count // 2 :])


class Share(NamedTuple):
    """A share of `items`, 0 to 1, with its 95% interval from `low` to `high`."""

    items: int
    right: float
    low: float
    high: float

    @classmethod
    def of(cls, right: Sequence[bool]) -> "Share":
        """The share of those that are right. Raises ValueError for none."""
        low, high = wilson(sum(right), len(right))
        return cls(len(right), sum(right) / len(right), low, high)


def shares_by_kind(kinds: Sequence[str], right: Sequence[bool]) -> dict[str, Share]:
    """The share of each kind, in the order in which they first occur; both sequences have an entry for each item."""
    items = list(zip(kinds, right, strict=True))
    return {kind: Share.of([one for other, one in items if other == kind]) for kind in dict.fromkeys(kinds)}


def wilson(right: float, items: int, z: float = NORMAL_95) -> tuple[float, float]:
    """The score interval of a binomial share, 0 to 1 (Wilson 1927): all shares p from which right / items is within z of its
    standard deviations √(p (1 − p) / items). It assumes that the items are
    independent; `right` may be a mean over repetitions. Raises ValueError without items.
    """
    if not 0 <= right <= items or not items:
        raise ValueError(f"{right} of {items} is no share")
    share, spread = right / items, z * z / items
    middle = (share + spread / 2) / (1 + spread)
    width = z * sqrt(share * (1 - share) / items + spread / (4 * items)) / (1 + spread)
    return max(0.0, middle - width), min(1.0, middle + width)


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1).astype(np.float64)


def _batches(rows: int, width: int) -> Iterator[slice]:
    size = max(1, AT_ONCE // width)
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def _every_sign(count: int) -> Iterator[np.ndarray]:
    """All rows of `count` signs."""
    yield 1.0 - 2 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)


def _drawn_signs(count: int, seed: int) -> Iterator[np.ndarray]:
    """FLIPS rows of `count` signs, some at a time."""
    random = np.random.default_rng(seed)
    for batch in _batches(FLIPS, count):
        yield 1.0 - 2 * random.integers(0, 2, (batch.stop - batch.start, count), dtype=np.int8)
