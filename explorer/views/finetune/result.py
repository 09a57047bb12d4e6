"""What the result is worth, one picture of it at a time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis import evaluation
from explorer.base.cache import OnceCache
from explorer.base.errors import InputError
from explorer.figures.maps import point_map
from explorer.figures.numbers import columns_of, keep
from explorer.figures.results import attention_shift, calibration_curve, confusion_matrix, drift_bars
from explorer.text import limits
from explorer.views.finetune.numbers import result_of_numbers
from explorer.views.finetune.run import RunView, run_id
from explorer.views.settings import choice, memory
from explorer.views.subject import Subject
from explorer.views.view import Change, Content, chart, part, props, sentence, settle

if TYPE_CHECKING:
    from explorer.training.reasons import Change as ModelChange
    from explorer.training.run import Run

MISTAKES, CLASSES, SURENESS, MAP, CHANGE = "Mistakes", "Classes", "How sure", "Map", "What changed"
LOOKS = (MISTAKES, CLASSES, SURENESS, MAP, CHANGE)
COMPARED = 32  # held-out examples that the model is compared on before and after
MOST_SENTENCES = 50  # of a cell that are listed
_changes: "OnceCache[str, ModelChange]" = OnceCache(16)


def cell_of(value: Any) -> tuple[str, int, int] | None:
    """A cell of the confusion matrix of a run: its id, the right label and the predicted one."""
    if not isinstance(value, list | tuple) or len(value) != 3 or not run_id(value[0]):
        return None
    return tuple(value) if all(type(place) is int for place in value[1:]) else None


class Result(RunView):
    """One picture of the run at a time, and what belongs beside it."""

    name, question = "fine-tune/result", "What is the result worth?"
    folded = question
    columns = (("picture", "scores", "note"), ("second_picture", "sentences"))
    widths = (5, 6)
    look: str = choice(LOOKS, "Reading the result")
    cell: tuple[str, int, int] | None = memory(None, kept=cell_of, linked=False)
    picture = chart("The result on held-out sentences", height=380, optional=True, marks=True)
    scores = part("frame", columns=["label", "precision", "recall", "F1", "held-out sentences"], optional=True)
    note = sentence(classes="caption")
    second_picture = chart("How much attention moved", height=380, optional=True)
    sentences = part(
        "frame",
        columns=["sentence", "right", "said"],
        widths=["50%", "24%", "26%"],
        label="The surest mistakes",
        max_height=380,
        optional=True,
    )

    def show_run(self, subject: Subject, run: "Run") -> Content:
        """The picture that was asked for."""
        if self.look == CHANGE:
            return _what_changed(run)
        if run.held_out is None:
            empty = {} if self.look == CLASSES else {"picture": None}
            return {**empty, "note": "This run came in a file, which holds no sentences to look at."}
        if run.kind == "number":
            return {"look": props(choices=[MISTAKES, CHANGE], value=MISTAKES), **result_of_numbers(run)}
        looks = {MISTAKES: self._mistakes, CLASSES: _classes, SURENESS: _sureness, MAP: _map}
        return {"look": props(choices=LOOKS, value=self.look), **looks[self.look](run)}

    def on_picture(self, subject: Subject, index: Any) -> Change:
        """The sentences in a cell of the confusion matrix: [right label, predicted label]."""
        if self.look != MISTAKES or not isinstance(index, list | tuple):
            return settle()
        run = self.find(subject)
        right, predicted = limits.check_cell(index)
        labels = len(run.predictor.labels)
        if run.held_out is None or not (0 <= right < labels and 0 <= predicted < labels):
            raise InputError("There is no such cell.")
        return settle(cell=(run.id, right, predicted))

    def _mistakes(self, run: "Run") -> Content:
        held, labels, counts = run.held_out, run.predictor.labels, _confusion(run)
        wrong = int(counts.sum() - np.trace(counts))
        return {
            "picture": confusion_matrix(counts, labels),
            "sentences": self._sentences(run),
            "note": (
                f"{wrong:,} of {len(held.targets):,} held-out sentences are wrong. Click a cell to read the sentences in it."
            ),
        }

    def _sentences(self, run: "Run") -> props:
        """The sentences in the cell that was clicked, or the surest mistakes."""
        held, labels = run.held_out, run.predictor.labels
        if self.cell is None or self.cell[0] != run.id:
            rows, title = evaluation.confident_mistakes(held.probabilities, held.targets), "The surest mistakes"
        else:
            _, right, predicted = self.cell
            rows = np.flatnonzero((held.targets == right) & (held.probabilities.argmax(-1) == predicted))
            called = labels[predicted] if right != predicted else "so"
            title = f"{labels[right]}, called {called}: {len(rows)}"
        return props(value=_listed(run, rows[:MOST_SENTENCES]), label=title, visible=True)


def _classes(run: "Run") -> Content:
    counts = _confusion(run)
    found = evaluation.class_scores(counts)
    rows = [
        [label, *(f"{values[i]:.1%}" for values in (found.precision, found.recall, found.f1)), int(found.support[i])]
        for i, label in enumerate(run.predictor.labels)
    ]
    names = ("precision", "recall", "f1")
    scores = {"label": run.predictor.labels, **{name: getattr(found, name) for name in names}, "sentences": found.support}
    return {
        "scores": keep(rows, lambda: columns_of(**scores)),
        "note": (
            f"Macro-F1 (the mean of all classes) {evaluation.macro_f1(counts):.1%}. Precision: of those called so, how "
            "many are; recall: of those that are, how many are called so; F1: their harmonic mean."
        ),
    }


def _sureness(run: "Run") -> Content:
    found = evaluation.calibration(run.held_out.probabilities, run.held_out.targets)
    return {
        "picture": calibration_curve(found.confidence, found.accuracy, found.count),
        "note": (
            f"Expected calibration error {found.error:.1%} (Guo et al. 2017): on the dotted line, what is said with 80 % "
            "is right 80 % of the time; below it, the classifier is too sure. Larger dots are more sentences."
        ),
    }


def _map(run: "Run") -> Content:
    held, labels = run.held_out, run.predictor.labels
    texts = [f"{text} — right: {labels[right]}" for text, right in zip(held.texts, held.targets, strict=True)]
    names = [labels[i] for i in held.probabilities.argmax(-1)]
    return {
        "picture": point_map(held.points, texts, names, ["PC 1", "PC 2"], f"map-{run.id}"),
        "note": (
            "The vectors that the head reads, of the held-out sentences, on their two directions of most variance (PCA). "
            "The colour is what was said."
        ),
    }


def _what_changed(run: "Run") -> Content:
    if run.predictor.top is None or run.held_out is None:
        note = "Only the head was trained, so that BERT is as it was. Train some layers too."
        return {"picture": None, "note": note}
    pairs = list(zip(run.held_out.texts, run.held_out.texts_b, strict=True))[:COMPARED]
    change = _changes.get(run.id, lambda: _compare(run, pairs))
    frozen = run.predictor.layer - run.predictor.layers_trained
    still = float(change.drift[: frozen + 1].max())
    mark = "✓" if still < 1e-5 else "✗"
    return {
        "picture": drift_bars(change.drift),
        "second_picture": attention_shift(change.attention),
        "note": (
            f"Over {len(pairs)} held-out sentences: left, how far the tokens' vectors moved in each hidden state; right, the "
            f"share of every head's attention that went elsewhere (total variation). {mark} The {frozen} frozen layers moved "
            f"at most {still:.0e}."
        ),
    }


def _compare(run: "Run", pairs: list[tuple[str, str]]) -> "ModelChange":
    from explorer.model.explorer import load
    from explorer.training.export import tuned_model
    from explorer.training.reasons import compare

    return compare(load(run.predictor.model), load(tuned_model(run)), pairs)


def _confusion(run: "Run") -> np.ndarray:
    held = run.held_out
    return evaluation.confusion(held.targets, held.probabilities.argmax(-1), len(run.predictor.labels))


def _listed(run: "Run", rows: np.ndarray) -> list[list[str]]:
    """Held-out examples with what is right, what was said, and how sure."""
    held, labels = run.held_out, run.predictor.labels
    predicted = held.probabilities.argmax(-1)
    return [
        [
            f"{held.texts[row]} ‖ {held.texts_b[row]}" if held.texts_b[row] else held.texts[row],
            labels[held.targets[row]],
            f"{labels[predicted[row]]}, {held.probabilities[row, predicted[row]]:.0%}",
        ]
        for row in rows
    ]
