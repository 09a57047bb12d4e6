"""What Fine-tune does that no view can: trainings."""

import time
from collections.abc import Generator, Sequence
from threading import Event
from typing import Any

import gradio as gr

from explorer.core import jobs
from explorer.core.errors import ExplorerError
from explorer.core.limits import WORKS
from explorer.core.scheduling import TRAINING
from explorer.core.steps import finished
from explorer.finetune.compute import store
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.task import Task
from explorer.finetune.compute.training import Progress, new_run, run_training
from explorer.finetune.pictures.training import learning_curves
from explorer.finetune.run import RunView, run_ids
from explorer.finetune.tab import TRAININGS
from explorer.page.events import Updates, Values, run
from explorer.page.panel import Panel
from explorer.page.tab import TabPage
from explorer.ui.subject import Subject

NOTHING = "Nothing was trained; what was shown before is still below."
STOPPED = "Stopped; the best so far stays. "
EVERY = 0.25  # seconds between two pictures of a running training


def build(tabs: dict[str, TabPage]) -> None:
    """Add the listeners."""
    tab = tabs["fine-tune"]
    panels = {panel.view: panel for panel in tab.panels}
    for views in TRAININGS:
        _listen_to_training(tab, [panels[view] for view in views])


def _listen_to_training(tab: TabPage, panels: Sequence[Panel]) -> None:
    """Train from two views and report in a third: a training streams, can be cancelled, and outlasts its page."""
    examples, recipe, outcome = panels
    running, status = outcome.controls["training"], outcome.parts["status"]
    start, cancel = recipe.parts["train"], recipe.parts["cancel"]
    ending = gr.State(None)  # said before the summary of a new run; None if there is no new run

    def active(training: bool) -> Updates:
        return {start: gr.Button(interactive=not training), cancel: gr.Button(visible=training)}

    def begin(values: Values) -> Updates:
        waits = f"Waiting for a free place: {WORKS.most} trainings run at once."
        return {**active(True), status: waits if jobs.running() >= WORKS.most else "Starting."}

    def train(values: Values) -> Generator[Updates, None, None]:
        subject = tab.inputs.subject(values)
        try:
            task, title = _task(examples.read(values, subject), recipe.read(values, subject), subject)
        except ExplorerError as why:
            yield {status: {"text": f"{why} Nothing was trained.", "kind": "error"}, ending: None}
            return
        identifier, mine = store.new_id(), outcome.read_as(RunView, values, subject)
        before = shown_before(mine, subject)
        known = {running: identifier, outcome.controls["runs"]: run_ids((identifier, *mine.runs)), ending: None}
        yield known | {outcome.controls["visitor"]: mine.visitor, status: "Reading the examples."}
        with jobs.job(identifier) as stop:
            trained = yield from _train(outcome, task, title, stop, (identifier, mine.visitor))
        if trained is None:
            yield {status: "Stopped before the first epoch had ended; nothing is kept."}
        else:
            yield {outcome.controls["run"]: trained.id, ending: STOPPED if stop.is_set() else since(before, trained)}

    def show(values: Values) -> Updates:
        if values[ending] is None:
            return {status: gr.skip()}  # Gradio refuses an empty answer
        about_runs = [panel for panel in tab.panels if issubclass(panel.view, RunView)]
        updates = tab.redraw(tab.inputs.subject(values), values, about_runs)
        return {**updates, status: values[ending] + updates[status]} if status in updates else updates

    def stop(values: Values) -> Updates:
        # The button is hidden, as after the end: a word in the status could arrive after the training's last one.
        # A page whose state was lost still has its runs, the newest first.
        stopped = any(jobs.stop(one) for one in (values[running], *run_ids(values[outcome.controls["runs"]])))
        return {cancel: gr.Button(visible=False) if stopped else gr.skip()}

    begun = run([start.click], begin, [start, cancel, status], queue=False)
    # "once": a second click during a training is ignored.
    training = run(begun.then, train, [*outcome.outputs, ending], tab.all_inputs, trigger_mode="once", **TRAINING)
    run(training.success, lambda values: active(False), [start, cancel], queue=False)
    run(training.failure, lambda values: {**active(False), status: NOTHING}, [start, cancel, status], queue=False)
    run(training.success, show, tab.all_outputs, [*tab.all_inputs, ending])
    run([cancel.click], stop, [cancel], [running, outcome.controls["runs"]], queue=False)


def shown_before(view: RunView, subject: Subject) -> Run | None:
    """The run shown before another one is trained; None if there is none."""
    try:
        return view.find(subject)
    except ExplorerError:
        return None


def since(before: Run | None, trained: Run) -> str:
    """A sentence that training took place: the same examples and settings give the same result, which looks like nothing."""
    same = before is not None and before.history == trained.history
    return "Trained just now, with the same result as before. " if same else "Trained just now. "


def _task(source: Any, recipe: Any, subject: Subject) -> tuple[Task, str]:
    """The training task from its two views (data and recipe), and a title for its run. Raises ExplorerError."""
    examples, _ = source.examples()
    task = source.task(subject.model, examples, recipe.plan(subject.model)).fitted()
    task.split()
    return task, source.title(examples)


def _train(outcome: Panel, task: Task, title: str, stop: Event, kept_as: tuple[str, str]) -> Generator[Updates, None, Run | None]:
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
                yield outcome.updates({"status": step.doing, **curves}, only_these=True)
    except GeneratorExit:
        stop.set()
        if (result := finished(steps)) is not None:
            new_run(result, title, *kept_as)
        raise
