"""`python -m tests.benchmarks.coverage`: how often the intervals of Experiments contain the true mean, and p is below 0.05.

Values are drawn whose true mean is 0: groups of items that share a part of their variance (the intraclass correlation), and
independent items, also of a skewed distribution. An honest 95% interval contains 0 in 95 of 100 runs, and p is below 0.05 in 5.
Beside it stands what items taken as independent would give.
"""

from collections.abc import Callable, Iterator

import numpy as np

from explorer.analysis.resampling import bootstrap, by_group, differs, sign_flip

RUNS = 2_000
AT_ONCE = 500  # runs, as columns of one call


def shared(groups: int, each: int, correlation: float) -> Callable[[np.random.Generator], np.ndarray]:
    """Runs [groups, each, AT_ONCE] of normal items, of whose variance the groups share a part."""

    def draw(random: np.random.Generator) -> np.ndarray:
        common, own = random.normal(size=(groups, 1, AT_ONCE)), random.normal(size=(groups, each, AT_ONCE))
        return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own

    return draw


def lognormal(items: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Runs [items, 1, AT_ONCE] of skewed items, less their mean."""
    return lambda random: np.exp(random.normal(size=(items, 1, AT_ONCE))) - np.exp(0.5)


CASES = {
    "12 groups × 5 items, correlation 0.7": shared(12, 5, 0.7),
    "6 groups × 10 items, correlation 0.7": shared(6, 10, 0.7),
    "4 groups × 15 items, correlation 0.9": shared(4, 15, 0.9),
    "20 independent items": shared(20, 1, 0),
    "10 independent items": shared(10, 1, 0),
    "5 independent items": shared(5, 1, 0),
    "20 lognormal items": lognormal(20),
    "40 lognormal items": lognormal(40),
}


def percentile(values: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The percentile bootstrap over items, as Experiments had it before: values [items, runs] to two arrays [runs]."""
    drawn = random.multinomial(len(values), np.full(len(values), 1 / len(values)), 1_000) @ values / len(values)
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return low, high


def measure(draw: Callable[[np.random.Generator], np.ndarray], runs: int = RUNS) -> tuple[float, ...]:
    """Shares from 0 to 1: coverage and p < 0.05 by group (coverage NaN without an interval), and the same by item."""
    random, found = np.random.default_rng(0), []
    for _ in range(runs // AT_ONCE):
        values = draw(random)
        groups, each, _ = values.shape
        items = values.reshape(groups * each, -1)
        sums, sizes = by_group(items, np.repeat(np.arange(groups), each)), np.full(groups, each)
        low, high, _ = bootstrap(sums, sizes=sizes)
        within = np.where(np.isnan(low), np.nan, (low <= 0) & (high >= 0))
        before = percentile(items, random)
        by_item = (before[0] <= 0) & (before[1] >= 0)
        tests = (differs(sums, sizes=sizes) < 0.05, sign_flip(items) < 0.05)
        found.append([float(one.mean()) for one in (within, tests[0], by_item, tests[1])])
    return tuple(np.mean(found, axis=0).tolist())


def main() -> Iterator[str]:
    """A row per case."""
    yield "| true mean 0 | interval contains it | p < 0.05 | items as independent: contains it | p < 0.05 |"
    yield "|---|---|---|---|---|"
    for name, draw in CASES.items():
        cells = ["no interval" if np.isnan(share) else f"{100 * share:.1f}%" for share in measure(draw)]
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in main():
        print(line)
