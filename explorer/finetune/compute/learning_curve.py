"""Learning curves: the held-out score of a linear head trained on 25 examples, 50, 100 and so on."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from explorer.core.steps import map_steps
from explorer.finetune.compute.finetune import Step
from explorer.finetune.compute.text_tasks import TextTask
from explorer.training.examples import Examples, Split

FEWEST = 25  # examples at the first point of the curve; each next point has twice as many


@dataclass(frozen=True)
class Point:
    """One number of examples, with the held-out scores of the head and of a bag of words.

    Each score is the measure by which the kind of task is judged: its mean over the seeds, and its standard deviation.
    """

    examples: int
    score: float
    deviation: float
    words: float
    words_deviation: float


def sizes(most: int) -> list[int]:
    """25, 50, 100, ... and `most`; doubled numbers above 80 % of `most` are left out."""
    doubled = [FEWEST * 2**k for k in range(most.bit_length()) if FEWEST * 2**k <= 0.8 * most]
    return [*doubled, most]


def learning_curve(task: TextTask, seeds: int) -> Generator[tuple[float, str], None, list[Point]]:
    """Train on more and more examples, for each of `seeds` splits; yields the share done, and what is being done.

    The head on frozen features is solved directly (L-BFGS). Within a split each part contains the one before it and all are
    judged on the same held-out examples; the bag of words sees the same parts.
    """
    settings = replace(task.plan.settings, optimizer="lbfgs", units=0)
    task = replace(task, plan=replace(task.plan, layers_trained=0, settings=settings))
    doing = f"Reading {len(task.examples):,} examples, once."
    below = yield from map_steps(task.read(), lambda share: (0.5 * share, doing))
    splits = [replace_seed(task, seed).split() for seed in range(seeds)]
    counts = sizes(min(len(parts.train) for parts in splits))
    found = np.empty((2, len(counts), seeds))
    for seed, parts in enumerate(splits):
        order = proportional_order(task.examples, parts.train, seed)
        for place, count in enumerate(counts):
            part = Split(np.sort(order[:count]), parts.held_out)
            found[:, place, seed] = _scores(task, below, part)
            share = (seed * len(counts) + place + 1) / (seeds * len(counts))
            yield 0.5 + 0.5 * share, f"{count:,} examples, split {seed + 1} of {seeds}."
    means, deviations = found.mean(-1), found.std(-1)
    return [Point(count, *np.ravel([means[:, i], deviations[:, i]], "F").tolist()) for i, count in enumerate(counts)]


def replace_seed(task: TextTask, seed: int) -> TextTask:
    """The same task with another seed."""
    return replace(task, plan=replace(task.plan, settings=replace(task.plan.settings, seed=seed)))


def proportional_order(examples: Examples, rows: np.ndarray, seed: int) -> np.ndarray:
    """The rows in a random order in which every beginning has about the right share of each class, and each at least once."""
    rng = np.random.default_rng(seed)
    strata = np.array(examples.strata)[rows]
    rank = np.empty(len(rows))
    for name in np.unique(strata):
        mine = np.flatnonzero(strata == name)
        rank[rng.permutation(mine)] = np.arange(len(mine)) / len(mine)
    return rows[np.lexsort((rng.random(len(rows)), rank))]


def _scores(task: TextTask, below: np.ndarray, parts: Split) -> tuple[float, float]:
    """The held-out scores of the head and of the bag of words."""
    (epoch,) = (report[0] for report in task.epochs(below, parts) if not isinstance(report, Step))
    return epoch.held_out[task.predictor.measures[1]], task.baselines(parts)["bag of words"]
