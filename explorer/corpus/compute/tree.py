"""The strongest links of an attention head between the words of a sentence, beside the links of its parse tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.text.corpora import ROOT, CorpusSentence


@dataclass(frozen=True)
class Links:
    """For each word another word, zero-based; -1 where there is none, as behind what was cut off."""

    seen: tuple[int, ...]  # the one that it looks at most
    by: tuple[int, ...]  # the one that looks at it most

    def right(self, sentence: CorpusSentence) -> tuple[bool, list[int]]:
        """The words whose link is the one to their syntactic head, and in which direction that holds for more of them.

        True: words look at their heads. False: heads look at the words.
        """
        out, back = (
            [word for word, head in enumerate(sentence.heads) if head not in (ROOT, word) and found[word] == head]
            for found in (self.seen, self.by)
        )
        return len(out) >= len(back), max(out, back, key=len)


def word_weights(weights: np.ndarray, offsets: Sequence[tuple[int, int]], sentence: CorpusSentence) -> np.ndarray:
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


def links_of(linked: np.ndarray) -> Links:
    """The strongest links in `word_weights`, by the rule of the atlas."""
    ways = [(linked.argmax(axis), linked.max(axis)) for axis in (1, 0)]
    seen, by = (tuple(np.where(most >= 0, found, -1).tolist()) for found, most in ways)
    return Links(seen, by)


def best_offset(sentence: CorpusSentence) -> tuple[int, int]:
    """The distance at which most words have their syntactic head, negative to the left, and for how many it is right."""
    distances = [head - word for word, head in enumerate(sentence.heads) if head not in (ROOT, word)]
    return max(((distance, distances.count(distance)) for distance in sorted(set(distances))), key=lambda counted: counted[1])
