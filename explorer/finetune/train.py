"""Training from the page: it can be cancelled, and what is learnt is kept when the page is closed."""

import time
from collections.abc import Generator
from dataclasses import replace
from threading import Event
from typing import Any

from explorer.core import jobs
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import WORKS
from explorer.core.scheduling import AT_ONCE, TRAINING
from explorer.core.steps import finished
from explorer.finetune.compute import store
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.task import Task, go_on
from explorer.finetune.compute.training import Progress, new_run, run_training
from explorer.finetune.pictures.training import learning_curves
from explorer.finetune.recipe import TrainingRecipe
from explorer.finetune.run import RunView, run_id, run_ids
from explorer.ui.layout import row
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, button, chart, props, runs_as, sentence, show

NOTHING = "Nothing was trained; what was shown before is still below."
STOPPED = "Stopped; the best so far stays. "
EVERY = 0.25  # seconds between two pictures of a running training
BUSY: Content = {"train": props(interactive=False), "cancel": props(visible=True)}
IDLE: Content = {"train": props(interactive=True), "cancel": props(visible=False)}


class Trainer(RunView):
    """A base for a view that trains, and reports how that goes. It `reads` the view of the examples, then that of the recipe."""

    fold = "How the training went"
    layout = (row("train", "cancel"),)
    training: str | None = memory(None, kept=run_id, linked=False)
    train = button("Train", variant="primary")
    cancel = button("Cancel", visible=False)
    status = sentence(classes="caption", keep_height=True)
    curves = chart("Loss and accuracy by epoch", height=270, more=True)

    def begin_train(self) -> Content:
        waits = f"Waiting for a free place: {WORKS.most} trainings run at once."
        return {**BUSY, "status": waits if jobs.running() >= WORKS.most else "Starting."}

    def fail_train(self) -> Content:
        return {**IDLE, "status": NOTHING}

    @runs_as(TRAINING)
    def on_train(self, subject: Subject, _: None, source: Any, recipe: TrainingRecipe) -> Generator[Content, None, Change]:
        return (yield from self.train_as(subject, source, recipe))

    def train_as(
        self,
        subject: Subject,
        source: Any,
        recipe: TrainingRecipe,
        settings: dict[str, Any] | None = None,
        begun: Run | None = None,
    ) -> Generator[Content, None, Change]:
        """Train by a recipe, with these `settings` in place of its own, which the page then shows; or go on with a run."""
        recipe = replace(recipe, **(settings or {}))
        try:
            examples, _note = source.examples()
            if begun is None:
                plan = recipe.plan(subject.model)
            elif begun.predictor.labels == tuple(examples.classes):
                plan = go_on(subject.model, begun.predictor, begun.settings)
            else:
                raise InputError("The classes are others than those of this run; train on them first.")
            task = source.task(subject.model, examples, plan).fitted()
            task.split()
        except ExplorerError as why:
            return show(**IDLE, status={"text": f"{why} Nothing was trained.", "kind": "error"})
        identifier, before = store.new_id(), self._shown(subject)
        mine = {"training": identifier, "runs": run_ids((identifier, *self.runs)), "visitor": self.visitor}
        yield {**mine, "status": "Reading the examples."}
        with jobs.job(identifier) as stop:
            run = yield from _train(task, source.title(examples), stop, (identifier, self.visitor))
        if run is None:
            return show(**IDLE, status="Stopped before the first epoch had ended; nothing is kept.")
        said = STOPPED if stop.is_set() else since(before, run)
        return Change(
            {}, {**(settings or {}), "run": run.id}, {**IDLE, "status": f"{said}{self.show_run(subject, run)['status']}"}
        )

    @runs_as(AT_ONCE)
    def on_cancel(self, subject: Subject, _: None) -> Change:
        # The button is hidden, as after the end: a word in the status could arrive after the training's last one.
        stopped = any(jobs.stop(identifier) for identifier in (self.training, *self.runs))
        return show(cancel=props(visible=not stopped))

    def _shown(self, subject: Subject) -> Run | None:
        """The run shown before another one is trained; None if there is none."""
        try:
            return self.find(subject)
        except ExplorerError:
            return None


def since(before: Run | None, trained: Run) -> str:
    """A sentence that training took place: the same examples and settings give the same result, which looks like nothing."""
    same = before is not None and before.history == trained.history
    return "Trained just now, with the same result as before. " if same else "Trained just now. "


def _train(task: Task, title: str, stop: Event, kept_as: tuple[str, str]) -> Generator[Content, None, Run | None]:
    """Train and show the progress. Returns the run, stored under `kept_as` (id, visitor), or None.

    When the page is closed meanwhile, Gradio closes this generator: what was learnt so far is kept, and the training stops.
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
