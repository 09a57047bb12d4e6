"""The strongest links of an attention head between the words of a sentence, beside the links of its parse tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.text.tagged import ROOT, Sentence


@dataclass(frozen=True)
class Links:
    """For each word (zero-based) its strongest link to another, -1 for none, and the words whose link is to their syntactic head.

    `forward`: the link of a word is the word that it attends to most; else the word that attends to it most.
    """

    linked: tuple[int, ...]
    right: tuple[int, ...]
    forward: bool


def word_weights(weights: np.ndarray, offsets: Sequence[tuple[int, int]], sentence: Sentence) -> np.ndarray:
    """[word, word] a head's `weights` [query, key] between words; -1 from a word to itself, and where a word was cut off.

    `offsets` are the characters of each token, an empty range for those that the tokenizer added. The weight from a word to
    another is the sum over its pieces, and the mean over the pieces of the word that looks (Clark et al. 2019, section 4.1).
    """
    ends = [start + len(word) for start, word in zip(sentence.starts, sentence.words, strict=True)]
    spans = list(zip(sentence.starts, ends, strict=True))
    pieces = np.array([[low < end and start < high for low, high in offsets] for start, end in spans], dtype=float)
    there = pieces.sum(1)
    linked = (pieces / np.maximum(there, 1)[:, None]) @ weights @ pieces.T
    np.fill_diagonal(linked, -1)
    linked[there == 0] = linked[:, there == 0] = -1
    return linked


def links_of(linked: np.ndarray, sentence: Sentence) -> Links:
    """The links in `word_weights` in the direction that is right for more words, by the rule of the atlas."""
    found = []
    for axis, forward in ((1, True), (0, False)):
        most = np.where(linked.max(axis) >= 0, linked.argmax(axis), -1).tolist()
        right = tuple(word for word, head in enumerate(sentence.heads) if head not in (ROOT, word) and most[word] == head)
        found.append(Links(tuple(most), right, forward))
    return max(found, key=lambda links: len(links.right))


def best_offset(sentence: Sentence) -> tuple[int, int]:
    """The distance at which most words have their syntactic head, negative to the left, and for how many it is right."""
    distances = [head - word for word, head in enumerate(sentence.heads) if head not in (ROOT, word)]
    return max(((distance, distances.count(distance)) for distance in sorted(set(distances))), key=lambda counted: counted[1])
