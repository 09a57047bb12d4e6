"""How much more examples help: what a linear head reaches when it has seen 25 examples, 50, 100 and so on."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from explorer.base.steps import map_steps
from explorer.training.examples import Examples, Split
from explorer.training.finetune import Step
from explorer.training.text_tasks import TextTask

FEWEST = 25  # examples that the curve begins with; each next point has twice as many


@dataclass(frozen=True)
class Point:
    """So many examples: what the head and a bag of words reach on the held-out ones, as the kind of task is judged.

    Each is the mean over the seeds and its standard deviation.
    """

    examples: int
    score: float
    deviation: float
    words: float
    words_deviation: float


def sizes(most: int) -> list[int]:
    """25, 50, 100, ... and all of `most` examples, none of them close to all."""
    doubled = [FEWEST * 2**k for k in range(most.bit_length()) if FEWEST * 2**k <= 0.8 * most]
    return [*doubled, most]


def learning_curve(task: TextTask, seeds: int) -> Generator[tuple[float, str], None, list[Point]]:
    """Train on more and more examples, `seeds` times with another split; yields how far it is.

    The head on frozen features is solved at once (L-BFGS). Each part holds the one before it, the held-out examples are the
    same for all parts of a split, and the words are counted in the same part (Baselines of the tab).
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
    """The rows in an order by chance of which every beginning has of each class about its share, and one at least."""
    rng = np.random.default_rng(seed)
    strata = np.array(examples.strata)[rows]
    rank = np.empty(len(rows))
    for name in np.unique(strata):
        mine = np.flatnonzero(strata == name)
        rank[rng.permutation(mine)] = np.arange(len(mine)) / len(mine)
    return rows[np.lexsort((rng.random(len(rows)), rank))]


def _scores(task: TextTask, below: np.ndarray, parts: Split) -> tuple[float, float]:
    """What the head and the bag of words reach on what is held out."""
    (epoch,) = (report[0] for report in task.epochs(below, parts) if not isinstance(report, Step))
    return epoch.held_out[task.predictor.measures[1]], task.baselines(parts)["bag of words"]
