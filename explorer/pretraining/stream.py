"""All batches of a run, each a pure function of (seed, step).

Nothing is shuffled and no position is stored, so a resumed run reads exactly what the uninterrupted one would have, and any
process can make any batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import InputError
from explorer.pretraining import choosing, sampling
from explorer.pretraining.batches import Batch, Vocabulary, collate
from explorer.pretraining.corpus import Corpus
from explorer.pretraining.sampling import Example

WALK = 1_000_003  # starting sentences between the walks of two seeds
VERY_SHORT = 10  # pieces


@dataclass(frozen=True)
class Mixture:
    """The shares of the kinds of batches; every batch has about `pieces` pieces."""

    pieces: int = 4096
    length: int = 128
    long_length: int = 512
    short_length: int = 64
    pairs: float = 0.5  # A and B fill `length`
    short_pairs: float = 0.1  # one sentence each, `short_length` together
    singles: float = 0.22  # one sentence of at most `short_length`, no B, all of one length
    long_pairs: float = 0.07  # A and B fill `long_length`
    packs: float = 0.11  # contiguous text of `long_length`, no B
    near: float = 0.0  # of the NotNext pairs: B comes from the same document
    foreign: float = 0.0  # of the other NotNext pairs: B comes from any of the texts, drawn by their shares
    unfinished: float = 0.0  # of the batches of singles and short pairs: without the final marks
    very_short: float = 0.0  # of the batches of singles: at most VERY_SHORT pieces, each length equally often
    one_blank: float = 0.0  # of the batches of singles: one content word is chosen in each
    whole_words: float = 0.0  # of all batches: whole words are chosen
    every_place: float = 0.0  # of all batches: a chosen content word is chosen at every place where it occurs


class Source:
    """One text of a run, and the sentences at which its inputs can begin."""

    def __init__(self, corpus: Corpus, mixture: Mixture) -> None:
        self.corpus = corpus
        self.pair_starts = self.long_starts = np.empty(0, dtype=np.int64)
        if corpus.has_pairs:
            self.pair_starts = sampling.starting_sentences(corpus, 1, 2)
            self.long_starts = sampling.starting_sentences(corpus, mixture.long_length * 3 // 4, 2)
        lengths = np.diff(corpus.sentence_starts)  # [sentences]
        self.by_length = lengths.argsort(kind="stable")  # [sentences] shortest first
        self.sorted_lengths = lengths[self.by_length]

    def of_length(self, length: int) -> tuple[int, int]:
        """The range of `by_length` with the sentences of exactly `length` pieces."""
        low, high = np.searchsorted(self.sorted_lengths, [length, length + 1])
        return int(low), int(high)


class BatchStream:
    """`stream.batch(step)`: a batch from one of the texts, drawn by their shares, which are divided by their sum.

    A text whose documents all have one sentence has no pairs and gives single sentences only.
    """

    def __init__(self, texts: Sequence[tuple[float, Corpus]], vocabulary: Vocabulary, mixture: Mixture, seed: int) -> None:
        shares = np.array([share for share, _ in texts])
        if not len(shares) or shares.min() < 0 or not shares.sum():
            raise InputError("The shares of the texts must not be below 0, and one must be above.")
        self.shares = shares / shares.sum()
        self.sources = [Source(corpus, mixture) for _, corpus in texts]
        self.vocabulary, self.mixture, self.seed = vocabulary, mixture, seed

    def batch(self, step: int, rate: float = 0.15) -> Batch:
        """The batch of one step, masked at `rate`."""
        rng = np.random.default_rng([self.seed, step])
        source = self.sources[rng.choice(len(self.sources), p=self.shares)]
        examples = self._kind(source, rng)(source, step, rng)
        single = examples[0].b is None and len(examples[0]) <= self.mixture.short_length
        return collate(examples, self.vocabulary, rng, rate, self._choice(rng, single))

    def _kind(self, source: Source, rng: np.random.Generator) -> Callable[..., list[Example]]:
        """The kind of batch, drawn by share."""
        mix = self.mixture
        if not source.corpus.has_pairs:
            return self._singles
        kinds = (
            (mix.pairs, partial(self._pairs, mix.length)),
            (mix.short_pairs, self._short_pairs),
            (mix.singles, self._singles),
            (mix.long_pairs, partial(self._pairs, mix.long_length)),
            (mix.packs, self._packs),
        )
        shares = np.array([share for share, _ in kinds])
        return kinds[rng.choice(len(kinds), p=shares / shares.sum())][1]

    def _choice(self, rng: np.random.Generator, single: bool) -> choosing.Choice:
        """The chooser of the pieces to predict in a batch, `single` if it consists of single sentences."""
        if single and self.mixture.one_blank and rng.random() < self.mixture.one_blank:
            return choosing.one_blank(self.vocabulary.continues, self.vocabulary.content)
        words, everywhere = rng.random(2) < (self.mixture.whole_words, self.mixture.every_place)
        choice = choosing.whole_words(self.vocabulary.continues) if words else choosing.pieces
        return choosing.every_place(choice, self.vocabulary.content) if everywhere else choice

    def starts(self, step: int, count: int, among: NDArray[np.int64]) -> list[int]:
        """The sentences at which the inputs of a batch begin; another seed continues elsewhere in the text."""
        walked = self.seed * WALK + step * count
        return [sampling.evenly(walked + i, among) for i in range(count)]

    def _pairs(self, length: int, source: Source, step: int, rng: np.random.Generator) -> list[Example]:
        among = source.long_starts if length == self.mixture.long_length else source.pair_starts
        return [
            self._pair(source, start, length, rng) for start in self.starts(step, max(1, self.mixture.pieces // length), among)
        ]

    def _short_pairs(self, source: Source, step: int, rng: np.random.Generator) -> list[Example]:
        mix = self.mixture
        starts = self.starts(step, max(1, mix.pieces // mix.short_length), source.pair_starts)
        return self._typed([self._pair(source, start, mix.short_length, rng, 2) for start in starts], rng)

    def _pair(self, source: Source, start: int, length: int, rng: np.random.Generator, sentences: int | None = None) -> Example:
        others = None
        if self.mixture.foreign and rng.random() < self.mixture.foreign:
            drawn = self.sources[rng.choice(len(self.sources), p=self.shares)]
            others = None if drawn is source else drawn.corpus
        return sampling.pair(source.corpus, start, length, rng, sentences, self.mixture.near, others)

    def _singles(self, source: Source, step: int, rng: np.random.Generator) -> list[Example]:
        """Sentences of equal length, to avoid padding; each length is as frequent as in the text."""
        lengths = source.sorted_lengths
        if self.mixture.very_short and rng.random() < self.mixture.very_short:
            lengths = np.unique(lengths[: max(1, np.searchsorted(lengths, VERY_SHORT + 1))])
        length = int(lengths[rng.integers(len(lengths))])
        cut = min(length + 2, self.mixture.short_length)
        chosen = source.by_length[rng.integers(*source.of_length(length), size=max(1, self.mixture.pieces // cut))]
        return self._typed([sampling.single(source.corpus, int(s), cut) for s in chosen], rng)

    def _typed(self, examples: list[Example], rng: np.random.Generator) -> list[Example]:
        """The examples as people type them, sometimes without the final marks."""
        if self.mixture.unfinished and rng.random() < self.mixture.unfinished:
            return [sampling.unfinished(example, self.vocabulary.ends) for example in examples]
        return examples

    def _packs(self, source: Source, step: int, rng: np.random.Generator) -> list[Example]:
        length = self.mixture.long_length
        starts = rng.integers(source.corpus.sentences, size=max(1, self.mixture.pieces // length))
        return [sampling.pack(source.corpus, int(s), length) for s in starts]
