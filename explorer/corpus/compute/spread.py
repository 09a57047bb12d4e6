"""The mean cosine of tokens of different sentences at every hidden state of a corpus."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from explorer.core.engine import torch
from explorer.corpus.compute.word_states import WordStates

CONFIDENT = 1.96  # standard errors on each side of the mean


@dataclass(frozen=True)
class Spread:
    """`cosine` [layers + 1]: the mean over all pairs of tokens of different sentences; NaN where there is one sentence.

    `error` [layers + 1] is its standard error, by leaving out one sentence after the other (the jackknife).
    """

    tokens: int
    cosine: np.ndarray
    error: np.ndarray

    @property
    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends [layers + 1] of the 95% interval."""
        return self.cosine - CONFIDENT * self.error, self.cosine + CONFIDENT * self.error


def spread_in_steps(words: WordStates) -> Generator[float, None, Spread]:
    """The mean cosine at every hidden state, over all tokens that are pieces of words; yields the share done, 0 to 1.

    What Ethayarajh 2019, section 3.4, estimates from samples is exact here: the cosines of all pairs add up to the squared length
    of the sum of all unit vectors. Pairs within a sentence, which are similar because they share a context, are subtracted in the
    same way.
    """
    _, word = words.tokens()
    sentences, place = np.unique(words.sentence, return_inverse=True)
    counts = np.bincount(place[word]).astype(np.int64)
    several = len(sentences) > 1
    cosine, error = np.full((2, len(words.layers)), np.nan)
    for state, layer in enumerate(words.layers):
        if several:
            cosine[state], error[state] = _mean_cosine(_sums(words, layer, place, len(sentences)), counts)
        yield (state + 1) / len(words.layers)
    return Spread(len(word), cosine, error)


def _sums(words: WordStates, layer: int, place: np.ndarray, sentences: int) -> np.ndarray:
    """[sentences, hidden] float32 the sum of the unit vectors of each sentence's tokens; `place` [words] is the sentence."""
    sums = torch.zeros(sentences, words.width)
    for part, block in words.blocks():
        rows, word = block.tokens()
        unit = torch.nn.functional.normalize(torch.from_numpy(words.read.at(layer)[rows]).float(), dim=1)
        sums.index_add_(0, torch.from_numpy(place[part][word]), unit)
    return sums.numpy()


def _mean_cosine(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """The mean cosine of two tokens of different sentences, and its standard error, from the `_sums` and numbers of tokens."""
    every = sums.sum(axis=0, dtype=np.float64)
    own = np.square(sums, dtype=np.float64).sum(axis=1)
    total, pairs = float(every @ every - own.sum()), int(counts.sum() ** 2 - (counts**2).sum())
    less, fewer = 2 * (sums @ every - own), 2 * counts * (counts.sum() - counts)  # of each sentence, with all others
    if (pairs == fewer).any():  # of two sentences, none is left without one
        return total / pairs, np.nan
    without = (total - less) / (pairs - fewer)
    return total / pairs, float(np.sqrt((len(sums) - 1) * without.var()))
