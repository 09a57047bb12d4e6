"""The training and its outcome: the buttons, the curves, the final score beside baselines without BERT, and the next step."""

import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from threading import Event
from typing import Any

from explorer.core import jobs
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import WORKS
from explorer.core.scheduling import AT_ONCE, TRAINING
from explorer.core.steps import finished
from explorer.finetune.compute import store
from explorer.finetune.compute.finetune import Progress, duration
from explorer.finetune.compute.from_table import AnyExamples
from explorer.finetune.compute.predictor import Run
from explorer.finetune.compute.questions import Questions
from explorer.finetune.compute.store import new_run
from explorer.finetune.compute.task import Task, go_on, run_training
from explorer.finetune.compute.texts import Classifier
from explorer.finetune.pictures import learning_curves, map_in_training
from explorer.finetune.recipe import TEXTS, Recipe, defaults
from explorer.finetune.runs import NothingTrained, RunView, run_id, run_ids
from explorer.finetune.sources import size_of
from explorer.finetune.try_it import TryIt
from explorer.finetune.verdict import cost, hardly_learned, judge, next_step, summary
from explorer.training.examples import Split
from explorer.training.settings import Epoch
from explorer.ui.layout import row
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, Finding, button, chart, props, runs_as, sentence, show

NOTHING = "Nothing was trained; the former run is still below."
EVERY = 0.25  # seconds between two pictures of a running training
NEEDED = {"layer", "pooling", "layers_trained", "keep_best", "epochs"}  # settings, to go on
MOVING = "The head places each sentence after the last epoch so far; pale ones are those that it learns from."
MOST_MOVING = 200  # points of a map while a training runs


class Outcome(RunView, Recipe):
    """Loss and accuracy by epoch, with the epoch that was kept marked, and what to try next."""

    name, question = "fine-tune/outcome", "How did the training go?"
    fold = "How the training went"
    redraws = (TryIt,)
    layout = (row("train", "go_on", "cancel"),)
    training: str | None = memory(None, kept=run_id, linked=False)
    next_step = button("Next step", optional=True, wide=True)
    train = button("Train", variant="primary")
    go_on = button("Go on from this run", optional=True)
    cancel = button("Cancel", visible=False)
    status = sentence(classes="caption", keep_height=True)
    curves = chart("Loss and accuracy by epoch", height=270, more=True)

    def compute(self, subject: Subject) -> Content:
        """The outcome; nothing new while a running training reports here."""
        return {} if self.training in jobs.running else super().compute(subject)

    def show_run(self, subject: Subject, run: Run) -> Content:
        """The outcome; a button for what is not instant, and one for the next step, with what each costs."""
        step = next_step(run, subject.model.capabilities)
        label = step and f"Next: {step.text}{self._cost(subject, **step.settings)}"
        return {
            "status": summary(run),
            "curves": learning_curves(run.history, len(run.history), run.best),
            "train": props(value=f"Train{self._cost(subject)}", visible=self._is_worth_training(subject, run)),
            **({"go_on": f"Go on: {run.settings['epochs']} more epochs"} if _can_go_on(run) else {}),
            **({"next_step": props(value=label, visible=True, interactive=True)} if label else {}),
        }

    def _is_worth_training(self, subject: Subject, run: Run) -> bool:
        """Whether a training may give another run: one on texts by the first settings is made as they are typed."""
        if self.kind != TEXTS or not self.is_learned(subject, run):
            return True
        begun = defaults(self.kind, subject.model.capabilities)
        usual = {name: (begun.get(name), getattr(Recipe(), name)) for name in Recipe.settings if name != "kind"}
        return any(getattr(self, name) not in values for name, values in usual.items())

    def without_run(self, subject: Subject, why: str) -> Content:
        return {"curves": None, "status": why, "train": props(value=f"Train{self._cost(subject)}", visible=True)}

    def finding(self, subject: Subject) -> Finding | None:
        """What the run is worth, unless another one is being trained."""
        with suppress(NothingTrained):
            if self.training not in jobs.running and (run := self.find(subject)).history:
                return Finding(hardly_learned(run) or judge(run))
        return None

    def begin_train(self) -> Content:
        waits = f"Waiting for a free place: {WORKS.most} trainings run at a time."
        return {**_buttons(busy=True), "status": waits if len(jobs.running) >= WORKS.most else "Starting."}

    def fail_train(self) -> Content:
        return {**_buttons(), "status": NOTHING}

    begin_go_on = begin_next_step = begin_train
    fail_go_on = fail_next_step = fail_train

    @runs_as(TRAINING)
    def on_train(self, subject: Subject, _: None) -> Generator[Content, None, Change]:
        return (yield from self._train(subject))

    @runs_as(TRAINING)
    def on_next_step(self, subject: Subject, _: None) -> Generator[Content, None, Change]:
        step = next_step(self.find(subject), subject.model.capabilities)
        return (yield from self._train(subject, step.settings if step else {}))

    @runs_as(TRAINING)
    def on_go_on(self, subject: Subject, _: None) -> Generator[Content, None, Change]:
        return (yield from self._train(subject, begun=self.find(subject)))

    @runs_as(AT_ONCE)
    def on_cancel(self, subject: Subject, _: None) -> Change:
        # The button is hidden, as after the end: a word in the status could arrive after the training's last one.
        stopped = any(jobs.stop(identifier) for identifier in (self.training, *self.runs))
        return show(cancel=props(visible=not stopped))

    def _train(
        self, subject: Subject, settings: dict[str, Any] | None = None, begun: Run | None = None
    ) -> Generator[Content, None, Change]:
        """Train by the recipe, with these `settings` in place of its own, which the page then shows; or go on with a run."""
        try:
            examples, _note = self.examples()
            task = replace(self, **(settings or {}))._task(subject, examples, begun)
        except ExplorerError as why:
            return show(**_buttons(), status={"text": f"{why} Nothing was trained.", "kind": "error"})
        identifier = store.new_id()
        yield {
            "training": identifier,
            "runs": run_ids((identifier, *self.runs)),
            "visitor": self.visitor,
            "status": "Reading the examples.",
        }
        with jobs.job(identifier) as stop:
            run = yield from _train_in_steps(task, self.title(examples), stop, (identifier, self.visitor))
        if run is None:
            return show(**_buttons(), status="Stopped before the first epoch had ended; nothing is kept.")
        said = "Stopped; the best so far stays. " if stop.is_set() else "Trained just now. "
        return Change(settings={**(settings or {}), "run": run.id}, content={**_buttons(), "status": f"{said}{summary(run)}"})

    def _task(self, subject: Subject, examples: AnyExamples, begun: Run | None) -> Task:
        """The plan of the training. Raises ExplorerError."""
        if begun is None:
            plan = self.plan(subject.model)
        elif not isinstance(examples, Questions) and begun.predictor.labels == tuple(examples.classes):
            plan = go_on(subject.model, begun.predictor, begun.settings)
        else:
            raise InputError("Your classes differ from those of this run. Train again first.")
        task = Task(subject.model, examples, plan).fill_in()
        task.split()
        return task

    def _cost(self, subject: Subject, **settings: Any) -> str:
        """The cost of a training in brackets; '' where the recipe or the examples are at fault, which they say themselves."""
        try:
            plan, (examples, _) = replace(self, **settings).plan(subject.model), self.examples()
            return f" ({duration(cost(subject.model.capabilities, plan, *size_of(examples)))})"
        except ExplorerError:
            return ""


def _can_go_on(run: Run) -> bool:
    """Whether more steps may change something: a head that is solved directly is at its end, and a file has no split."""
    by_steps = run.kind == "classes" and run.settings.get("optimizer") == "adam" and run.settings.get("held_out")
    linear = run.predictor.head.hidden_weight is None
    return bool(by_steps) and linear and run.held_out is not None and run.settings.keys() >= NEEDED


def _buttons(busy: bool = False) -> Content:
    idle = props(interactive=not busy)
    return {"train": idle, "next_step": idle, "cancel": props(visible=busy)}


def _draw_epochs(task: Task, history: list[Epoch], moving: Split | None) -> Content:
    """The curves so far and the map beside them, where few texts are held out."""
    shown: Content = {"curves": learning_curves([epoch.as_row() for epoch in history], task.plan.settings.reports)}
    if moving is not None and (scores := history[-1].scores) is not None:
        shown["map"] = props(value=map_in_training(task.examples, moving, scores), visible=True)
        shown |= {"about_map": MOVING, "slow_motion": props(visible=False)}
    return shown


def _train_in_steps(task: Task, title: str, stop: Event, kept_as: tuple[str, str]) -> Generator[Content, None, Run | None]:
    """Train and show the progress. Returns the run, stored under `kept_as` (id, visitor), or None.

    When the page is closed meanwhile, Gradio closes this generator: what was learned so far is kept, and the training stops.
    """
    steps, moving = run_training(task, stop.is_set), None
    if task.head is Classifier and task.plan.layers_trained and len((parts := task.split()).held_out) <= MOST_MOVING:
        moving = parts  # texts whose points on the map move
    history: list[Epoch] = []
    shown, drawn = 0.0, 0
    try:
        while True:
            try:
                step: Progress = next(steps)
            except StopIteration as done:
                return new_run(done.value, title, *kept_as) if done.value else None
            if step.epoch is not None:
                history.append(step.epoch)
            if time.monotonic() - shown >= EVERY:
                yield {"status": step.doing, **(_draw_epochs(task, history, moving) if len(history) > drawn else {})}
                shown, drawn = time.monotonic(), len(history)
    except GeneratorExit:
        stop.set()
        if (result := finished(steps)) is not None:
            new_run(result, title, *kept_as)
        raise
