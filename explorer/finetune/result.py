"""The quality of a run: its picture, its scores and its mistakes, for every kind of task; and a probe of every hidden state."""

from collections.abc import Generator, Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from explorer.analysis import evaluation
from explorer.core.errors import InputError
from explorer.core.lazy import sklearn
from explorer.core.steps import map_steps
from explorer.finetune.compute.answers import HeldOutAnswers
from explorer.finetune.compute.predictor import HeldOutLabels, Run
from explorer.finetune.compute.texts import HeldOutNumbers
from explorer.finetune.compute.words import HeldOutTags
from explorer.finetune.pictures import confusion_matrix, in_one_line
from explorer.finetune.runs import RunView, run_id
from explorer.finetune.sources import ExampleSettings
from explorer.text import limits
from explorer.training.examples import Examples
from explorer.training.probe import LayerProbe, probe
from explorer.ui.layout import col, row
from explorer.ui.long_view import LongView
from explorer.ui.pictures.bars import percent
from explorer.ui.pictures.numbers import Column, columns_of, keep, plain
from explorer.ui.pictures.state_lines import probe_lines
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.telling import interval
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
    cell: Cell | None = memory(None, kept=cell_of, linked=False, with_files=True)
    picture = chart("The result on held-out examples", height=380, optional=True, marks=True)
    scores = part("frame", optional=True)
    note = sentence(classes="caption")
    sentences = part("frame", label="The most confident mistakes", max_height=380, optional=True)

    def without_run(self, subject: Subject, why: str) -> Content:
        return {"note": ""}

    def show_run(self, subject: Subject, run: Run) -> Content:
        held = run.held_out
        if isinstance(held, HeldOutLabels):
            return _labels(run, held, self.cell)
        if isinstance(held, HeldOutNumbers):
            error, rank = np.abs(held.said - held.targets), evaluation.spearman(held.said, held.targets)
            worst = np.argsort(-error, kind="stable")[:MOST_MISSED]
            rows = [[in_one_line(held.pairs[row]), f"{held.targets[row]:g}", f"{held.said[row]:.2f}"] for row in worst]
            note = f"Off by {error.mean():.2f} on average; Spearman's rank correlation {rank:.2f} (-1 to 1)."
            return {"sentences": _listed(rows, "The largest errors"), "note": note}
        if isinstance(held, HeldOutAnswers):
            return _answers(held)
        return {"note": "This run came in a file, which has no sentences to look at."}

    def on_picture(self, subject: Subject, index: object) -> Change:
        """Show the examples in a cell of the confusion matrix: [true label, predicted label]."""
        if not isinstance(index, list | tuple):
            return settle()
        run, (right, said) = self.find(subject), limits.check_cell(index)
        if run.held_out is None or max(right, said) >= len(run.predictor.labels):
            raise InputError("There is no such cell.")
        return settle(cell=(run.id, right, said))


def _listed(rows: Sequence[Sequence[str]], title: str) -> props:
    """A table of examples, each with the right and the predicted answer."""
    value = {"headers": ["sentence", "right", "predicted"], "data": rows}
    return props(value=value, visible=True, column_widths=["50%", "24%", "26%"], label=title)


def _measures(**columns: Column) -> props:
    """A table of counts and of shares, which are written in percent, with the numbers in full beside it."""
    cells = [[f"{one:.1%}" if isinstance(one, float) else plain(one) for one in column] for column in columns.values()]
    frame = {"headers": list(columns), "data": [list(row) for row in zip(*cells, strict=True)]}
    return props(value=keep(frame, lambda: columns_of(**columns)), visible=True)


def _labels(run: Run, held: HeldOutLabels, cell: Cell | None) -> Content:
    """The confusion matrix, the measures of every class or of whole names, and the mistakes, or the sentences of a cell."""
    labels, what = run.predictor.labels, UNITS[run.kind]
    counts = sklearn.metrics.confusion_matrix(held.targets, held.said, labels=range(len(labels)))
    if cell is None or cell[0] != run.id:
        most = MOST_LISTED if isinstance(held, HeldOutTags) else MOST_TEXTS
        rows, title = evaluation.confident_mistakes(held.probabilities, held.targets, most), "The most confident mistakes"
    else:
        _, right, said = cell
        rows = np.flatnonzero((held.targets == right) & (held.said == said))
        title = f"{labels[right]}, called {labels[said] if right != said else 'so'}: {len(rows)}"
    listed = []
    for place in rows[:MOST_LISTED]:
        text = in_context(held, place) if isinstance(held, HeldOutTags) else in_one_line(held.pairs[place])
        listed.append([text, labels[held.targets[place]], f"{labels[held.said[place]]}, {held.probabilities[place].max():.0%}"])
    names = held.entities(labels) if isinstance(held, HeldOutTags) else []
    scores, note = _names(names) if names else _classes(run, held)
    wrong = f"{int((~held.hits).sum()):,} of {len(held.targets):,} held-out {what} are wrong."
    return {
        "picture": confusion_matrix(counts, labels, what),
        "scores": scores,
        "sentences": _listed(listed, title),
        "note": f"{wrong} Click a cell to read the {what} in it. {note}",
    }


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
    scores = _measures(label=labels, precision=precision, recall=recall, f1=f1s, **{UNITS[run.kind]: support})
    return scores, (
        f"Macro-F1 (the mean of all classes) is {macro:.1%}. Precision: the share of right ones among those with this "
        "prediction. Recall: the share found of those with this label. F1: their harmonic mean."
    )


def _names(found: Sequence[evaluation.EntityScores]) -> tuple[props, str]:
    """The measures of whole names by type, and what they are."""
    measures = {name: [getattr(scores, name) for scores in found] for name in ("precision", "recall", "f1", "support")}
    return _measures(type=[scores.type or "all together" for scores in found], **measures), (
        "A name counts when its type, its first and its last word are right (seqeval's definition, which is that of the "
        "CoNLL-2003 task: Tjong Kim Sang & De Meulder 2003). Support: the number of true names."
    )


def _answers(held: HeldOutAnswers) -> Content:
    """The held-out questions that are not answered exactly, the most confident first."""
    wrong = np.flatnonzero(~held.hits)
    rows = [
        [
            in_one_line(held.pairs[row]),
            " or ".join(held.accepted[row]) or NO_ANSWER,
            f"{held.said[row] or NO_ANSWER}, {held.scores[row].max():.0%}",
        ]
        for row in wrong[np.argsort(-held.scores[wrong].max(1), kind="stable")][:MOST_ANSWERS]
    ]
    return {
        "sentences": _listed(rows, "Questions, the most confident first"),
        "note": f"{len(wrong):,} of {len(held.hits):,} held-out questions are not answered exactly, capitals, articles and "
        "punctuation aside (exact match, Rajpurkar et al. 2016). The share is p(start) · p(end) of the prediction.",
    }


SEEDS = 5
FEW = 30  # different sentences held out in all splits, below which an interval is wider than most differences of layers


class Probe(LongView, ExampleSettings):
    name, question = "fine-tune/probe", "Which layer knows the labels?"
    folded, start = "Which layer knows the labels?", "Ask every layer"
    names: ClassVar[Sequence[str]] = ()  # the boxes for the examples are in another view
    about = sentence(keep_height=True)
    curve = chart("Accuracy of a probe by layer", height=300)

    def passes(self, subject: Subject) -> float:
        """Infinite, so that it always waits for its button: it reads all examples, and needs no text."""
        return float("inf")

    def key(self, subject: Subject) -> Hashable:
        return self.name, subject.model_name, self.described

    def waiting(self, subject: Subject) -> Content:
        method = f"A linear head on every hidden state, {SEEDS} splits each, and the same with the labels shuffled."
        return {"about": f"{method} The band is the 95% interval.", "curve": None}

    def work(self, subject: Subject) -> Generator[Any, None, tuple[list[LayerProbe], Examples]]:
        examples = self.labelled()
        steps = probe(subject.model, examples, "mean", SEEDS)
        return (yield from map_steps(steps, lambda step: (f"{step[1]} {step[0]:.0%}.", step[0]))), examples

    def draw(self, subject: Subject, found: tuple[list[LayerProbe], Examples]) -> Content:
        rows, examples = found
        accuracy, low, high, control = np.array([(row.accuracy, row.low, row.high, row.control_accuracy) for row in rows]).T
        usual = np.full(len(rows), max(examples.counts.values()) / len(examples))
        references, best = {"shuffled labels": control, "the most frequent label": usual}, int(accuracy.argmax())
        drawn = probe_lines(accuracy, (low, high), references, best, "held-out texts labelled right")
        return {"curve": drawn, "about": tell(rows)}


def tell(rows: list[LayerProbe]) -> str:
    best = max(rows, key=lambda row: row.accuracy)
    ends = interval(best.low, best.high)
    text = (
        f"Best at hidden state {best.layer}: {percent(best.accuracy)} (95% interval {ends} over {best.sentences:,} different "
        f"held-out texts, {SEEDS} splits), mean over tokens; {percent(best.control_accuracy)} with "
        "shuffled labels, which is what chance reaches."
    )
    if best.sentences < FEW:
        text += f" So few held-out texts ({best.sentences}) cannot rank the layers: add examples."
    elif rivals := sum(row.high >= best.low for row in rows) - 1:
        text += f" Its interval overlaps with those of {rivals} of the {len(rows) - 1} other hidden states."
    return text
