"""The runs of this browser, and their export."""

import time
from pathlib import Path
from typing import Any

from explorer.core import downloads
from explorer.core.limits import RUN_DAYS
from explorer.finetune.compute import store
from explorer.finetune.compute.export import pack, pack_standard, tuned_model, write_onnx, write_standard
from explorer.finetune.compute.predictor import Run, write_measure
from explorer.finetune.compute.unpack import unpack
from explorer.finetune.kinds import KINDS
from explorer.finetune.recipe import begin
from explorer.finetune.run import RunView, run_ids
from explorer.ui.layout import row
from explorer.ui.settings import choice, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, OpenModel, button, props, sentence, settle, show, takes_long

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
