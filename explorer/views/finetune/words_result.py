"""What a tagger gets right and wrong: tags taken for each other, scores of tags and of whole names, and the sentences."""

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis import evaluation
from explorer.base.errors import InputError
from explorer.figures.numbers import columns_of, keep
from explorer.figures.results import confusion_matrix
from explorer.text import limits
from explorer.views.finetune.result import cell_of
from explorer.views.finetune.run import RunView
from explorer.views.finetune.words_run import OfTaggers
from explorer.views.settings import choice, memory
from explorer.views.subject import Subject
from explorer.views.view import Change, Content, chart, part, props, sentence, settle

if TYPE_CHECKING:
    from explorer.training.run import HeldOutTags, Run

CONFUSED, TAGS, NAMES = "Mistakes", "Tags", "Whole names"
MOST_MISTAKES = 50
AROUND = 8  # words on either side of a mistake


class WordResult(OfTaggers, RunView):
    """One look at the held-out words at a time."""

    name, question = "fine-tune/words-result", "What does it get wrong?"
    columns = (("tag_confusion", "tag_scores", "note"), ("mistakes",))
    widths = (5, 6)
    tag_look: str = choice((CONFUSED, TAGS, NAMES), "Reading the result")
    tag_cell: tuple[str, int, int] | None = memory(None, kept=cell_of, linked=False)
    tag_confusion = chart("Which tags are taken for each other", height=380, optional=True, marks=True)
    tag_scores = part("frame", columns=["tag", "precision", "recall", "F1", "held out"], optional=True)
    note = sentence(classes="caption")
    mistakes = part(
        "frame",
        columns=["in its sentence", "right", "said"],
        widths=["62%", "19%", "19%"],
        label="The surest mistakes",
        max_height=380,
        optional=True,
    )

    def show_run(self, subject: Subject, run: "Run") -> Content:
        """What was asked for."""
        if run.held_out is None:
            return {"note": "This run came in a file, which holds no sentences to look at."}
        held, labels = run.held_out, run.predictor.labels
        counts = evaluation.confusion(held.targets, held.said, len(labels))
        if self.tag_look == TAGS:
            return _scores_of_tags(counts, labels)
        if self.tag_look == NAMES:
            return _scores_of_names(held, labels)
        wrong = int(counts.sum() - np.trace(counts))
        return {
            "tag_confusion": confusion_matrix(counts, labels, "words"),
            "mistakes": self._mistakes(run),
            "note": f"{wrong:,} of {len(held.targets):,} held-out words are tagged wrong. Click a cell to read the words in it.",
        }

    def on_tag_confusion(self, subject: Subject, index: Any) -> Change:
        """The words in a cell of the confusion matrix: [right tag, tag that was said]."""
        run = self.find(subject)
        right, said = limits.check_cell(index)
        if run.held_out is None or max(right, said) >= len(run.predictor.labels):
            raise InputError("There is no such cell.")
        return settle(tag_cell=(run.id, right, said))

    def _mistakes(self, run: "Run") -> props:
        held, labels = run.held_out, run.predictor.labels
        if self.tag_cell is None or self.tag_cell[0] != run.id:
            rows, title = evaluation.confident_mistakes(held.probabilities, held.targets, MOST_MISTAKES), "The surest mistakes"
        else:
            _, right, said = self.tag_cell
            rows = np.flatnonzero((held.targets == right) & (held.said == said))
            title = f"{labels[right]}, called {labels[said] if right != said else 'so'}: {len(rows)}"
        listed = [[in_context(held, row), labels[held.targets[row]], labels[held.said[row]]] for row in rows[:MOST_MISTAKES]]
        return props(value=listed, label=title, visible=True)


def in_context(held: "HeldOutTags", word: int) -> str:
    """A word in brackets, between the words before and after it in its sentence."""
    mine = np.flatnonzero(held.sentences == held.sentences[word])
    start, end = max(mine[0], word - AROUND), min(mine[-1], word + AROUND)
    words = [f"[{one}]" if place == word else one for place, one in enumerate(held.words[start : end + 1], start=start)]
    return f"{'… ' if start > mine[0] else ''}{' '.join(words)}{' …' if end < mine[-1] else ''}"


def _scores_of_tags(counts: np.ndarray, labels: tuple[str, ...]) -> Content:
    found = evaluation.class_scores(counts)
    rows = [
        [label, *(f"{values[i]:.1%}" for values in (found.precision, found.recall, found.f1)), int(found.support[i])]
        for i, label in enumerate(labels)
    ]
    scores = {"tag": labels, "precision": found.precision, "recall": found.recall, "f1": found.f1, "words": found.support}
    note = (
        f"Each word for itself; macro-F1, the mean of all tags, is {evaluation.macro_f1(counts):.1%}. Precision: of the words "
        "called so, how many are; recall: of those that are, how many are called so; F1: their harmonic mean."
    )
    return {"tag_scores": keep(rows, lambda: columns_of(**scores)), "note": note}


def _scores_of_names(held: "HeldOutTags", labels: tuple[str, ...]) -> Content:
    found = held.entities(labels)
    if not found:
        return {"note": "These tags mark no names: tags of names begin with B- (the first word) and I- (the words after it)."}
    rows = [
        [one.type or "all together", f"{one.precision:.1%}", f"{one.recall:.1%}", f"{one.f1:.1%}", one.support] for one in found
    ]
    fields = ("type", "precision", "recall", "f1", "support")
    note = (
        "A name counts when its type, its first and its last word are right (seqeval's definition, which is that of the "
        "CoNLL-2003 task: Tjong Kim Sang & De Meulder 2003)."
    )
    scores = {name: [getattr(one, name) for one in found] for name in fields}
    return {"tag_scores": keep(rows, lambda: columns_of(**scores)), "note": note}
