"""A tagger's results: confused tags, scores of tags and of whole names, and the mistakes in their sentences."""

import numpy as np

from explorer.finetune.compute.run import HeldOutTags, Run
from explorer.finetune.pictures.results import confusion_matrix
from explorer.finetune.result import Cell, cell_of, clicked_cell, confusion, rows_of, scores_by_label
from explorer.finetune.run import OfTaggers, RunView
from explorer.ui.layout import col, row
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.settings import choice, memory
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Content, chart, part, props, sentence, settle

CONFUSED, TAGS, NAMES = "Mistakes", "Tags", "Whole names"
MOST_MISTAKES = 50
AROUND = 8  # words on either side of a mistake


class WordResult(OfTaggers, RunView):
    """One picture or table of the held-out words."""

    name, question = "fine-tune/words-result", "What does it get wrong?"
    layout = (row(col("tag_confusion", "tag_scores", "note", width=5), col("mistakes", width=6)),)
    tag_look: str = choice((CONFUSED, TAGS, NAMES), "Reading the result", menu=True)
    tag_cell: Cell | None = memory(None, kept=cell_of, linked=False)
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

    def show_run(self, subject: Subject, run: Run) -> Content:
        if run.held_out is None:
            return {"note": "This run came in a file, which holds no sentences to look at."}
        held, labels = run.held(HeldOutTags), run.predictor.labels
        if self.tag_look == TAGS:
            return _scores_of_tags(run)
        if self.tag_look == NAMES:
            return _scores_of_names(held, labels)
        counts = confusion(run)
        wrong = int(counts.sum() - np.trace(counts))
        return {
            "tag_confusion": confusion_matrix(counts, labels, "words"),
            "mistakes": self._mistakes(run),
            "note": f"{wrong:,} of {len(held.targets):,} held-out words are tagged wrong. Click a cell to read the words in it.",
        }

    def on_tag_confusion(self, subject: Subject, index: object) -> Change:
        """Show the words in a cell of the confusion matrix: [true tag, predicted tag]."""
        return settle(tag_cell=clicked_cell(self.find(subject), index))

    def _mistakes(self, run: Run) -> props:
        held, labels = run.held(HeldOutTags), run.predictor.labels
        rows, title = rows_of(run, self.tag_cell, MOST_MISTAKES)
        listed = [[in_context(held, row), labels[held.targets[row]], labels[held.said[row]]] for row in rows[:MOST_MISTAKES]]
        return props(value=listed, label=title, visible=True)


def in_context(held: HeldOutTags, word: int) -> str:
    """A word in brackets, between the words before and after it in its sentence."""
    mine = np.flatnonzero(held.sentences == held.sentences[word])
    start, end = max(mine[0], word - AROUND), min(mine[-1], word + AROUND)
    words = [f"[{one}]" if place == word else one for place, one in enumerate(held.words[start : end + 1], start=start)]
    return f"{'… ' if start > mine[0] else ''}{' '.join(words)}{' …' if end < mine[-1] else ''}"


def _scores_of_tags(run: Run) -> Content:
    scores, macro = scores_by_label(run, "tag", "words")
    note = (
        f"Each word for itself; macro-F1, the mean of all tags, is {macro:.1%}. Precision: of the words "
        "called so, how many are; recall: of those that are, how many are called so; F1: their harmonic mean."
    )
    return {"tag_scores": scores, "note": note}


def _scores_of_names(held: HeldOutTags, labels: tuple[str, ...]) -> Content:
    found = held.entities(labels)
    if not found:
        return {"note": "These tags mark no names: tags of names begin with B- (the first word) and I- (the words after it)."}
    rows = [
        [scores.type or "all together", f"{scores.precision:.1%}", f"{scores.recall:.1%}", f"{scores.f1:.1%}", scores.support]
        for scores in found
    ]
    fields = ("type", "precision", "recall", "f1", "support")
    note = (
        "A name counts when its type, its first and its last word are right (seqeval's definition, which is that of the "
        "CoNLL-2003 task: Tjong Kim Sang & De Meulder 2003)."
    )
    scores = {name: [getattr(scored, name) for scored in found] for name in fields}
    return {"tag_scores": keep(rows, lambda: columns_of(**scores)), "note": note}
