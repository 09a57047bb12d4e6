"""Trainings by the dozen, over hidden states or features computed once.

A grid search trains the same examples with several settings: those that papers searched, and similar ones for small models and
heads. A learning curve is the held-out score of a linear head trained on 25 examples, 50, 100 and so on.
"""

import itertools
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from explorer.core.steps import map_steps
from explorer.finetune.compute.finetune import Step
from explorer.finetune.compute.task import Task
from explorer.finetune.compute.text_tasks import TextTask
from explorer.training.examples import Examples, Split

FEWEST = 25  # examples at the first point of the curve; each next point has twice as many


@dataclass(frozen=True)
class Grid:
    """Settings to try in every combination, and their source."""

    batch_sizes: tuple[int, ...]
    rates: tuple[float, ...]
    epochs: tuple[int, ...]
    layers: bool  # whether they are for training layers; otherwise for the head alone
    source: str

    def settings(self) -> list[tuple[int, float, int]]:
        """Batch size, learning rate and epochs of every combination; those with the fewest epochs come first."""
        return [(batch, rate, number) for number, batch, rate in itertools.product(self.epochs, self.batch_sizes, self.rates)]


PAPER = Grid((16, 32), (5e-5, 3e-5, 2e-5), (2, 3, 4), True, "Devlin et al. 2019, appendix A.3; warm-up over 10% of the steps")
SMALL = Grid((16, 32), (2e-4, 1e-4, 5e-5), (2, 4), True, "rates as Turc et al. 2019 took them for small models")
HEAD = Grid((16, 32, 64), (0.03, 0.01, 0.003), (5, 10), False, "rates around that of the tutorials")
GRIDS = {"the paper's": PAPER, "for a small model": SMALL, "the head only": HEAD}


@dataclass(frozen=True)
class Cell:
    """One row of the table: the settings, and the last epoch's measures on the held-out examples."""

    batch_size: int
    learning_rate: float
    epochs: int
    score: float  # the measure by which this kind of task is judged
    loss: float


@dataclass(frozen=True)
class GridProgress:
    """The share done, 0 to 1, what is being done, and the rows so far."""

    share: float
    doing: str
    cells: tuple[Cell, ...]


def search(task: Task, grid: Grid) -> Generator[GridProgress, None, tuple[Cell, ...]]:
    """Train with every setting of the grid on one split; yields the progress. Only the numbers are kept.

    The last epoch of each training counts, not the best one, so that only the settings are chosen on the held-out examples.
    """
    parts = task.split()
    doing = f"Reading {len(task.examples):,} examples, once."
    below = yield from map_steps(task.read(), lambda share: GridProgress(0.0, doing, ()))
    settings = grid.settings()
    total, done = sum(epochs for _, _, epochs in settings), 0
    cells: tuple[Cell, ...] = ()
    for number, (batch, rate, epochs) in enumerate(settings, start=1):
        named = replace(task.plan.settings, batch_size=batch, learning_rate=rate, epochs=epochs)
        one = replace(task, plan=replace(task.plan, settings=named))
        doing = f"{number} of {len(settings)}: batch {batch}, {rate:g}, {epochs} epochs."
        for report in one.epochs(below, parts):
            if isinstance(report, Step):
                share = (done + report.epoch - 1 + report.done / report.total) / total
                yield GridProgress(share, doing, cells)
            else:
                last = report[0]
        done += epochs
        cells = (*cells, Cell(batch, rate, epochs, last.held_out[task.predictor.measures[1]], last.held_out["loss"]))
        yield GridProgress(done / total, doing, cells)
    return cells


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
    """25, 50, 100, ... and `most`; doubled numbers above 80% of `most` are left out."""
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
