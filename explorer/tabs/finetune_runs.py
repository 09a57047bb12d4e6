"""Fine-tune, last part: which layer knows it, the runs of this browser, and taking one home."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from explorer.base.errors import InputError
from explorer.figures.training import probe_curve, run_curves
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import TRAINING, Page, Updates, View
from explorer.tabs.finetune_examples import Sources, examples_from
from explorer.training import store

MOST_COMPARED = 6
SEEDS = 3


@dataclass(eq=False)
class Runs:
    """The runs of this browser."""

    chosen: gr.Dropdown
    curves: PlotlyChart
    download: gr.DownloadButton
    said: Notice
    loaded: Any = None  # the event after which `chosen` holds a run that came in a file

    @property
    def outputs(self) -> list[Any]:
        """What `show` changes."""
        return [self.chosen, self.curves, self.download]

    def show(self, run_id: str, mine: Any) -> Updates:
        """All runs that are still there, this one chosen."""
        ids = [identifier for identifier in mine if isinstance(identifier, str)] if isinstance(mine, list) else []
        found = store.peek(list(dict.fromkeys([run_id, *ids[:30]])))
        choices = [(_name(about), about["id"]) for about in found]
        curves = [
            (_name(about), [row["held_out_accuracy"] for row in about["history"]]) for about in found[:MOST_COMPARED]
        ]
        return {
            self.chosen: gr.Dropdown(choices, value=run_id),
            self.curves: run_curves(curves),
            self.download: gr.DownloadButton(visible=False),
        }


def _name(about: dict[str, Any]) -> str:
    layers = about["settings"].get("layers_trained")
    trained = f"top {layers}" if layers else "head"
    accuracy = about["history"][about["best"]]["held_out_accuracy"]
    clock = time.strftime("%H:%M", time.localtime(about["created"]))
    return f"{about['title'][:28]}, {trained}: {accuracy:.0%} ({clock})"


def build_runs(page: Page, run_id: gr.State, mine: gr.BrowserState, sources: Sources) -> Runs:
    """Make and wire the components."""
    with gr.Row(elem_classes="overview-detail"):
        with gr.Column(scale=5, min_width=320):
            gr.Markdown("### Which layer knows it?")
            probe = gr.Button("Ask every layer", size="sm", elem_id="probe")
            about = Notice(
                f"A linear head on every hidden state, {SEEDS} splits each, and the same with the labels shuffled.",
                keep_height=True,
                elem_id="probe-status",
            )
            layers = PlotlyChart(height=300, label="Accuracy of a probe by layer", elem_id="probe-curve")
        with gr.Column(scale=6, min_width=320):
            gr.Markdown("### My runs")
            with gr.Row():
                chosen = gr.Dropdown([], label="Open a run of this browser", elem_id="runs", min_width=200)
            curves = PlotlyChart(height=230, label="Held-out accuracy of my runs", elem_id="run-curves")
            with gr.Row():
                explore = gr.Button("Explore the tuned model", size="sm", elem_id="explore-tuned", min_width=120)
                save = gr.Button("Save as zip", size="sm", elem_id="save-run", min_width=90)
                upload = gr.UploadButton("Load a zip", file_types=[".zip"], size="sm", elem_id="load-run", min_width=90)
            download = gr.DownloadButton("Download", visible=False, size="sm", elem_id="download-run")
            said = Notice(
                "Runs stay on this server for a week after they were last used, and only this browser knows their names.",
                elem_classes="caption",
                elem_id="runs-said",
            )
    made = Runs(chosen, curves, download, said)
    _wire_probe(page, sources, probe, about, layers)
    _wire_files(page, made, run_id, mine, save, upload)
    _wire_exploring(page, made, run_id, explore)
    return made


def _wire_probe(page: Page, sources: Sources, button: gr.Button, about: Notice, chart: PlotlyChart) -> None:
    def ask(view: View, *given: Any) -> Iterator[Updates]:
        from explorer.training.probe import probe

        examples, _ = examples_from(*given)
        steps = probe(view.model, examples, "mean", SEEDS)
        while True:
            try:
                share, doing = next(steps)
                yield {about: f"{doing} {share:.0%}."}
            except StopIteration as done:
                rows = done.value
                break
        best = max(rows, key=lambda row: row.accuracy)
        columns = [
            [getattr(row, name) for row in rows] for name in ("layer", "accuracy", "deviation", "control_accuracy")
        ]
        chance = max(examples.counts.values()) / len(examples)
        yield {
            chart: probe_curve(*columns, chance),
            about: (
                f"Best at hidden state {best.layer}: {best.accuracy:.1%} ± {best.deviation:.1%}, mean over tokens; selectivity "
                f"{best.accuracy - best.control_accuracy:.1%} (accuracy minus that with shuffled labels, Hewitt & Liang 2019). "
                f"Dotted: always the most frequent label."
            ),
        }

    page.on([button.click], ask, [chart, about], sources.inputs, **TRAINING)


def _wire_files(
    page: Page, made: Runs, run_id: gr.State, mine: gr.BrowserState, save: gr.Button, upload: gr.UploadButton
) -> None:
    def pack(identifier: str | None) -> Updates:
        from explorer.training.export import pack

        path = pack(store.fetch(_given(identifier)))
        size = path.stat().st_size / 1e6
        button = gr.DownloadButton(f"Download run.zip ({size:.1f} MB)", value=str(path), visible=True)
        said = "In it: the head, the labels, the settings, the log, and predict.py, which runs without this app."
        return {made.download: button, made.said: said}

    def load(path: str, known: Any) -> Updates:
        from explorer.training.export import unpack

        run = unpack(Path(path))
        known = [run.id, *(known if isinstance(known, list) else [])][:30]
        return {
            mine: known,
            made.chosen: gr.Dropdown([(run.title, run.id)], value=run.id),
            made.said: f"{run.title} is loaded.",
        }

    page.run([save.click], pack, [made.download, made.said], [run_id], **TRAINING)
    made.loaded = page.run([upload.upload], load, [mine, made.chosen, made.said], [upload, mine], **TRAINING)


def _wire_exploring(page: Page, made: Runs, run_id: gr.State, button: gr.Button) -> None:
    name = gr.State("")

    def write(identifier: str | None) -> Updates:
        from explorer.training.export import tuned_model

        written = tuned_model(store.fetch(_given(identifier)))
        return {name: written, made.said: "The tuned model is in the model box; every tab shows it now."}

    written = page.run([button.click], write, [name, made.said], [run_id], **TRAINING)
    page.model_requests.append((written.success, name))


def _given(identifier: str | None) -> str:
    if not identifier:
        raise InputError("There is no run yet; train something first.")
    return identifier
