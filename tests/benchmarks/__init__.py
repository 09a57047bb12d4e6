"""Comparisons of two things in one run: only their ratio means anything, and only on the machine it ran on."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from explorer.core.cache import OnceCache

ROUNDS = 5


@dataclass(frozen=True)
class Comparison:
    """What was compared, in seconds (or another unit), and the ratio ours / theirs."""

    name: str
    ours: str
    theirs: str
    ours_value: float
    theirs_value: float
    unit: str
    wanted: str

    @property
    def ratio(self) -> float:
        """ours / theirs; below 1, ours is the smaller."""
        return self.ours_value / self.theirs_value

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.ours} {self.ours_value:.4g} {self.unit}, {self.theirs} {self.theirs_value:.4g} {self.unit}; "
            f"ratio {self.ratio:.3g} (wanted: {self.wanted})"
        )


def side_by_side(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of both, run in turns so that a busy moment of the machine meets both."""
    timings: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for taken, run in zip(timings, (ours, theirs), strict=True):
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
    return statistics.median(timings[0]), statistics.median(timings[1])


def empty_caches() -> None:
    """Forget all models, traces, features and pictures, wherever they are kept: each benchmark does its own work."""
    for kept in gc.get_objects():
        if type(kept) is OnceCache:
            kept.clear()
