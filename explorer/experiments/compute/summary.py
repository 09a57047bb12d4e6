"""What an experiment found: means over items, how sure they are, and whether a head chosen on one half holds on the other."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.resampling import benjamini_hochberg, bootstrap, halves, sign_flip

Head = tuple[int, int]
"""(layer, head), zero-based."""


@dataclass(frozen=True)
class HeldOut:
    """The selected head on the items that it was not selected on; effects are in logits.

    `rank` is its place among all heads there, 1 for the lowest effect. `random` is the mean effect of all heads, which is that
    of a head drawn by lot, with its interval.
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
    """Arrays [layers, heads]: the mean change, its 95 % interval over items, p values and, corrected for all heads, q values.

    `random` is the mean over all heads. `selected` is the head with the lowest mean on the selection half of the items.
    """

    effects: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    q: np.ndarray
    random: float
    selected: Head
    held_out: HeldOut


def summarise(changes: np.ndarray, seed: int = 0) -> Summary:
    """The summary of changes [items, layers, heads], of at least two items. The seed draws halves, bootstrap and signs."""
    changes = changes.astype(np.float64)
    selecting, testing = halves(len(changes), seed)
    layer, head = np.unravel_index(int(changes[selecting].mean(0).argmin()), changes.shape[1:])
    p = sign_flip(changes, seed)
    return Summary(
        changes.mean(0),
        *bootstrap(changes, seed),
        p,
        benjamini_hochberg(p),
        float(changes.mean()),
        (int(layer), int(head)),
        _held_out(changes[testing], (int(layer), int(head)), seed),
    )


def _held_out(changes: np.ndarray, selected: Head, seed: int) -> HeldOut:
    means, own, every = changes.mean(0), changes[:, selected[0], selected[1]], changes.mean((1, 2))
    (low, random_low), (high, random_high) = (edges.tolist() for edges in bootstrap(np.stack([own, every], axis=1), seed))
    rank = 1 + int((means < means[selected]).sum())
    p = float(sign_flip(own, seed))
    return HeldOut(float(own.mean()), low, high, rank, p, float(every.mean()), random_low, random_high, len(own))
