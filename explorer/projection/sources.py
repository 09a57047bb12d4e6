"""Where the points of a map come from, and where its sentences can be taken."""

from collections.abc import Generator
from typing import Any

from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS
from explorer.projection.points import (
    EXAMPLE_SETS,
    NONE_CHOSEN,
    Chosen,
    Points,
    check_chosen,
    classes_of,
    example_lines,
    items_of,
    key_of,
    lines_of,
    lines_of_file,
    read_texts,
    rows_of,
    sample_vocabulary,
    words_of,
)
from explorer.text.lines import read_lines
from explorer.text.tables import Table
from explorer.ui.long_view import LongView, reads_quickly
from explorer.ui.settings import choice, memory, number, pooling, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Why, button, settle

SENTENCES, WORDS, VOCABULARY = "Sentences", "Words of the input", "Vocabulary"
LETTERS = 4  # per token, about


def can_label(view: Any) -> bool:
    return view.source == SENTENCES and len(view.picked[0]) > 1


class PointsView(LongView):
    """The base of a map: its points, the choice of some of them, and the buttons that take sentences elsewhere."""

    source: str = choice((SENTENCES, WORDS, VOCABULARY), "Points", menu=True, elem_classes="inline")
    example: str = choice(
        EXAMPLE_SETS, "Fill with", menu=True, linked=False, elem_classes="inline", when=lambda view: view.source == SENTENCES
    )
    sentences: str = text(
        example_lines(EXAMPLE_SETS[0]),
        "One per line: sentence\u00a0|\u00a0label",
        lines=7,
        max_lines=7,
        limit=BOX_CHARACTERS,
        when=lambda view: view.source == SENTENCES,
    )
    table: Table | None = upload(
        label="CSV file…", types=(".csv",), as_button=True, min_width=90, scale=0, when=lambda view: view.source == SENTENCES
    )
    search: str = text("", "Search", placeholder="Points that contain this stand out")
    naming: str = text("", "Label of the selection", linked=False, when=can_label)
    label = button("Label the selection", visible=False)
    send = button("Send to Train", visible=False)
    test = button("Use in an experiment", visible=False, more=True)
    compare = button("Compare two models", visible=False, more=True)
    pooling: str = pooling(more=True, line=True, when=lambda view: view.source == SENTENCES)
    seed: int = number(
        0,
        "Seed",
        low=0,
        high=2**31 - 1,
        box=True,
        heard="submit",
        more=True,
        line=True,
        when=lambda view: view.method != "pca" or view.source == VOCABULARY,
    )
    picked: Chosen = memory(NONE_CHOSEN, kept=check_chosen)
    drawn: str = memory("", kept=str, linked=False)  # the key of the points on the map

    def on_table(self, subject: Subject, table: Table | None) -> Change:
        """A file was uploaded: its rows are the sentences, with their labels."""
        return settle(table=None, picked=NONE_CHOSEN, **({} if table is None else {"sentences": lines_of_file(table)}))

    def on_example(self, subject: Subject, example: str) -> Change:
        return settle(sentences=example_lines(example), picked=NONE_CHOSEN)

    def on_label(self, subject: Subject, index: None) -> Change:
        """Write the label behind each selected sentence. Raises InputError without a label."""
        label = " ".join(self.naming.replace("|", " ").split())
        if not label:
            raise InputError("Type a label for the selection first.")
        texts, labels = read_lines(self.sentences)
        own = [label if row in self.picked[0] else old for row, old in enumerate(labels)]
        return settle(sentences=lines_of(texts, own), picked=NONE_CHOSEN, naming="")

    def on_send(self, subject: Subject, index: None) -> Why:
        """Open Train with the selected sentences, or all, as its classes. Raises InputError for one class, or too many."""
        texts, labels = self._sent()
        return Why("fine-tune", "Train", settings={"kind": "texts", "source": "Typed here", "classes": classes_of(texts, labels)})

    def on_test(self, subject: Subject, index: None) -> Why:
        """Open a new experiment with the selected sentences, or all, as its items. Raises InputError where they make too few."""
        items = items_of(subject.model, self._sent()[0], self.search)
        return Why("experiments", "New experiment", settings={"source": "typed", "typed": items})

    def on_compare(self, subject: Subject, index: None) -> Why:
        return Why("projection", "Two models or layers", settings={"texts": self.sentences})

    def _sent(self) -> tuple[list[str], list[str]]:
        """The selected sentences with their labels, all if fewer than two are selected."""
        texts, labels = read_lines(self.sentences)
        chosen, key = self.picked
        sent = sorted({*chosen} & {*range(len(texts))}) if len(chosen) > 1 and key == key_of(texts) else range(len(texts))
        return [texts[row] for row in sent], [labels[row] for row in sent]

    def read_points(self, subject: Subject) -> Generator[tuple[str, float], None, Points]:
        """The points of the source; yields a sentence about the work and its share done. Raises InputError."""
        if self.source == WORDS:
            return words_of(subject.trace)
        if self.source == VOCABULARY:
            return sample_vocabulary(subject.model, self.seed)
        return (yield from read_texts(subject.model, *read_lines(self.sentences), self.pooling))

    def row_in(self, subject: Subject, points: Points) -> int | None:
        """The row of interest: the clicked one, or the selected token of the input."""
        chosen = rows_of(self.picked, points)
        if chosen:
            return chosen[0] if len(chosen) == 1 else None
        return subject.token if self.source == WORDS else None

    def is_read_quickly(self, subject: Subject) -> bool:
        """Whether the points can be read in about a second."""
        return self.source != SENTENCES or reads_quickly(subject.model.capabilities, len(self.sentences) / LETTERS)
