"""The runs of this browser, and their export: one is shown, the selected or the newest or one trained without the button.

The ids of runs come from the browser, which can send anything.
"""

import contextlib
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any

from explorer.bert.explorer import load
from explorer.core import downloads, jobs
from explorer.core.cache import OnceCache
from explorer.core.errors import ExplorerError, InputError
from explorer.core.limits import RUN_DAYS
from explorer.finetune.compute import store
from explorer.finetune.compute.export import pack, pack_standard, tuned_model, write_onnx, write_standard
from explorer.finetune.compute.from_table import AnyExamples, built_in
from explorer.finetune.compute.predictor import Run, write_measure
from explorer.finetune.compute.task import Task, as_run, train_whole
from explorer.finetune.compute.unpack import unpack
from explorer.finetune.recipe import ANSWERS, KINDS, TEXTS, Recipe, begin, defaults, of_kind
from explorer.finetune.sources import size_of, starter
from explorer.ui.layout import row
from explorer.ui.long_view import reads_quickly
from explorer.ui.settings import choice, memory, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, OpenModel, View, button, props, sentence, settle, show, takes_long

LAST_MOMENT = 5.0  # seconds in which a training whose page was closed may end and be stored
KEPT = 512  # runs trained without the button, mostly of a few kilobytes each

_learned: OnceCache[tuple[str, AnyExamples], Run] = OnceCache(KEPT)
_by_id: OnceCache[str, Run] = OnceCache(KEPT)


def is_quick(subject: Subject, examples: AnyExamples, seconds: float = 1) -> bool:
    """Whether the model reads these examples in about `seconds`."""
    _, words = size_of(examples)
    return reads_quickly(subject.model.capabilities, words / seconds)


def learn(model_name: str, examples: AnyExamples, title: str, kind: str = TEXTS) -> Run:
    """A run by the settings with which a kind begins. It is not stored, but `find_learned` returns it. Raises InputError."""

    def train() -> Run:
        model = load(model_name)
        plan = Recipe(kind=kind, **defaults(kind, model.capabilities)).plan(model)
        result = train_whole(Task(model, examples, plan))
        return as_run(result, title, store.new_id())

    run = _learned.get((model_name, examples), train)
    _by_id.put(run.id, run)
    return run


def find_learned(identifier: object) -> Run | None:
    """The run with this id among those trained without the button, while it is in memory."""
    return _by_id.peek(identifier) if store.is_id(identifier) else None


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


class RunView(View):
    """A view of one run. It needs no text, and of its settings only the kind of task goes into a link."""

    kind: str = of_kind()
    run: str | None = memory(None, kept=run_id, linked=False)
    runs: tuple[str, ...] = memory((), kept=run_ids, linked=False, stored="bert-explorer-runs")
    visitor: str = memory("", kept=visitor_id, linked=False, stored="bert-explorer-visitor")
    edited: bool = memory(False, kept=bool, linked=False)  # whether the page has other examples than its runs before

    def compute(self, subject: Subject) -> Content:
        """The contents for the run; its id is remembered for all views of the tab."""
        try:
            run = self.find(subject)
        except NothingTrained as why:
            return {"visitor": self.visitor, **self.without_run(str(why))}
        return {"run": run.id, "visitor": self.visitor, **self.show_run(subject, run)}

    def without_run(self, why: str) -> Content:
        return {name: None for name, one in self.parts.items() if one.kind in ("chart", "bars") and not one.optional}

    @abstractmethod
    def show_run(self, subject: Subject, run: Run) -> Content:
        """The contents for this run."""

    def find(self, subject: Subject) -> Run:
        """The selected run, or else the newest of this browser, or else the opening run.

        After a reload in the middle of a training the newest is that one, which is about to end. Raises NothingTrained.
        """
        if self.run is None and self.runs:
            jobs.wait(self.runs[0], LAST_MOMENT)
        for identifier in (self.run, *(() if self.kind == TEXTS and self.edited else self.runs)):
            with contextlib.suppress(ExplorerError):
                if KINDS[self.kind].has((run := find_learned(identifier) or store.fetch(identifier)).kind):
                    return run
        return self._opening(subject)

    def _opening(self, subject: Subject) -> Run:
        """The run shown at first; of texts, until the examples change. Raises NothingTrained if there is none."""
        if self.kind == ANSWERS:
            raise NothingTrained("Nothing is trained to find answers yet. Press Train, which takes about a minute.")
        examples, _ = opening_examples(self.kind)
        if (self.kind == TEXTS and self.edited) or not is_quick(subject, examples):
            raise NothingTrained(f"Nothing is trained on these examples with {subject.model_name} yet. Press Train.")
        return opening_run(subject.model_name, self.kind)


def opening_examples(kind: str) -> tuple[AnyExamples, str]:
    """The examples of the run that a new page opens with, and its title."""
    first = KINDS[kind]
    return starter() if kind == TEXTS else (built_in(first.opening), first.sets[first.opening].split(":")[0])


def opening_run(model_name: str, kind: str = TEXTS) -> Run:
    """The run that a new page opens with: on the sentences typed there, or on the built-in names."""
    return learn(model_name, *opening_examples(kind), kind)


HEAD_ONLY = "Only a head was trained, so that the model has not changed. Train some layers too, and every tab can show it."


class Runs(RunView):
    """The runs of this browser: open one, export it, upload one. Each kind of task has its own list."""

    name, question = "fine-tune/runs", "What was trained in this browser?"
    folded = "My runs"
    layout = (row("explore", "save", "standard", "onnx", "load"),)
    names = ("opened", "explore", "save", "standard", "onnx", "load", "download", "closed", "note")
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

    def without_run(self, why: str) -> Content:
        return {**super().without_run(why), "explore": props(interactive=False), "closed": why}

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
        settings = {**task, "run": run.id, "runs": run_ids((run.id, *self.runs))}
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
