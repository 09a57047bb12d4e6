"""A grid of settings: the same examples trained again and again, over what the frozen part gave once."""

from collections.abc import Generator
from dataclasses import dataclass, replace

from explorer.base.steps import map_steps
from explorer.training.finetune import Step
from explorer.training.recipes import Grid
from explorer.training.training import Task


@dataclass(frozen=True)
class Cell:
    """One row of the table: what was set, and what the last epoch reached on the held-out examples."""

    batch_size: int
    learning_rate: float
    epochs: int
    score: float  # as the kind of task is judged
    loss: float


@dataclass(frozen=True)
class GridProgress:
    """How far it is, 0 to 1, what is being done, and the rows so far."""

    share: float
    doing: str
    cells: tuple[Cell, ...]


def search(task: Task, grid: Grid) -> Generator[GridProgress, None, tuple[Cell, ...]]:
    """Train with every setting of the grid, with one split; yields how it goes. Nothing is kept but the numbers.

    Of each training the last epoch counts, so that nothing but the settings is chosen on the held-out examples.
    """
    parts = task.split()
    doing = f"Reading {len(task.examples):,} examples, once."
    below = yield from map_steps(task.read(), lambda share: GridProgress(0.0, doing, ()))
    settings = grid.settings()
    total, done = sum(epochs for _, _, epochs in settings), 0
    cells: tuple[Cell, ...] = ()
    for number, (batch, rate, epochs) in enumerate(settings, start=1):
        named = replace(task.plan.settings, batch_size=batch, learning_rate=rate, epochs=epochs, patience=0)
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
