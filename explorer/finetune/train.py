"""Training from the page: it can be cancelled, and what is learned is kept when the page is closed."""

import time
from collections.abc import Generator
from threading import Event

from explorer.core.steps import finished
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.task import Task
from explorer.finetune.compute.training import Progress, new_run, run_training
from explorer.finetune.pictures.training import learning_curves
from explorer.ui.view import Content

EVERY = 0.25  # seconds between two pictures of a running training


def since(before: Run | None, trained: Run) -> str:
    """A sentence that training took place: the same examples and settings give the same result, which looks like nothing."""
    same = before is not None and before.history == trained.history
    return "Trained just now, with the same result as before. " if same else "Trained just now. "


def train_in_steps(task: Task, title: str, stop: Event, kept_as: tuple[str, str]) -> Generator[Content, None, Run | None]:
    """Train and show the progress. Returns the run, stored under `kept_as` (id, visitor), or None.

    When the page is closed meanwhile, Gradio closes this generator: what was learned so far is kept, and the training stops.
    """
    steps = run_training(task, stop.is_set)
    history: list[dict[str, float]] = []
    shown = 0.0
    try:
        while True:
            try:
                step: Progress = next(steps)
            except StopIteration as done:
                return new_run(done.value, title, *kept_as) if done.value else None
            if step.epoch is not None:
                history.append(step.epoch.as_row())
            if time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                curves = {"curves": learning_curves(history, task.plan.settings.reports)} if history else {}
                yield {"status": step.doing, **curves}
    except GeneratorExit:
        stop.set()
        if (result := finished(steps)) is not None:
            new_run(result, title, *kept_as)
        raise
