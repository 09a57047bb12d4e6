"""Where the points of a map come from, and where its sentences can be taken."""

from collections.abc import Generator
from typing import Any

from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, TEXTS
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
    read_texts,
    rows_of,
    sample_vocabulary,
    texts_of,
    words_of,
)
from explorer.text.lines import NO_LABEL, read_lines
from explorer.text.tables import Table, find_column, text_column_of
from explorer.ui.long_view import LongView, reads_quickly
from explorer.ui.settings import choice, memory, number, pooling, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Why, button, props, settle

SENTENCES, WORDS, FILE, VOCABULARY = "Sentences", "Words of the input", "CSV file", "Vocabulary"
CHOOSE = "CSV file…"
NO_FILE = "Choose a CSV file with a line of column names; its rows become the points."
# The choices are only known on the page, and links do not contain the file.
OF_THE_FILE = {"menu": True, "free": True, "allow_custom_value": False, "linked": False}
LETTERS = 4  # per token, about


def _with_file(view: Any) -> bool:
    return view.source == FILE and view.table is not None


def can_label(view: Any) -> bool:
    return view.source == SENTENCES and len(view.picked[0]) > 1


def _is_drawn_by_chance(view: Any) -> bool:
    is_sampled = view.source == FILE and view.table is not None and len(view.table.rows) > TEXTS.most
    return view.method != "pca" or view.source == VOCABULARY or is_sampled


class PointsView(LongView):
    """The base of a map: its points, the choice of some of them, and the buttons that take sentences elsewhere."""

    source: str = choice((SENTENCES, WORDS, FILE, VOCABULARY), "Points", menu=True, elem_classes="inline")
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
    table: Table | None = upload(label=CHOOSE, types=(".csv",), as_button=True, when=lambda view: view.source == FILE)
    text_column: str = choice([("", "")], "Text column", when=_with_file, **OF_THE_FILE)
    label_column: str = choice([(NO_LABEL, "")], "Label column", when=_with_file, **OF_THE_FILE)
    search: str = text("", "Search", placeholder="Points that contain this stand out")
    naming: str = text("", "Label of the selection", linked=False, when=can_label)
    label = button("Label the selection", visible=False)
    send = button("Send to Train", visible=False)
    test = button("Use in an experiment", visible=False, more=True)
    compare = button("Compare two models", visible=False, more=True)
    pooling: str = pooling(more=True, line=True, when=lambda view: view.source in (SENTENCES, FILE))
    seed: int = number(0, "Seed", low=0, high=2**31 - 1, box=True, heard="submit", more=True, line=True, when=_is_drawn_by_chance)
    picked: Chosen = memory(NONE_CHOSEN, kept=check_chosen)
    drawn: str = memory("", kept=str, linked=False)  # the key of the points on the map

    def on_table(self, subject: Subject, table: Table | None) -> Change:
        """A file was uploaded: fill in its columns. Raises InputError when it was removed."""
        if table is None:
            raise InputError(NO_FILE)
        size = f"{len(table.rows):,} row{'s' * (len(table.rows) != 1)}"
        drawn = f", of which a random {TEXTS.most:,} are drawn" if len(table.rows) > TEXTS.most else ""
        return Change(
            settings={"text_column": text_column_of(table), "label_column": find_column("label", table)},
            content={
                "table": props(label=f"{CHOOSE} ({table.name[:40]}: {size}{drawn})"),
                "text_column": props(choices=list(table.columns)),
                "label_column": props(choices=[(NO_LABEL, ""), *table.columns]),
            },
        )

    def on_example(self, subject: Subject, example: str) -> Change:
        return settle(sentences=example_lines(example), picked=NONE_CHOSEN)

    def on_label(self, subject: Subject, index: None) -> Change:
        """Write the label behind each selected sentence. Raises InputError without a label."""
        label = " ".join(self.naming.replace("|", " ").split())
        if not label:
            raise InputError("Type a label for the selection first.")
        texts, labels = read_lines(self.sentences)
        own = [label if row in self.picked[0] else "" if old == NO_LABEL else old for row, old in enumerate(labels)]
        lines = [f"{text} | {name}" if name else text for text, name in zip(texts, own, strict=True)]
        return settle(sentences="\n".join(lines), picked=NONE_CHOSEN, naming="")

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
        if self.source == SENTENCES:
            texts, labels = read_lines(self.sentences)
        elif self.table is None:
            raise InputError(NO_FILE)
        else:
            texts, labels = texts_of(self.table, self.text_column or text_column_of(self.table), self.label_column, self.seed)
        return (yield from read_texts(subject.model, texts, labels, self.pooling))

    def row_in(self, subject: Subject, points: Points) -> int | None:
        """The row of interest: the clicked one, or the selected token of the input."""
        chosen = rows_of(self.picked, points)
        if chosen:
            return chosen[0] if len(chosen) == 1 else None
        return subject.token if self.source == WORDS else None

    def is_read_quickly(self, subject: Subject) -> bool:
        """Whether the points can be read in about a second."""
        if self.source == SENTENCES:
            return reads_quickly(subject.model.capabilities, len(self.sentences) / LETTERS)
        return self.source in (WORDS, VOCABULARY)
