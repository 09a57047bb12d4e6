"""The quality of a run, in one of several pictures."""

from typing import Any

import numpy as np

from explorer.analysis import evaluation
from explorer.bert.explorer import load
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.lazy import sklearn
from explorer.finetune.compute.export import tuned_model
from explorer.finetune.compute.reasons import Change as ModelChange
from explorer.finetune.compute.reasons import compare
from explorer.finetune.compute.run import HeldOutLabels, HeldOutNumbers, HeldOutTexts, Run
from explorer.finetune.pictures.results import attention_shift, calibration_curve, confusion_matrix, drift_bars, number_scatter
from explorer.finetune.run import RunView, run_id
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.pictures.numbers import Column, columns_of, keep
from explorer.ui.settings import choice, memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, chart, part, props, sentence, settle

MISTAKES, CLASSES, SURENESS, CHANGE = "Mistakes", "Classes", "How sure", "What changed"
LOOKS = (MISTAKES, CLASSES, SURENESS, CHANGE)
COMPARED = 32  # held-out examples on which the model is compared before and after training
MOST_SENTENCES, MOST_MISTAKES, MOST_MISSED = 50, 10, 12  # listed of a cell, of all labels, and of all numbers

Cell = tuple[str, int, int]
"""A cell of a run's confusion matrix: the run's id, the true label and the predicted one."""
_changes: OnceCache[str, ModelChange] = OnceCache(16)


def cell_of(value: object) -> Cell | None:
    """A valid cell from a remembered click, or None."""
    if not isinstance(value, list | tuple) or len(value) != 3 or not run_id(value[0]):
        return None
    return tuple(value) if all(type(place) is int for place in value[1:]) else None


class Result(RunView):
    """One picture of the run, with what belongs beside it."""

    name, question = "fine-tune/result", "What is the result worth?"
    folded = question
    layout = (row(col("picture", "scores", "note", width=5), col("second_picture", "sentences", width=6)),)
    look: str = choice(LOOKS, "Reading the result")
    cell: Cell | None = memory(None, kept=cell_of, linked=False)
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

    def show_run(self, subject: Subject, run: Run) -> Content:
        if self.look == CHANGE:
            return _what_changed(run)
        if run.held_out is None:
            empty = {} if self.look == CLASSES else {"picture": None}
            return {**empty, "note": "This run came in a file, which holds no sentences to look at."}
        if run.kind == "number":
            return {"look": props(choices=[MISTAKES, CHANGE], value=MISTAKES), **_of_numbers(run)}
        looks = {MISTAKES: self._mistakes, CLASSES: _classes, SURENESS: _sureness}
        return {"look": props(choices=LOOKS, value=self.look), **looks[self.look](run)}

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Show the sentences in a cell of the confusion matrix: [true label, predicted label]."""
        if self.look != MISTAKES or not isinstance(index, list | tuple):
            return settle()
        return settle(cell=clicked_cell(self.find(subject), index))

    def _mistakes(self, run: Run) -> Content:
        held, labels, counts = run.held(HeldOutTexts), run.predictor.labels, confusion(run)
        wrong = int(counts.sum() - np.trace(counts))
        return {
            "picture": confusion_matrix(counts, labels),
            "sentences": self._sentences(run),
            "note": (
                f"{wrong:,} of {len(held.targets):,} held-out sentences are wrong. Click a cell to read the sentences in it."
            ),
        }

    def _sentences(self, run: Run) -> props:
        """The sentences in the clicked cell, or the most confident mistakes."""
        rows, title = rows_of(run, self.cell, MOST_MISTAKES)
        return props(value=_listed(run, rows[:MOST_SENTENCES]), label=title, visible=True)


def _classes(run: Run) -> Content:
    scores, macro = scores_by_label(run, "label", "sentences")
    return {
        "scores": scores,
        "note": (
            f"Macro-F1 (the mean of all classes) {macro:.1%}. Precision: of those called so, how "
            "many are; recall: of those that are, how many are called so; F1: their harmonic mean."
        ),
    }


def _sureness(run: Run) -> Content:
    held = run.held(HeldOutTexts)
    found = evaluation.calibration(held.probabilities, held.targets)
    return {
        "picture": calibration_curve(found.confidence, found.accuracy, found.count),
        "note": (
            f"Expected calibration error {found.error:.1%} (Guo et al. 2017): on the dotted line, what is said with 80% "
            "is right 80% of the time; below it, the classifier is too sure. Larger dots are more sentences."
        ),
    }


def _what_changed(run: Run) -> Content:
    held = run.held_out
    if run.predictor.top is None or not isinstance(held, HeldOutTexts | HeldOutNumbers):
        note = "Only the head was trained, so that BERT is as it was. Train some layers too."
        return {"picture": None, "note": note}
    pairs = list(zip(held.texts, held.texts_b, strict=True))[:COMPARED]
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


def _compare(run: Run, pairs: list[tuple[str, str]]) -> ModelChange:
    return compare(load(run.predictor.model), load(tuned_model(run)), pairs)


def _listed(run: Run, rows: np.ndarray) -> list[list[str]]:
    """Held-out examples with the true label, the predicted one, and its probability."""
    held, labels = run.held(HeldOutTexts), run.predictor.labels
    return [
        [
            f"{held.texts[row]} ‖ {held.texts_b[row]}" if held.texts_b[row] else held.texts[row],
            labels[held.targets[row]],
            f"{labels[held.said[row]]}, {held.probabilities[row].max():.0%}",
        ]
        for row in rows
    ]


def _of_numbers(run: Run) -> Content:
    """Estimates against true numbers, and the examples with the largest errors."""
    held = run.held(HeldOutNumbers)
    error, rank = np.abs(held.said - held.targets), evaluation.spearman(held.said, held.targets)
    rows = np.argsort(-error, kind="stable")[:MOST_MISSED]
    texts = [f"{one} ‖ {other}" if other else one for one, other in zip(held.texts, held.texts_b, strict=True)]
    listed = [[texts[row], f"{held.targets[row]:g}", f"{held.said[row]:.2f}"] for row in rows]
    return {
        "picture": number_scatter(held.targets, held.said, texts, run.id),
        "sentences": props(value=listed, label="Missed by most", visible=True),
        "note": (
            f"Each dot is a held-out example: what is right against what was said; on the dotted line both are the same. Off "
            f"by {error.mean():.2f} on average; Spearman's rank correlation {rank:.2f} (-1 to 1)."
        ),
    }


def clicked_cell(run: Run, index: object) -> Cell:
    """The clicked cell [true label, predicted label]. Raises InputError."""
    right, said = limits.check_cell(index)
    if run.held_out is None or max(right, said) >= len(run.predictor.labels):
        raise InputError("There is no such cell.")
    return run.id, right, said


def confusion(run: Run) -> np.ndarray:
    """Counts [true label, predicted label] of the held-out examples."""
    held = run.held(HeldOutLabels)
    return sklearn.metrics.confusion_matrix(held.targets, held.said, labels=range(len(run.predictor.labels)))


def rows_of(run: Run, cell: Cell | None, mistakes: int) -> tuple[np.ndarray, str]:
    """The held-out rows in a cell, or else the most confident mistakes, and a title for them."""
    held, labels = run.held(HeldOutLabels), run.predictor.labels
    if cell is None or cell[0] != run.id:
        return evaluation.confident_mistakes(held.probabilities, held.targets, mistakes), "The surest mistakes"
    _, right, said = cell
    rows = np.flatnonzero((held.targets == right) & (held.said == said))
    return rows, f"{labels[right]}, called {labels[said] if right != said else 'so'}: {len(rows)}"


def scores_by_label(run: Run, label: str, counted: str) -> tuple[list[list[Any]], float]:
    """Rows of a label with precision, recall, F1 and support, and the mean F1 of the labels that occur.

    `label` and `counted` name the outer columns of the export.
    """
    held, labels = run.held(HeldOutLabels), run.predictor.labels
    scores = sklearn.metrics.precision_recall_fscore_support
    *rates, support = scores(held.targets, held.said, labels=range(len(labels)), zero_division=0)
    rows = [[name, *(f"{values[i]:.1%}" for values in rates), int(support[i])] for i, name in enumerate(labels)]
    columns: dict[str, Column] = {label: labels, **dict(zip(("precision", "recall", "f1"), rates, strict=True)), counted: support}
    return keep(rows, lambda: columns_of(**columns)), sklearn.metrics.f1_score(held.targets, held.said, average="macro")
