"""Grid search: the same examples trained with several settings, over hidden states or features computed once."""

from collections.abc import Generator
from dataclasses import dataclass, replace

from explorer.core.steps import map_steps
from explorer.finetune.compute.finetune import Step
from explorer.finetune.compute.recipes import Grid
from explorer.finetune.compute.training import Task


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
