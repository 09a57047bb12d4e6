"""The quality of a run, in one of several pictures, for every kind of task."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from explorer.analysis import evaluation
from explorer.bert.explorer import load
from explorer.core.cache import OnceCache
from explorer.core.errors import InputError
from explorer.core.lazy import sklearn
from explorer.finetune.compute.answering import exact_match, f1
from explorer.finetune.compute.export import tuned_model
from explorer.finetune.compute.reasons import Change as ModelChange
from explorer.finetune.compute.reasons import compare
from explorer.finetune.compute.run import HeldOut, HeldOutAnswers, HeldOutLabels, HeldOutNumbers, HeldOutTags, Run
from explorer.finetune.pictures.results import attention_shift, calibration_curve, confusion_matrix, drift_bars, number_scatter
from explorer.finetune.run import RunView, run_id
from explorer.finetune.typed import ASKS, OTHER, asks
from explorer.finetune.verdict import names_found
from explorer.text import limits
from explorer.text.lines import Pair
from explorer.ui.layout import col, row
from explorer.ui.pictures.bars import whole_percent
from explorer.ui.pictures.numbers import Column, columns_of, keep
from explorer.ui.settings import choice, memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, chart, part, props, sentence, settle

MISTAKES, RIGHT, CLASSES, NAMES, SURENESS, CHANGE = (
    "Mistakes",
    "Right answers",
    "Classes",
    "Whole names",
    "How sure",
    "What changed",
)
LOOKS = {
    "classes": (MISTAKES, CLASSES, SURENESS, CHANGE),
    "number": (MISTAKES, CHANGE),
    "tags": (MISTAKES, CLASSES, NAMES, SURENESS, CHANGE),
    "spans": (MISTAKES, RIGHT, CLASSES, CHANGE),
}
COMPARED = 32  # held-out examples on which the model is compared before and after training
MOST_LISTED, MOST_MISSED = 50, 12  # of labels, and of numbers
AROUND = 8  # words on either side of a mistake
NO_ANSWER = "(no answer)"
UNITS = {"classes": "sentences", "tags": "words"}

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
    look: str = choice((MISTAKES, RIGHT, CLASSES, NAMES, SURENESS, CHANGE), "Reading the result")
    cell: Cell | None = memory(None, kept=cell_of, linked=False)
    picture = chart("The result on held-out examples", height=380, optional=True, marks=True)
    scores = part("frame", optional=True)
    note = sentence(classes="caption")
    second_picture = chart("How much attention moved", height=380, optional=True)
    sentences = part("frame", label="The most confident mistakes", max_height=380, optional=True)

    def without_run(self, why: str) -> Content:
        return {"note": ""}

    def show_run(self, subject: Subject, run: Run) -> Content:
        looks = LOOKS[run.kind]
        look = self.look if self.look in looks else MISTAKES
        shown = {"look": props(choices=looks, value=look)}
        if look == CHANGE:
            return shown | _what_changed(run)
        if run.held_out is None:
            return {"note": "This run came in a file, which has no sentences to look at."}
        others: dict[str, Callable[[Run], Content]] = {"number": _numbers, "spans": partial(_answers, wanted=False)}
        drawn: dict[str, Callable[[Run], Content]] = {
            MISTAKES: others.get(run.kind, self._mistakes),
            RIGHT: partial(_answers, wanted=True),
            CLASSES: _question_words if run.kind == "spans" else _classes,
            NAMES: _names,
            SURENESS: _sureness,
        }
        return shown | drawn[look](run)

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Show the examples in a cell of the confusion matrix: [true label, predicted label]."""
        if self.look not in (MISTAKES, RIGHT, NAMES) or not isinstance(index, list | tuple):
            return settle()
        return settle(cell=clicked_cell(self.find(subject), index))

    def _mistakes(self, run: Run) -> Content:
        held, labels, what = run.held(HeldOutLabels), run.predictor.labels, UNITS[run.kind]
        counts = confusion(run)
        wrong = int(counts.sum() - np.trace(counts))
        rows, title = rows_of(run, self.cell, MOST_LISTED if isinstance(held, HeldOutTags) else MOST_LISTED // 5)
        listed = [
            [_text_of(held, row), labels[held.targets[row]], f"{labels[held.said[row]]}, {held.probabilities[row].max():.0%}"]
            for row in rows[:MOST_LISTED]
        ]
        return {
            "picture": confusion_matrix(counts, labels, what),
            "sentences": _table(["sentence", "right", "predicted"], listed, ["50%", "24%", "26%"], title),
            "note": f"{wrong:,} of {len(held.targets):,} held-out {what} are wrong. Click a cell to read the {what} in it.",
        }


def _table(
    headers: Sequence[str],
    rows: Sequence[list[Any]],
    widths: Sequence[str] | None = None,
    label: str | None = None,
    columns: Callable[[], Any] | None = None,
) -> props:
    """A table with its own headers; `columns` are the numbers that leave with it."""
    frame: dict[str, Any] = {"headers": list(headers), "data": list(rows)}
    value = frame if columns is None else keep(frame, columns)
    look = {"column_widths": widths} if widths else {}
    return props(value=value, visible=True, **look, **({"label": label} if label else {}))


def _text_of(held: HeldOutLabels, place: int) -> str:
    """A held-out text or pair, or a word among its neighbours."""
    if isinstance(held, HeldOutTags):
        return in_context(held, place)
    return in_one_line(held.pairs[place])


def in_one_line(pair: Pair) -> str:
    return " ‖ ".join(filter(None, pair))


def in_context(held: HeldOutTags, word: int) -> str:
    """A word in brackets, between the words before and after it in its sentence."""
    mine = np.flatnonzero(held.sentences == held.sentences[word])
    start, end = max(mine[0], word - AROUND), min(mine[-1], word + AROUND)
    words = [f"[{one}]" if place == word else one for place, one in enumerate(held.words[start : end + 1], start=start)]
    return f"{'… ' if start > mine[0] else ''}{' '.join(words)}{' …' if end < mine[-1] else ''}"


def _classes(run: Run) -> Content:
    """Rows of a label with precision, recall, F1 and support."""
    held, labels, what = run.held(HeldOutLabels), run.predictor.labels, UNITS[run.kind]
    measured = sklearn.metrics.precision_recall_fscore_support
    *rates, support = measured(held.targets, held.said, labels=range(len(labels)), zero_division=0)
    rows = [[name, *(f"{values[i]:.1%}" for values in rates), int(support[i])] for i, name in enumerate(labels)]
    columns: dict[str, Column] = {"label": labels, **dict(zip(("precision", "recall", "f1"), rates, strict=True)), what: support}
    macro = sklearn.metrics.f1_score(held.targets, held.said, average="macro")
    return {
        "scores": _table(["label", "precision", "recall", "F1", what], rows, columns=lambda: columns_of(**columns)),
        "note": (
            f"Macro-F1 (the mean of all classes) is {macro:.1%}. Precision: the share of right ones among those with this "
            "prediction. Recall: the share found of those with this label. F1: their harmonic mean."
        ),
    }


def _names(run: Run) -> Content:
    found = names_found(run)
    if not found:
        return {"note": "These tags mark no names: tags of names begin with B- (the first word) and I- (the words after it)."}
    rows = [
        [scores.type or "all together", f"{scores.precision:.1%}", f"{scores.recall:.1%}", f"{scores.f1:.1%}", scores.support]
        for scores in found
    ]
    fields = ("type", "precision", "recall", "f1", "support")
    columns = {name: [getattr(scored, name) for scored in found] for name in fields}
    return {
        "scores": _table(["name", "precision", "recall", "F1", "held out"], rows, columns=lambda: columns_of(**columns)),
        "note": (
            "A name counts when its type, its first and its last word are right (seqeval's definition, which is that of the "
            "CoNLL-2003 task: Tjong Kim Sang & De Meulder 2003)."
        ),
    }


def _sureness(run: Run) -> Content:
    held = run.held(HeldOutLabels)
    found = evaluation.calibration(held.probabilities, held.targets)
    return {
        "picture": calibration_curve(found.confidence, found.accuracy, found.count),
        "note": (
            f"Expected calibration error {found.error:.1%} (Guo et al. 2017): on the dotted line, predictions with 80% are right "
            f"80% of the time; below it, the head is too sure. Larger dots are more {UNITS[run.kind]}."
        ),
    }


def _what_changed(run: Run) -> Content:
    held = run.held_out
    if run.predictor.top is None or not isinstance(held, HeldOut):
        note = "Only the head was trained, so that BERT is as it was. Train some layers too."
        return {"picture": None, "note": note}
    pairs = held.pairs[:COMPARED]
    change = _changes.get(run.id, lambda: compare(load(run.predictor.model), load(tuned_model(run)), pairs))
    frozen = run.predictor.layer - run.predictor.layers_trained
    still = float(change.drift[: frozen + 1].max())
    mark = "✓" if still < 1e-5 else "✗"
    return {
        "picture": drift_bars(change.drift),
        "second_picture": attention_shift(change.attention),
        "note": (
            f"Over {len(pairs)} held-out sentences: on the left, how far the tokens' vectors moved in each hidden state. On the "
            f"right, the share of every head's attention that went elsewhere (total variation). {mark} The {frozen} frozen "
            f"layers moved at most {still:.0e}."
        ),
    }


def _numbers(run: Run) -> Content:
    """Estimates against true numbers, and the examples with the largest errors."""
    held = run.held(HeldOutNumbers)
    error, rank = np.abs(held.said - held.targets), evaluation.spearman(held.said, held.targets)
    rows = np.argsort(-error, kind="stable")[:MOST_MISSED]
    texts = [in_one_line(pair) for pair in held.pairs]
    listed = [[texts[row], f"{held.targets[row]:g}", f"{held.said[row]:.2f}"] for row in rows]
    return {
        "picture": number_scatter(held.targets, held.said, texts, run.id),
        "sentences": _table(["sentence", "right", "predicted"], listed, ["50%", "24%", "26%"], "The largest errors"),
        "note": (
            f"Each dot is a held-out example: the right number against the predicted one; on the dotted line both are the same. "
            f"Off by {error.mean():.2f} on average; Spearman's rank correlation {rank:.2f} (-1 to 1)."
        ),
    }


def _answers(run: Run, wanted: bool) -> Content:
    """The held-out questions that are answered exactly, or otherwise, the most confident first."""
    held = run.held(HeldOutAnswers)
    right = _are_right(held)
    rows = np.flatnonzero(right == wanted)
    shown = rows[np.argsort(-held.scores[rows].max(1), kind="stable")][: 2 * MOST_LISTED]
    listed = [
        [
            held.questions[place],
            held.said[place] or NO_ANSWER,
            " or ".join(held.accepted[place]) or NO_ANSWER,
            f"{held.scores[place, 0 if held.said[place] else 1]:.0%}",
            held.texts[place],
        ]
        for place in shown
    ]
    headers, widths = ["question", "predicted", "right", "sure", "text"], ["24%", "16%", "16%", "9%", "35%"]
    return {
        "sentences": _table(headers, listed, widths, "Questions, the most confident first"),
        "note": (
            f"{len(rows):,} of {len(right):,} held-out questions are answered {'exactly' if wanted else 'otherwise'}, capitals, "
            "articles and punctuation aside (exact match, Rajpurkar et al. 2016); sure is p(start) · p(end) of the prediction."
        ),
    }


def _question_words(run: Run) -> Content:
    """Exact match and F1 by question word."""
    held = run.held(HeldOutAnswers)
    words, right = np.array([asks(question) for question in held.questions]), _are_right(held)
    overlap = np.array([f1(said, accepted) for said, accepted in zip(held.said, held.accepted, strict=True)])
    there = [word for word in (*ASKS, OTHER) if (words == word).any()]
    counts = [int((words == word).sum()) for word in there]
    exact, mean = ([float(scores[words == word].mean()) for word in there] for scores in (right, overlap))
    rows = [list(row) for row in zip(there, counts, map(whole_percent, exact), map(whole_percent, mean), strict=True)]
    columns: dict[str, Column] = {"asks": there, "questions": counts, "exact_match": exact, "f1": mean}
    table = _table(["asks", "questions", "exact match", "F1"], rows, columns=lambda: columns_of(**columns))
    return {"scores": table, "note": "Exact match and F1 by question word, as SQuAD measures them (Rajpurkar et al. 2016)."}


def _are_right(held: HeldOutAnswers) -> np.ndarray:
    return np.array([exact_match(said, accepted) for said, accepted in zip(held.said, held.accepted, strict=True)])


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
        return evaluation.confident_mistakes(held.probabilities, held.targets, mistakes), "The most confident mistakes"
    _, right, said = cell
    rows = np.flatnonzero((held.targets == right) & (held.said == said))
    return rows, f"{labels[right]}, called {labels[said] if right != said else 'so'}: {len(rows)}"
