"""The quality of a run: its picture, its scores and its mistakes, for every kind of task."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.analysis import evaluation
from explorer.core.errors import InputError
from explorer.core.lazy import sklearn
from explorer.finetune.compute.answers import HeldOutAnswers
from explorer.finetune.compute.predictor import HeldOutLabels
from explorer.finetune.compute.run import Run
from explorer.finetune.compute.texts import HeldOutNumbers
from explorer.finetune.compute.words import HeldOutTags
from explorer.finetune.pictures import confusion_matrix
from explorer.finetune.run import RunView, run_id
from explorer.finetune.verdict import match_exactly
from explorer.text import limits
from explorer.text.lines import Pair
from explorer.ui.layout import col, row
from explorer.ui.pictures.numbers import Column, columns_of, keep, plain
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, chart, part, props, sentence, settle

MOST_LISTED, MOST_TEXTS, MOST_MISSED, MOST_ANSWERS = 50, 10, 12, 100  # words, mistaken texts, numbers, and answers
AROUND = 8  # words on either side of a mistake
NO_ANSWER = "(no answer)"
UNITS = {"classes": "sentences", "tags": "words"}

Cell = tuple[str, int, int]
"""A cell of a run's confusion matrix: the run's id, the true label and the predicted one."""


def cell_of(value: object) -> Cell | None:
    if not isinstance(value, list | tuple) or len(value) != 3 or not run_id(value[0]):
        return None
    return tuple(value) if all(type(place) is int for place in value[1:]) else None


class Result(RunView):
    name, question = "fine-tune/result", "What is the result worth?"
    folded = question
    layout = (row(col("picture", "scores", "note", width=5), col("sentences", width=6)),)
    cell: Cell | None = memory(None, kept=cell_of, linked=False)
    picture = chart("The result on held-out examples", height=380, optional=True, marks=True)
    scores = part("frame", optional=True)
    note = sentence(classes="caption")
    sentences = part("frame", label="The most confident mistakes", max_height=380, optional=True)

    def without_run(self, why: str) -> Content:
        return {"note": ""}

    def show_run(self, subject: Subject, run: Run) -> Content:
        held = run.held_out
        if isinstance(held, HeldOutAnswers):
            return _answers(held)
        if isinstance(held, HeldOutNumbers):
            return _numbers(held)
        if not isinstance(held, HeldOutLabels):
            return {"note": "This run came in a file, which has no sentences to look at."}
        names = held.entities(run.predictor.labels) if isinstance(held, HeldOutTags) else []
        scores, note = _names(names) if names else _classes(run, held)
        shown = _mistakes(run, held, self.cell)
        return {**shown, "scores": scores, "note": f"{shown['note']} {note}"}

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Show the examples in a cell of the confusion matrix: [true label, predicted label]."""
        if not isinstance(index, list | tuple):
            return settle()
        run, (right, said) = self.find(subject), limits.check_cell(index)
        if run.held_out is None or max(right, said) >= len(run.predictor.labels):
            raise InputError("There is no such cell.")
        return settle(cell=(run.id, right, said))


def _listed(headers: Sequence[str], rows: Sequence[list[Any]], widths: Sequence[int], title: str) -> props:
    """A table of examples with a title; the widths of its columns are in percent."""
    shares = [f"{width}%" for width in widths]
    return props(value={"headers": headers, "data": rows}, visible=True, column_widths=shares, label=title)


def _scores(**columns: Column) -> props:
    """A table of counts and of shares, which are written in percent, with the numbers in full beside it."""
    cells = [[f"{one:.1%}" if isinstance(one, float) else plain(one) for one in column] for column in columns.values()]
    frame = {"headers": [name.replace("_", " ") for name in columns], "data": [list(row) for row in zip(*cells, strict=True)]}
    return props(value=keep(frame, lambda: columns_of(**columns)), visible=True)


def _mistakes(run: Run, held: HeldOutLabels, cell: Cell | None) -> Content:
    labels, what = run.predictor.labels, UNITS[run.kind]
    counts = sklearn.metrics.confusion_matrix(held.targets, held.said, labels=range(len(labels)))
    if cell is None or cell[0] != run.id:
        most = MOST_LISTED if isinstance(held, HeldOutTags) else MOST_TEXTS
        rows, title = evaluation.confident_mistakes(held.probabilities, held.targets, most), "The most confident mistakes"
    else:
        _, right, said = cell
        rows = np.flatnonzero((held.targets == right) & (held.said == said))
        title = f"{labels[right]}, called {labels[said] if right != said else 'so'}: {len(rows)}"
    listed = [
        [_text_of(held, row), labels[held.targets[row]], f"{labels[held.said[row]]}, {held.probabilities[row].max():.0%}"]
        for row in rows[:MOST_LISTED]
    ]
    wrong = int(counts.sum() - np.trace(counts))
    return {
        "picture": confusion_matrix(counts, labels, what),
        "sentences": _listed(["sentence", "right", "predicted"], listed, [50, 24, 26], title),
        "note": f"{wrong:,} of {len(held.targets):,} held-out {what} are wrong. Click a cell to read the {what} in it.",
    }


def _text_of(held: HeldOutLabels, place: int) -> str:
    """A held-out text or pair, or a word among its neighbours."""
    return in_context(held, place) if isinstance(held, HeldOutTags) else in_one_line(held.pairs[place])


def in_one_line(pair: Pair) -> str:
    return " ‖ ".join(filter(None, pair))


def in_context(held: HeldOutTags, word: int) -> str:
    """A word in brackets, between the words before and after it in its sentence."""
    mine = np.flatnonzero(held.sentences == held.sentences[word])
    start, end = max(mine[0], word - AROUND), min(mine[-1], word + AROUND)
    words = [f"[{one}]" if place == word else one for place, one in enumerate(held.words[start : end + 1], start=start)]
    return f"{'… ' if start > mine[0] else ''}{' '.join(words)}{' …' if end < mine[-1] else ''}"


def _classes(run: Run, held: HeldOutLabels) -> tuple[props, str]:
    """The measures of every class, and what they are."""
    labels = run.predictor.labels
    measured = sklearn.metrics.precision_recall_fscore_support
    precision, recall, f1s, support = measured(held.targets, held.said, labels=range(len(labels)), zero_division=0)
    macro = sklearn.metrics.f1_score(held.targets, held.said, average="macro")
    scores = _scores(label=labels, precision=precision, recall=recall, f1=f1s, **{UNITS[run.kind]: support})
    return scores, (
        f"Macro-F1 (the mean of all classes) is {macro:.1%}. Precision: the share of right ones among those with this "
        "prediction. Recall: the share found of those with this label. F1: their harmonic mean."
    )


def _names(found: Sequence[evaluation.EntityScores]) -> tuple[props, str]:
    """The measures of whole names by type, and what they are."""
    measures = {name: [getattr(scores, name) for scores in found] for name in ("precision", "recall", "f1", "support")}
    return _scores(type=[scores.type or "all together" for scores in found], **measures), (
        "A name counts when its type, its first and its last word are right (seqeval's definition, which is that of the "
        "CoNLL-2003 task: Tjong Kim Sang & De Meulder 2003). Support: the number of true names."
    )


def _numbers(held: HeldOutNumbers) -> Content:
    """The examples with the largest errors."""
    error, rank = np.abs(held.said - held.targets), evaluation.spearman(held.said, held.targets)
    rows = np.argsort(-error, kind="stable")[:MOST_MISSED]
    listed = [[in_one_line(held.pairs[row]), f"{held.targets[row]:g}", f"{held.said[row]:.2f}"] for row in rows]
    return {
        "sentences": _listed(["sentence", "right", "predicted"], listed, [50, 24, 26], "The largest errors"),
        "note": f"Off by {error.mean():.2f} on average; Spearman's rank correlation {rank:.2f} (-1 to 1).",
    }


def _answers(held: HeldOutAnswers) -> Content:
    """The held-out questions that are not answered exactly, the most confident first."""
    right = match_exactly(held)
    rows = np.flatnonzero(~right)
    listed = [
        [
            held.questions[place],
            held.said[place] or NO_ANSWER,
            " or ".join(held.accepted[place]) or NO_ANSWER,
            f"{held.scores[place, 0 if held.said[place] else 1]:.0%}",
            held.texts[place],
        ]
        for place in rows[np.argsort(-held.scores[rows].max(1), kind="stable")][:MOST_ANSWERS]
    ]
    headers, title = ["question", "predicted", "right", "sure", "text"], "Questions, the most confident first"
    return {
        "sentences": _listed(headers, listed, [24, 16, 16, 9, 35], title),
        "note": (
            f"{len(rows):,} of {len(right):,} held-out questions are not answered exactly, capitals, "
            "articles and punctuation aside (exact match, Rajpurkar et al. 2016); sure is p(start) · p(end) of the prediction."
        ),
    }
