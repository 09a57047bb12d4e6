"""The runs of this browser, and their export: one is shown, the selected or the newest or one trained without the button.

The ids of runs come from the browser, which can send anything.
"""

import contextlib
import time
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from explorer.bert.explorer import load
from explorer.core import downloads, jobs
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import RUN_DAYS
from explorer.finetune.cards import ORDERS
from explorer.finetune.compute import store
from explorer.finetune.compute.export import pack, pack_standard, tuned_model, write_onnx, write_standard
from explorer.finetune.compute.from_table import AnyExamples
from explorer.finetune.compute.predictor import Run, write_measure
from explorer.finetune.compute.task import Task, as_run, train_whole
from explorer.finetune.compute.unpack import unpack
from explorer.finetune.recipe import KINDS, READY, TEXTS, TYPED, Recipe, begin, defaults
from explorer.finetune.sources import ExampleSettings, is_few, size_of
from explorer.ui.layout import row
from explorer.ui.long_view import reads_quickly
from explorer.ui.settings import choice, memory, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, OpenModel, button, props, sentence, settle, show, takes_long

LAST_MOMENT = 5.0  # seconds in which a training whose page was closed may end and be stored
KEPT = 512  # runs trained without the button, mostly of a few kilobytes each

_learned: OnceCache[tuple[str, AnyExamples], Run] = OnceCache(KEPT)


def is_quick(subject: Subject, examples: AnyExamples, seconds: float = 1) -> bool:
    """Whether the model reads these examples in about `seconds`."""
    _, words = size_of(examples)
    return reads_quickly(subject.model.capabilities, words / seconds)


def learn(model_name: str, examples: AnyExamples, title: str, kind: str = TEXTS) -> Run:
    """A run by the settings with which a kind begins. It is not stored. Raises InputError."""

    def train() -> Run:
        model = load(model_name)
        plan = Recipe(kind=kind, **defaults(kind, model.capabilities)).plan(model)
        return as_run(train_whole(Task(model, examples, plan)), title, store.new_id())

    return _learned.get((model_name, examples), train)


def run_id(value: object) -> str | None:
    return value if store.is_id(value) else None


def run_ids(value: object) -> tuple[str, ...]:
    """The run ids in a list that a browser has stored, the newest first."""
    found = value[: store.VISITOR_RUNS] if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(value for value in found if run_id(value)))


def visitor_id(value: object) -> str:
    """The id that identifies a browser's runs, or a new one if the value is invalid."""
    return run_id(value) or store.new_id()


class NothingTrained(InputError):
    """No run can be shown."""


class RunView(ExampleSettings):
    """A view of one run. It needs no text.

    The run is the one that was trained or opened, while the examples are those beside which it was shown first. Of other ones
    it is trained immediately where that is quick.
    """

    names: ClassVar[Sequence[str]] = ()  # the boxes for the examples are in another view
    run: str | None = memory(None, kept=run_id, linked=False, with_files=True)
    of: str = memory("", kept=str, linked=False)  # the examples beside which the page shows it, as `described`; '': not yet
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    visitor: str = memory("", kept=visitor_id, linked=False, stored="bert-explorer-visitor")

    def compute(self, subject: Subject) -> Content:
        """The contents for the run; its id is remembered for all views of the tab."""
        known = {"of": self.described, "visitor": self.visitor}
        try:
            run = self.find(subject)
        except NothingTrained as why:
            return {"run": None, **known, **self.without_run(subject, str(why))}
        return {"run": run.id, **known, **self.show_run(subject, run)}

    @abstractmethod
    def without_run(self, subject: Subject, why: str) -> Content:
        """The contents without a run."""

    @abstractmethod
    def show_run(self, subject: Subject, run: Run) -> Content:
        """The contents for this run."""

    def find(self, subject: Subject) -> Run:
        """The selected run, or else the newest of this browser, or else one that is trained immediately. Raises NothingTrained.

        After a reload in the middle of a training the newest is that one, which is about to end.
        """
        chosen = (self.run, *self.runs)
        if self.of:
            chosen = (self.run,) if self.of == self.described else ()
        elif self.run is None and self.runs:
            jobs.wait(self.runs[0], LAST_MOMENT)
        for identifier in chosen:
            with contextlib.suppress(ExplorerError):
                if KINDS[self.kind].has((run := store.fetch(identifier)).kind):
                    return run
        return self.learned(subject)

    def learned(self, subject: Subject) -> Run:
        """The run that needs no button: of few examples, or of those with which the kind opens. Raises NothingTrained."""
        kind, view = KINDS[self.kind], cast(ExampleSettings, self)
        if self.kind != TEXTS and not self.of and (self.source, self.tagged_lines) == (TYPED, ORDERS):  # a program's, of none
            view = ExampleSettings(kind=self.kind, source=READY, ready=kind.opening)
        with contextlib.suppress(InputError):  # which the view of the examples reports
            examples, _ = view.examples()
            ours = view.origin == READY and view.ready_set == kind.opening
            if (ours or is_few(examples)) and not kind.trains_layers and is_quick(subject, examples, 3 if ours else 1):
                return learn(subject.model_name, examples, view.title(examples), self.kind)
        raise NothingTrained(f"Nothing is trained on these examples with {subject.model_name} yet. Press Train.")

    def is_learned(self, subject: Subject, run: Run) -> bool:
        """Whether it is the run of these examples that needs no button."""
        try:
            return self.learned(subject).id == run.id
        except NothingTrained:
            return False


HEAD_ONLY = "Only a head was trained, so that the model has not changed. Train some layers too, and every tab can show it."


class Runs(RunView):
    """The runs of this browser: open one, export it, upload one. Each kind of task has its own list."""

    name, question = "fine-tune/runs", "What was trained in this browser?"
    folded = "My runs"
    layout = (row("explore", "save", "standard", "onnx", "load"),)
    names = ("opened", "explore", "save", "standard", "onnx", "load")
    opened: str = choice((), "Open a run of this browser", default="", menu=True, free=True, linked=False, min_width=200)
    load: Path | None = upload(label="Load a zip", types=(".zip",), read=Path, as_button=True, min_width=90)
    explore = button("Explore the tuned model", min_width=120)
    save = button("Save as zip", min_width=90)
    standard = button("For transformers", min_width=90)
    onnx = button("ONNX", min_width=70)
    download = button("Download", optional=True, wide=True)
    closed = sentence(classes="caption", optional=True)  # why the tuned model cannot be explored
    note = sentence(
        classes="caption",
        value=f"Runs stay on this server for {RUN_DAYS.most} days after their last use; only this browser knows their names.",
    )

    def show_run(self, subject: Subject, run: Run) -> Content:
        found = store.peek(list(dict.fromkeys([run.id, *self.runs])))
        found = [about for about in found if KINDS[self.kind].has(about.get("kind", "classes"))]
        named = {about["id"]: _describe(about) for about in found}
        tuned = run.predictor.top is not None or run.predictor.model == store.tuned_name(run.id)
        return {
            "opened": props(choices=[(name, key) for key, name in named.items()], value=run.id if run.id in named else None),
            "explore": props(interactive=tuned),
            **({} if tuned else {"closed": HEAD_ONLY}),
        }

    def without_run(self, subject: Subject, why: str) -> Content:
        return {"explore": props(interactive=False), "closed": why}

    def on_explore(self, subject: Subject, _: None) -> OpenModel:
        note = "The tuned model is in the model box; every tab shows it now."
        return OpenModel(tuned_model(self.find(subject)), {"note": note})

    @takes_long
    def on_save(self, subject: Subject, _: None) -> Change:
        note = "In it: the head, the labels, the settings, the log, and predict.py, which runs without this app."
        return _offer(pack(self._kept(subject)), note)

    @takes_long
    def on_standard(self, subject: Subject, _: None) -> Change:
        run = self._kept(subject)
        line = run.predictor.opened_by.replace("FOLDER", "model")
        return _offer(pack_standard(run, write_standard, "transformers.zip"), f"Unpack it; then, in Python: transformers.{line}.")

    @takes_long
    def on_onnx(self, subject: Subject, _: None) -> Change:
        note = "In it: model.onnx, which onnxruntime reads (it takes what the tokenizer gives), and the labels in config.json."
        return _offer(pack_standard(self._kept(subject), write_onnx, "onnx.zip"), note)

    def _kept(self, subject: Subject) -> Run:
        """The run shown; one that was trained without the button is stored now."""
        run = self.find(subject)
        return run if store.peek([run.id]) else store.keep(run, self.visitor)

    def on_opened(self, subject: Subject, identifier: str) -> Change:
        return settle(run=store.fetch(identifier).id)

    def on_load(self, subject: Subject, path: Path) -> Change:
        run = unpack(path, self.visitor)
        kind = next(name for name, kind in KINDS.items() if kind.has(run.kind))
        task = {} if kind == self.kind else begin(kind, subject)
        settings = {**task, "run": run.id, "of": "", "runs": run_ids((run.id, *self.runs))}
        return Change(settings=settings, content={"note": f"{run.title} is loaded."})


def _offer(path: Path, note: str) -> Change:
    label = f"Download {path.name} ({path.stat().st_size / 1e6:.1f} MB)"
    return show(download=props(value=label, link=f"download/{downloads.offer(path)}", visible=True), note=note)


def _describe(about: dict[str, Any]) -> str:
    """A run in the list: what it learned, what was trained when, and its score; runs without a measure are classifiers."""
    layers, measure = about["settings"].get("layers_trained"), about.get("measure", "accuracy")
    clock = time.strftime("%H:%M", time.localtime(about["created"]))
    score = write_measure(measure, about["history"][about["best"]][f"held_out_{measure}"])
    return f"{about['title'][:28]}, {f'top {layers}' if layers else 'head'} ({clock}): {score}"
