"""Fine-tune, third part: what the result is worth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np
import pandas as pd

from explorer.analysis import evaluation
from explorer.base.errors import InputError
from explorer.figures.maps import map_figure
from explorer.figures.training import attention_shift, calibration_curve, confusion_matrix, drift_bars
from explorer.page.components import Notice, PlotlyChart
from explorer.page.wiring import Page, Updates
from explorer.training.store import fetch

if TYPE_CHECKING:
    from explorer.training.run import Run

MISTAKES, CLASSES, SURENESS, MAP, CHANGE = "Mistakes", "Classes", "How sure", "Map", "What changed"
COMPARED = 32  # held-out examples that the model is compared on before and after
COLUMNS = ["sentence", "right", "said"]


@dataclass(eq=False)
class ResultViews:
    """One picture of the run at a time, and what belongs beside it."""

    look: gr.Radio
    picture: PlotlyChart
    second: PlotlyChart
    table: gr.Dataframe
    said: Notice
    scores: gr.Dataframe

    @property
    def outputs(self) -> list[Any]:
        """What `show` changes."""
        return [self.picture, self.second, self.table, self.said, self.scores]

    def show(self, run_id: str | None, look: str) -> Updates:
        """The picture that was asked for, of the run with this id."""
        nothing: Updates = {
            self.picture: gr.update(value=None, visible=look != CLASSES),
            self.second: gr.update(value=None, visible=False),
            self.table: gr.update(visible=False),
            self.scores: gr.update(visible=False),
            self.said: "",
        }
        if not run_id:
            return {**nothing, self.said: "Train something first; its result is read here."}
        run = fetch(run_id)
        if look == CHANGE:
            return {**nothing, **self._change(run)}
        if run.held_out is None:
            return {
                **nothing,
                self.said: "This run came in a file, which holds no sentences to look at.",
            }
        shown: dict[str, Callable[[Run], Updates]] = {
            MISTAKES: self._mistakes,
            CLASSES: self._classes,
            SURENESS: self._sureness,
            MAP: self._map,
        }
        return {**nothing, **shown[look](run)}

    def _mistakes(self, run: "Run") -> Updates:
        held, labels = run.held_out, run.classifier.labels
        counts = _confusion(run)
        rows = evaluation.confident_mistakes(held.probabilities, held.targets)
        wrong = int(counts.sum() - np.trace(counts))
        return {
            self.picture: PlotlyChart.shown(confusion_matrix(counts, labels)),
            self.table: gr.Dataframe(_sentences(run, rows), visible=True, label="The surest mistakes"),
            self.said: (
                f"{wrong:,} of {len(held.targets):,} held-out sentences are wrong. "
                "Click a cell to read the sentences in it."
            ),
        }

    def _classes(self, run: "Run") -> Updates:
        counts = _confusion(run)
        scores = evaluation.class_scores(counts)
        rows = [
            [
                label,
                *(f"{values[i]:.1%}" for values in (scores.precision, scores.recall, scores.f1)),
                int(scores.support[i]),
            ]
            for i, label in enumerate(run.classifier.labels)
        ]
        frame = pd.DataFrame(rows, columns=["label", "precision", "recall", "F1", "held-out sentences"])
        return {
            self.scores: gr.Dataframe(frame, visible=True),
            self.said: (
                f"Macro-F1 (the mean of all classes) {evaluation.macro_f1(counts):.1%}. Precision: of those called so, how "
                "many are; recall: of those that are, how many are called so; F1: their harmonic mean."
            ),
        }

    def _sureness(self, run: "Run") -> Updates:
        held = run.held_out
        found = evaluation.calibration(held.probabilities, held.targets)
        return {
            self.picture: PlotlyChart.shown(calibration_curve(found.confidence, found.accuracy, found.count)),
            self.said: (
                f"Expected calibration error {found.error:.1%} (Guo et al. 2017): on the dotted line, what is said with 80 % "
                "is right 80 % of the time; below it, the classifier is too sure. Larger dots are more sentences."
            ),
        }

    def _map(self, run: "Run") -> Updates:
        held, labels = run.held_out, run.classifier.labels
        said = held.probabilities.argmax(-1)
        shown = [f"{text} — right: {labels[right]}" for text, right in zip(held.texts, held.targets, strict=True)]
        names = [labels[i] for i in said]
        return {
            self.picture: PlotlyChart.shown(map_figure(held.points, shown, names, ["PC 1", "PC 2"], f"map-{run.id}")),
            self.said: (
                "The vectors that the head reads, of the held-out sentences, on their two directions of most variance (PCA). "
                "The colour is what was said."
            ),
        }

    def _change(self, run: "Run") -> Updates:
        from explorer.model.explorer import load
        from explorer.training.export import tuned_model
        from explorer.training.reasons import compare

        if run.classifier.top is None or run.held_out is None:
            return {
                self.said: "Only the head was trained, so that BERT is as it was. Train some layers too.",
            }
        before, after = load(run.classifier.model), load(tuned_model(run))
        pairs = list(zip(run.held_out.texts, run.held_out.texts_b, strict=True))[:COMPARED]
        change = compare(before, after, pairs)
        frozen = run.classifier.layer - run.classifier.layers_trained
        still = float(change.drift[: frozen + 1].max())
        mark = "✓" if still < 1e-5 else "✗"
        return {
            self.picture: PlotlyChart.shown(drift_bars(change.drift)),
            self.second: PlotlyChart.shown(attention_shift(change.attention)),
            self.said: (
                f"Over {len(pairs)} held-out sentences: left, how far the tokens' vectors moved in each hidden state; right, the "
                f"share of every head's attention that went elsewhere (total variation). {mark} The {frozen} frozen layers moved "
                f"at most {still:.0e}."
            ),
        }

    def cell(self, run_id: str | None, index: Any, look: str) -> Updates:
        """The sentences in a cell of the confusion matrix."""
        if look != MISTAKES or not run_id or not isinstance(index, list | tuple):
            return {self.said: gr.skip()}
        run = fetch(run_id)
        right, said = (int(i) for i in index)
        held, labels = run.held_out, run.classifier.labels
        if held is None or not (0 <= right < len(labels) and 0 <= said < len(labels)):
            raise InputError("There is no such cell.")
        rows = np.flatnonzero((held.targets == right) & (held.probabilities.argmax(-1) == said))
        title = f"{labels[right]}, called {labels[said]}" if right != said else f"{labels[right]}, called so"
        return {self.table: gr.Dataframe(_sentences(run, rows[:50]), visible=True, label=f"{title}: {len(rows)}")}


def _confusion(run: "Run") -> np.ndarray:
    held = run.held_out
    return evaluation.confusion(held.targets, held.probabilities.argmax(-1), len(run.classifier.labels))


def _sentences(run: "Run", rows: np.ndarray) -> pd.DataFrame:
    """Held-out examples with what is right, what was said, and how sure."""
    held, labels = run.held_out, run.classifier.labels
    said = held.probabilities.argmax(-1)
    cells = [
        [
            f"{held.texts[row]} ‖ {held.texts_b[row]}" if held.texts_b[row] else held.texts[row],
            labels[held.targets[row]],
            f"{labels[said[row]]}, {held.probabilities[row, said[row]]:.0%}",
        ]
        for row in rows
    ]
    return pd.DataFrame(cells, columns=COLUMNS)


def build_result(page: Page, run_id: gr.State) -> ResultViews:
    """Make and wire the components."""
    look = gr.Radio(
        [MISTAKES, CLASSES, SURENESS, MAP, CHANGE], value=MISTAKES, label="Reading the result", elem_id="result-look"
    )
    with gr.Row(elem_classes="overview-detail"):
        with gr.Column(scale=5, min_width=320):
            picture = PlotlyChart(height=380, label="The result on held-out sentences", elem_id="result-picture")
            scores = gr.Dataframe(visible=False, interactive=False, show_label=False, elem_id="class-scores")
            said = Notice(elem_classes="caption", elem_id="result-said")
        with gr.Column(scale=6, min_width=320):
            second = PlotlyChart(height=380, label="How much attention moved", visible=False, elem_id="result-second")
            table = gr.Dataframe(
                visible=False,
                interactive=False,
                wrap=True,
                max_height=380,
                column_widths=["50%", "24%", "26%"],
                elem_id="cell-sentences",
            )
    made = ResultViews(look, picture, second, table, said, scores)
    page.run([look.input], made.show, made.outputs, [run_id, look])

    def pick(event: gr.SelectData, identifier: str | None, chosen: str) -> Updates:
        return made.cell(identifier, event.index, chosen)

    page.run([picture.select], pick, [made.table, made.said], [run_id, look])
    return made
