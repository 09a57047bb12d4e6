"""The points of a map: their sources, the vector of each at every layer, and the places that sentences can be taken to."""

from __future__ import annotations

import csv
import functools
import hashlib
import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import layer_features_in_steps
from explorer.core.errors import InputError
from explorer.core.limits import BOX_CHARACTERS, CARDS, TEXTS
from explorer.core.paths import EXAMPLES
from explorer.core.steps import map_steps
from explorer.text.encoding import MASK
from explorer.text.limits import check_texts
from explorer.text.lines import NO_LABEL, around, read_lines
from explorer.text.pieces import Writing, bare
from explorer.text.tables import Table
from explorer.training.columns import guess_columns
from explorer.ui.long_view import LongView, reads_quickly
from explorer.ui.settings import choice, memory, number, pooling, text, upload
from explorer.ui.subject import Subject
from explorer.ui.view import Change, Why, button, settle

SENTENCES, WORDS, VOCABULARY = "Sentences", "Words of the input", "Vocabulary"
SAMPLED_PIECES = 10_000
LETTERS = 4  # per token, about
PER_LINE = "One per line: sentence\u00a0|\u00a0label"
EXAMPLE_SETS = ("Topics", "Bank in two senses", "Questions", "Spam", "Sentiment")

Chosen = tuple[tuple[int, ...], str]
"""Some rows, and the key of their points; for other points they are ignored."""

NONE_CHOSEN: Chosen = ((), "")

ODD = re.compile(r"[*|\[\]]")  # characters that mark words or divide cells where items are typed
UNLABELLED = "unlabelled"  # the class of sentences without a label
FEW_LABELS = "Train needs two labels or more. Write | label after each line, or select points and label them."


@dataclass(frozen=True)
class Points:
    """A text and a label per point; states [layers + 1, n, hidden], or [1, n, hidden] if there is only one layer."""

    texts: list[str]
    labels: list[str]
    states: np.ndarray
    single: str = ""  # why there is only one layer
    contexts: Sequence[tuple[str, str]] = ()  # what comes before and after each word

    @functools.cached_property
    def key(self) -> str:
        return key_of(self.texts)

    def at(self, layer: int) -> int:
        """The index in the states of a layer, which is that of the only one there is."""
        return min(layer, len(self.states) - 1)


def key_of(texts: Sequence[str]) -> str:
    """A hash of the texts in order."""
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


def read_texts(model: Explorer, texts: list[str], labels: list[str], pooling: str) -> Generator[tuple[str, float], None, Points]:
    """A point for each text; yields a sentence about the work and its share done. Raises InputError."""
    reading = layer_features_in_steps(model, check_texts(texts), pooling)
    states = yield from map_steps(reading, lambda share: (f"Reading {len(texts):,} texts: {share:.0%}", share))
    return Points(texts, labels, states, "The pooler reads the last layer only." if pooling == "pooler" else "")


@functools.cache
def example_lines(name: str) -> str:
    """One of EXAMPLE_SETS, as lines with a label after a |: the topics, the uses of a word, or examples that Train has too."""
    if name == EXAMPLE_SETS[0]:
        return (EXAMPLES / "topics.txt").read_text("utf-8").strip()
    word = "bank" if name == EXAMPLE_SETS[1] else None
    with (EXAMPLES / ("senses.csv" if word else f"{name.casefold()}.csv")).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("word") == word]
    return lines_of((row["text"] for row in rows), (row["label"] for row in rows))


def piece_kind(piece: str, writing: Writing) -> str:
    """The kind of a piece: a word, the rest of one, a number, a sign, or reserved."""
    if re.fullmatch(r"\[.+\]|<.+>|⟨.+⟩", piece):
        return "reserved"
    inside = bare(piece)
    if any(character.isdigit() for character in inside):
        return "number"
    if len(inside) == 1:
        return "single sign"
    return "rest of a word" if piece.startswith(writing.value) == (writing is Writing.WORDPIECE) else "word"


def lines_of(texts: Iterable[str], labels: Iterable[str]) -> str:
    """Texts as lines that are typed, each with its label, if it has one, after a |."""
    rows = ((" ".join(text.replace("|", " ").split()), label) for text, label in zip(texts, labels, strict=True))
    return "\n".join(text if label in ("", NO_LABEL) else f"{text} | {label}" for text, label in rows if text)


def lines_of_file(table: Table) -> str:
    """The rows of a file, or a sample: texts and labels from the columns that are guessed for examples to learn from."""
    columns = guess_columns(table)
    texts, labels = table.column(columns.text), table.column(columns.label) if columns.label else [""] * len(table.rows)
    rows = np.sort(np.random.default_rng(0).permutation(len(texts))[: TEXTS.most]).tolist()
    return lines_of((texts[row] for row in rows), (labels[row] for row in rows))


def check_chosen(chosen: Any) -> Chosen:
    """Valid rows with the key of their points; none for any other value."""
    match chosen:
        case [[*rows], str(key)] if all(type(row) is int and row >= 0 for row in rows):
            return tuple(rows), key
    return NONE_CHOSEN


def rows_of(chosen: Chosen, texts: Sequence[str]) -> tuple[int, ...]:
    rows, key = chosen
    return tuple(row for row in rows if row < len(texts)) if rows and key == key_of(texts) else ()


def is_typed(view: Any) -> bool:
    return view.source == SENTENCES


class PointsView(LongView):
    """The base of a map: its points, the choice of some of them, and the buttons that take sentences elsewhere."""

    source: str = choice((SENTENCES, WORDS, VOCABULARY), "Points", menu=True, elem_classes="inline")
    example: str = choice(EXAMPLE_SETS, "Fill with", menu=True, linked=False, elem_classes="inline", when=is_typed)
    sentences: str = text(example_lines(EXAMPLE_SETS[0]), PER_LINE, lines=7, max_lines=7, limit=BOX_CHARACTERS, when=is_typed)
    table: Table | None = upload(label="CSV file…", types=(".csv",), as_button=True, min_width=90, scale=0, when=is_typed)
    search: str = text("", "Search", placeholder="Points that contain this stand out")
    naming: str = text("", "Label of the selection", linked=False, when=lambda view: is_typed(view) and len(view.picked[0]) > 1)
    label = button("Label the selection", visible=False)
    send = button("Send to Train", visible=False)
    test = button("Use in an experiment", visible=False, more=True)
    compare = button("Compare two models", visible=False, more=True)
    pooling: str = pooling(more=True, line=True, when=is_typed)
    seed: int = number(0, "Seed (UMAP, t-SNE, vocabulary)", low=0, high=2**31 - 1, box=True, heard="submit", more=True, line=True)
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
        """Open Train with the selected sentences, or all, as its classes. Raises InputError for one label, and for too many."""
        classes: dict[str, list[str]] = {}
        for sentence, label in self._sent():
            classes.setdefault(UNLABELLED if label == NO_LABEL else label, []).append(sentence)
        if len(classes) < 2:
            raise InputError(FEW_LABELS)
        CARDS.check(len(classes))
        cards = tuple((name, tuple(lines)) for name, lines in classes.items())
        return Why("fine-tune", "Train", settings={"kind": "texts", "source": "Typed here", "classes": cards})

    def on_test(self, subject: Subject, index: None) -> Why:
        """Open a new experiment with the selected sentences, or all, as its items: text with a blank | its word | no foil.

        Without a foil, the model's best other guess is compared. The blank is the word that was searched for, or the last word
        that is a single piece; a text without one is left out. Raises InputError where fewer than two are left.
        """
        model, lines = subject.model, []
        for sentence, _ in self._sent():
            encoding = model.encode(sentence)
            words = [(encoding.word(group), encoding.offsets[group[0]]) for group in encoding.text_words if len(group) == 1]
            words = [one for one in words if one[0].isalpha()]
            wanted = [one for one in words if model.as_searched(one[0]) == model.as_searched(self.search.strip())] or words
            if wanted and not ODD.search(sentence):
                own, (start, end) = wanted[-1]
                lines.append(f"{sentence[:start]}{MASK}{sentence[end:]} | {own} |")
        if len(lines) < 2:
            raise InputError("An experiment needs two sentences or more, each with a word that is a single piece.")
        return Why("experiments", "New experiment", settings={"source": "typed", "typed": "\n".join(lines)})

    def on_compare(self, subject: Subject, index: None) -> Why:
        return Why("projection", "Two models or layers", settings={"texts": self.sentences})

    def _sent(self) -> list[tuple[str, str]]:
        """The selected sentences with their labels, all if fewer than two are selected."""
        texts, labels = read_lines(self.sentences)
        chosen = rows_of(self.picked, texts)
        return [(texts[row], labels[row]) for row in (sorted({*chosen}) if len(chosen) > 1 else range(len(texts)))]

    def read_points(self, subject: Subject) -> Generator[tuple[str, float], None, Points]:
        """The points of the source; yields a sentence about the work and its share done. Raises InputError."""
        model = subject.model
        if self.source == WORDS:
            encoding = subject.trace.encoding
            labels = ["special" if part < 0 else f"segment {'AB'[part]}" for part in encoding.sequences]
            texts, spans = (encoding.text_a, encoding.text_b), zip(encoding.sequences, encoding.offsets, strict=True)
            contexts = [("", "") if part < 0 else around(texts[part], *span) for part, span in spans]
            return Points(list(encoding.tokens), labels, subject.trace.hidden_states, contexts=contexts)
        if self.source == VOCABULARY:
            size = len(model.tokenizer)
            ids = np.random.default_rng(self.seed).permutation(size)[:SAMPLED_PIECES].tolist()
            pieces = model.pieces(ids)
            why = f"{len(ids):,} of {size:,} pieces, as the table of word embeddings has them: before any layer."
            return Points(pieces, [piece_kind(piece, model.writing) for piece in pieces], model.word_table[ids][None], why)
        return (yield from read_texts(model, *read_lines(self.sentences), self.pooling))

    def row_in(self, subject: Subject, points: Points) -> int | None:
        """The row of interest: the clicked one, or the selected token of the input."""
        if chosen := rows_of(self.picked, points.texts):
            return chosen[0] if len(chosen) == 1 else None
        return subject.token if self.source == WORDS else None

    def is_read_quickly(self, subject: Subject) -> bool:
        """Whether the points can be read in about a second."""
        return not is_typed(self) or reads_quickly(subject.model.capabilities, len(self.sentences) / LETTERS)
