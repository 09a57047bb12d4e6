"""One word in many contexts: where its sentences come from, and its vectors in them."""

import csv
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.contextuality import find_word, repeated_words, word_vectors
from explorer.base.errors import InputError
from explorer.base.paths import EXAMPLES

if TYPE_CHECKING:
    from explorer.model.explorer import Explorer


@dataclass(frozen=True)
class Contexts:
    """A word's vectors [layers + 1, contexts, hidden], with the text and the sense of each context."""

    vectors: np.ndarray
    texts: list[str]
    senses: list[str]


@functools.cache
def senses() -> dict[str, str]:
    """Ready examples: for each word its sentences, one a line, with the sense after a |."""
    with (EXAMPLES / "senses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = dict.fromkeys(row["word"] for row in rows)
    return {w: "\n".join(f"{row['text']} | {row['label']}" for row in rows if row["word"] == w) for w in words}


def comparable_words(texts: Sequence[str]) -> list[str]:
    """The words that occur at least twice, those of one to three letters last."""
    return sorted(repeated_words(texts), key=lambda word: (len(word) < 4, len(word) < 3))


def contexts_of(model: "Explorer", texts: Sequence[str], labels: Sequence[str], word: str) -> Contexts:
    """Every occurrence of the word in the texts, each read by itself; texts without it are left out.

    Raises InputError when it occurs fewer than twice.
    """
    vectors, found, kept = [], [], []
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        trace = model.trace(text)
        try:
            occurrences = find_word(text, word, trace.encoding.offsets, f"sentence {number}")
        except InputError:
            continue
        for tokens in occurrences:
            vectors.append(word_vectors(trace.hidden_states, tokens))
            found.append(text)
            kept.append(label)
    if len(vectors) < 2:
        lead = f"The word {word.strip()[:40]!r} occurs" if word and word.strip() else "No word occurs"
        raise InputError(f"{lead} fewer than twice here; choose other sentences or another word.")
    return Contexts(np.stack(vectors, axis=1), found, kept)
