"""Lengths of the vectors of a corpus and angles between them, at every hidden state; and how often the words occur."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from explorer.core.engine import torch
from explorer.corpus.compute.word_states import WordStates
from explorer.text.corpora import Corpus

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Spread:
    """The tokens of some words: `norms` [layers + 1, tokens] are their vectors' lengths, `word` [tokens] indices into `words`.

    `cosine` [layers + 1] is the mean cosine of two tokens of different sentences, NaN where there is only one sentence.
    """

    words: WordStates = field(repr=False)
    word: np.ndarray = field(repr=False)
    norms: np.ndarray = field(repr=False)
    cosine: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """[layers + 1] the mean length."""
        return self.norms.mean(axis=1, dtype=np.float64)

    @property
    def quartiles(self) -> np.ndarray:
        """[3, layers + 1] the quartiles of the lengths."""
        return np.quantile(self.norms, QUARTILES, axis=1)


def spread_in_steps(words: WordStates) -> Generator[float, None, Spread]:
    """Lengths and mean cosine at every hidden state, over all tokens that are pieces of words; yields the share done, 0 to 1.

    What Ethayarajh 2019, section 3.4, estimates from samples is exact here: the cosines of all pairs add up to the squared length
    of the sum of all unit vectors. Pairs within a sentence, which are similar because they share a context, are subtracted in the
    same way.
    """
    _, word = words.tokens()
    counts = np.bincount(words.sentence[word])
    pairs = len(word) ** 2 - int((counts.astype(np.int64) ** 2).sum())
    norms = np.empty((len(words.layers), len(word)), np.float32)
    cosine = np.full(len(words.layers), np.nan)
    for place, layer in enumerate(words.layers):
        summed = _summed_cosines(words, layer, norms[place])
        if pairs:
            cosine[place] = summed / pairs
        yield (place + 1) / len(words.layers)
    return Spread(words, word, norms, cosine)


def _summed_cosines(words: WordStates, layer: int, norms: np.ndarray) -> float:
    """The sum of the cosines of all pairs of tokens of different sentences, in both orders; fills in `norms` [tokens]."""
    every = torch.zeros(words.width, dtype=torch.float64)
    own, carried, last, done = 0.0, torch.zeros_like(every), -1, 0  # the last sentence of a block may continue in the next
    for _, block in words.blocks():
        rows, word = block.tokens()
        vectors = torch.from_numpy(words.read.at(layer)[rows]).float()
        lengths = vectors.norm(dim=1)
        norms[done : (done := done + len(rows))] = lengths.numpy()
        sentences, place = np.unique(block.sentence[word], return_inverse=True)
        unit = (vectors / lengths.clamp_min(1e-12)[:, None]).double()
        sums = torch.zeros(len(sentences), words.width, dtype=torch.float64).index_add(0, torch.from_numpy(place), unit)
        every += sums.sum(0)
        if sentences[0] == last:
            sums[0] += carried
        else:
            own += float(carried.square().sum())
        own += float(sums[:-1].square().sum())
        carried, last = sums[-1], sentences[-1]
    return float(every.square().sum() - carried.square().sum()) - own


@dataclass(frozen=True)
class WordTypes:
    """Different words, ignoring case, that contain a letter, the most frequent first.

    `counts` [types] is how often each is read, `norms` [layers + 1, types] the mean length of the vectors of its pieces.
    """

    types: list[str]
    counts: np.ndarray
    norms: np.ndarray = field(repr=False)


def word_types(spread: Spread, corpus: Corpus) -> WordTypes:
    """The different words among those whose lengths are known."""
    words = spread.words
    each = zip(words.sentence.tolist(), words.word.tolist(), strict=True)
    types, place = np.unique([corpus.sentences[one].words[at].casefold() for one, at in each], return_inverse=True)
    counts, of = np.bincount(place), place[spread.word]  # [tokens]
    norms = np.stack([np.bincount(of, lengths) for lengths in spread.norms]) / np.bincount(of)
    kept = [row for row in np.argsort(-counts, kind="stable").tolist() if any(map(str.isalpha, types[row]))]
    return WordTypes([str(types[row]) for row in kept], counts[kept], norms[:, kept])
