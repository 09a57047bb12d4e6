"""Fine-tune: teach BERT to tell classes apart, with its insides open."""

import contextlib
import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.base.errors import ExplorerError
from explorer.figures.training import learning_curves
from explorer.page.components import Bars, Notice, PlotlyChart
from explorer.page.wiring import TRAINING, Page, Updates, View
from explorer.tabs.finetune_examples import READY, Sources, build_sources, examples_from
from explorer.tabs.finetune_result import ResultViews, build_result
from explorer.tabs.finetune_runs import Runs, build_runs
from explorer.tabs.finetune_settings import Settings, build_settings, plan
from explorer.tabs.finetune_try import Attempt, build_attempt
from explorer.training import jobs, store
from explorer.training.examples import Examples
from explorer.training.from_table import BUILT_IN, built_in

if TYPE_CHECKING:
    from explorer.training.run import Run
    from explorer.training.training import Progress, TrainingPlan

LAST_MOMENT = 5.0  # seconds that a training whose page was closed may take to end and be kept
CHOSEN = "The epoch was chosen on these same held-out sentences, so expect a little less on new ones."
NOTHING = "Nothing was trained; what was shown before is still below."
EVERY = 0.25  # seconds between two pictures of a running training


@dataclass(eq=False)
class Parts:
    """Everything of the tab."""

    run_id: gr.State
    mine: gr.BrowserState  # ids of the runs of this browser, the newest first
    sources: Sources
    settings: Settings
    start: gr.Button
    cancel: gr.Button
    status: Notice
    curves: PlotlyChart
    compared: Bars
    attempt: Attempt
    result: ResultViews
    runs: Runs

    @property
    def shown(self) -> list[Any]:
        """What showing a run changes."""
        mine = [self.run_id, self.status, self.curves, self.compared]
        return [*mine, *self.attempt.outputs, *self.result.outputs, *self.runs.outputs]


def build(page: Page) -> None:
    """Make the tab."""
    with page.tab("fine-tune", "Fine-tune", "What can BERT learn from a few examples?") as tab:
        run_id = gr.State(None)
        mine = gr.BrowserState([], storage_key="bert-explorer-runs", secret="bert-explorer")
        with gr.Row(elem_classes="overview-detail"):
            with gr.Column(scale=5, min_width=320):
                sources = build_sources(page)
                settings = build_settings(page)
                with gr.Row():
                    start = gr.Button("Train", variant="primary", elem_id="train")
                    cancel = gr.Button("Cancel", elem_id="cancel", interactive=False)
                compared = Bars(elem_id="compare")
            with gr.Column(scale=6, min_width=320):
                status = Notice(keep_height=True, elem_id="training-status")
                curves = PlotlyChart(height=270, label="Loss and accuracy by epoch", elem_id="curves")
                attempt = build_attempt(page, run_id)
        result = build_result(page, run_id)
        runs = build_runs(page, run_id, mine, sources)
        parts = Parts(run_id, mine, sources, settings, start, cancel, status, curves, compared, attempt, result, runs)
    _wire_showing(page, tab, parts)
    _wire_training(page, parts)


def _wire_showing(page: Page, tab: Any, parts: Parts) -> None:
    look, attempt = parts.result.look, parts.attempt
    sliders = [parts.settings.layers, parts.settings.layer]
    controls = [parts.run_id, parts.mine, *sliders, look, *attempt.inputs, *parts.sources.inputs]

    def show(
        view: View,
        run_id: str | None,
        mine: Any,
        layers: float,
        layer: float,
        look: str,
        text: str,
        text_b: str,
        method: str,
        *given: Any,
    ) -> Updates:
        updates = {**parts.settings.fit(view.model, layers, layer), **parts.sources.describe(*given)}
        if run_id:
            return updates
        run = _last(mine) or store.fetch(opening_run(view.model_name))
        return {**updates, **show_run(parts, run, mine, look, text, text_b, method)}

    outputs = [*sliders, *parts.sources.outputs, *parts.shown]
    tab.shows(show, outputs, controls)

    def open_run(identifier: str | None, mine: Any, look: str, *tried: str) -> Updates:
        return show_run(parts, store.fetch(identifier), mine, look, *tried)

    inputs = [parts.runs.chosen, parts.mine, look, *attempt.inputs]
    page.run([parts.runs.chosen.input], open_run, parts.shown, inputs)
    page.run(parts.runs.loaded.success, open_run, parts.shown, inputs)


def show_run(parts: Parts, run: "Run", mine: Any, look: str, *tried: str) -> Updates:
    """Everything about one run; `tried` are the values of the try-it box."""
    return {
        parts.run_id: run.id,
        parts.status: _summary(run),
        parts.curves: learning_curves(run.history, len(run.history), run.best),
        parts.compared: _compared(run),
        **parts.attempt.show(run.id, *tried),
        **parts.result.show(run.id, look),
        **parts.runs.show(run.id, mine),
    }


def _summary(run: "Run") -> str:
    layers = run.settings.get("layers_trained")
    trained = f"the head and {layers} layer{'s' if layers != 1 else ''}" if layers else "the head only"
    solved = run.settings.get("optimizer") == "lbfgs"
    kept = "solved at once (L-BFGS)" if solved else f"epoch {run.best + 1} of {len(run.history)}"
    if layers and run.best > 1:
        kept += " (a mean of its weights and those before)"
    said = f"{run.title}: {trained}, {kept}; held-out accuracy {run.accuracy:.1%}, macro-F1 {_macro_f1(run):.1%}."
    return f"{said} {CHOSEN}" if run.settings.get("keep_best") and len(run.history) > 1 else said


def _macro_f1(run: "Run") -> float:
    return run.history[run.best]["held_out_macro_f1"]


def _compared(run: "Run") -> dict[str, Any]:
    """Held-out accuracy beside what needs no BERT."""
    rows = [
        ("this classifier", run.accuracy, ""),
        *((name, value, "") for name, value in reversed(run.baselines.items())),
    ]
    return Bars.pack_groups([("Right on held-out sentences", rows)])


def _last(mine: Any) -> "Run | None":
    """The newest run of this browser that is still there.

    After a reload in the middle of a training that is its end, which is a moment away.
    """
    identifiers = mine if isinstance(mine, list) else []
    if identifiers:
        jobs.wait(identifiers[0], LAST_MOMENT)
    for identifier in identifiers:
        with contextlib.suppress(ExplorerError):
            return store.fetch(identifier)
    return None


@functools.lru_cache(maxsize=8)
def opening_run(model_name: str) -> str:
    """The id of a run on the built-in sentiment set, so that the tab opens with something to look at."""
    from explorer.base.steps import finished
    from explorer.model.explorer import load
    from explorer.training.training import make_plan, new_run, run_training

    examples, model = built_in("sentiment"), load(model_name)
    result = finished(run_training(model, examples, make_plan(model, -1, "mean", keep_best=True)))
    return new_run(result, examples, "Sentiment").id


def _title(source: str, ready: str, examples: Examples) -> str:
    if source == READY:
        return BUILT_IN[ready].split(":")[0]
    return " / ".join(examples.classes)[:40]


def _wire_training(page: Page, parts: Parts) -> None:
    inputs = [parts.run_id, parts.mine, parts.result.look, *parts.attempt.inputs]
    inputs += [*parts.settings.inputs, *parts.sources.inputs]
    count = len(parts.settings.inputs)

    def train(
        view: View, before: str | None, mine: Any, look: str, text: str, text_b: str, method: str, *given: Any
    ) -> Iterator[Updates]:
        settings, sources = given[:count], given[count:]
        examples, _ = examples_from(*sources)
        planned = plan(view.model, *settings)
        identifier = store.new_id()
        mine = [identifier, *(mine if isinstance(mine, list) else [])][:30]
        yield {parts.run_id: identifier, parts.mine: mine, parts.status: "Reading the examples."}
        with jobs.job(identifier) as stop:
            run = yield from _run(
                parts, view, examples, planned, stop, _title(sources[0], sources[1], examples), identifier
            )
        if run is None:
            yield {parts.status: "Stopped before the first epoch had ended; nothing is kept.", parts.run_id: before}
            return
        yield show_run(parts, run, mine, look, text, text_b, method)
        if stop.is_set():
            yield {parts.status: f"Stopped; the best so far stays. {_summary(run)}"}

    buttons = [parts.start, parts.cancel]

    def active(running: bool) -> Updates:
        return {parts.start: gr.Button(interactive=not running), parts.cancel: gr.Button(interactive=running)}

    def begin() -> Updates:
        return {**active(True), parts.status: "Waiting for a free place: two trainings run at once."}

    begun = page.run([parts.start.click], begin, [*buttons, parts.status], queue=False)
    # Once: a second click while one trains asks for nothing.
    training = page.on(begun.then, train, [*parts.shown, parts.mine], inputs, trigger_mode="once", **TRAINING)
    page.run(training.success, lambda: active(False), buttons, queue=False)
    page.run(training.failure, lambda: {**active(False), parts.status: NOTHING}, [*buttons, parts.status], queue=False)

    def cancel(identifier: str | None) -> Updates:
        # The button turns grey, as it is after the end too: a word in the status could come after the training's last.
        return {parts.cancel: gr.Button(interactive=False) if jobs.stop(identifier) else gr.skip()}

    page.run([parts.cancel.click], cancel, [parts.cancel], [parts.run_id], queue=False)


def _run(
    parts: Parts, view: View, examples: Examples, planned: "TrainingPlan", stop: Any, title: str, identifier: str
) -> Iterator[Updates]:
    """Train while showing how it goes; returns the run that is kept, or None.

    When the page is closed meanwhile, Gradio ends this generator: what was learnt until then is kept, and nothing runs on.
    """
    from explorer.training.training import new_run, run_training

    steps = run_training(view.model, examples, planned, stop.is_set)
    epochs = planned.settings.epochs
    history: list[dict[str, float]] = []
    picture = Throttle(EVERY)
    try:
        while True:
            try:
                step: Progress = next(steps)
            except StopIteration as done:
                return new_run(done.value, examples, title, identifier) if done.value else None
            if step.epoch is not None:
                history.append(step.epoch.as_row())
            if picture.is_due():
                yield {
                    parts.status: step.doing,
                    parts.curves: learning_curves(history, epochs) if history else gr.skip(),
                }
    except GeneratorExit:
        stop.set()
        from explorer.base.steps import finished

        if (result := finished(steps)) is not None:
            new_run(result, examples, title, identifier)
        raise


class Throttle:
    """Says yes at most once in so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.last = seconds, float("-inf")

    def is_due(self) -> bool:
        """Whether it is time again."""
        due = time.monotonic() - self.last >= self.seconds
        if due:
            self.last = time.monotonic()
        return due
