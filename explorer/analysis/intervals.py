"""How far a share may be from that of endless examples."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

NORMAL_95 = 1.959963984540054  # what 95 % of a standard normal distribution is within


class Share(NamedTuple):
    """A share of `items`, 0 to 1, with its 95 % interval from `low` to `high`."""

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
