"""What the Projection tab draws: where its points come from, and the vector of each at every layer."""

import functools
import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.base.errors import InputError
from explorer.base.steps import map_steps
from explorer.page.wiring import View
from explorer.text.limits import MAX_TEXTS, check_texts
from explorer.text.lines import NO_LABEL, read_lines

SENTENCES, WORDS, FILE, VOCABULARY = "Sentences", "Words of the input", "CSV file", "Vocabulary"
SAMPLED_PIECES = 1_500
Row = dict[str, str]


@dataclass(frozen=True)
class Points:
    """One text and one label a point; states [layers + 1, n, hidden], or [1, n, hidden] where layers make no sense."""

    texts: list[str]
    labels: list[str]
    states: np.ndarray
    single: str = ""  # why there is only one layer

    @functools.cached_property
    def key(self) -> str:
        """The same for the same texts in the same order."""
        return hashlib.blake2b("\n".join(self.texts).encode(), digest_size=8).hexdigest()

    def index(self, layer: int) -> int:
        """The index in `states` of a hidden state."""
        return min(layer, len(self.states) - 1)


def read_points(
    view: View,
    source: str,
    pooling: str,
    sentences: str,
    rows: list[Row],
    columns: tuple[str | None, str | None],
    sampled: bool,
    seed: int,
) -> Generator[tuple[str, float], None, Points]:
    """The points of a source; yields what is being done and the share of it. Raises InputError."""
    if source == WORDS:
        return _words(view)
    if source == VOCABULARY:
        return _vocabulary(view, seed)
    texts, labels = _from_rows(rows, *columns, sampled, seed) if source == FILE else read_lines(sentences)
    from explorer.model.features import layer_features_in_steps  # loads torch

    steps = layer_features_in_steps(view.model, check_texts(texts), pooling)
    states = yield from map_steps(steps, lambda share: (f"Reading {len(texts):,} texts", share))
    single = "The pooler reads the last layer only." if pooling == "pooler" else ""
    return Points(texts, labels, states, single)


def _words(view: View) -> Points:
    encoding = view.trace.encoding
    parts = [
        "special" if kind == "special" else f"segment {'AB'[part]}"
        for kind, part in zip(encoding.kinds, encoding.sequences, strict=True)
    ]
    return Points(list(encoding.tokens), parts, view.trace.hidden_states)


def _vocabulary(view: View, seed: int) -> Points:
    tokenizer = view.model.tokenizer
    ids = np.random.default_rng(seed).permutation(len(tokenizer))[:SAMPLED_PIECES].tolist()
    pieces = tokenizer.convert_ids_to_tokens(ids)
    vectors = view.model.word_table[ids]
    why = f"{len(ids):,} of {len(tokenizer):,} pieces, as the table of word embeddings has them: before any layer."
    return Points(pieces, [piece_kind(piece) for piece in pieces], vectors[None], why)


def piece_kind(piece: str) -> str:
    """What a piece of the vocabulary is: a word, the rest of one, a number, a sign, or reserved."""
    if piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
        return "reserved"
    bare = piece.removeprefix("##")
    if any(character.isdigit() for character in bare):
        return "number"
    if len(bare) == 1:
        return "single sign"
    return "rest of a word" if piece.startswith("##") else "word"


def text_column_of(rows: Sequence[Row]) -> str:
    """The column called text, or else the one with the longest cells."""
    names = list(rows[0])
    return "text" if "text" in names else max(names, key=lambda name: sum(len(row[name]) for row in rows[:200]))


def too_many(rows: Sequence[Row]) -> bool:
    """Whether a file has more rows than a map takes."""
    return len(rows) > MAX_TEXTS


def _from_rows(
    rows: list[Row], text_column: str | None, label_column: str | None, sampled: bool, seed: int
) -> tuple[list[str], list[str]]:
    if not rows:
        raise InputError("There is no file yet; choose a CSV file with a line of column names.")
    if text_column not in rows[0] or (label_column is not None and label_column not in rows[0]):
        raise InputError("The file has no such column; choose one of its own.")
    kept = [row for row in rows if row[text_column].strip()]
    if not kept:
        raise InputError(f"The column {text_column[:40]!r} is empty in every row; choose another one.")
    if too_many(kept):
        if not sampled:
            raise InputError(
                f"The file has {len(kept):,} rows and a map takes {MAX_TEXTS:,}; tick the random sample, or shorten the file."
            )
        chosen = np.sort(np.random.default_rng(seed).choice(len(kept), MAX_TEXTS, replace=False))
        kept = [kept[i] for i in chosen]
    return [row[text_column] for row in kept], [(row[label_column] if label_column else "") or NO_LABEL for row in kept]
