"""Batches: examples with their special tokens, padded, masked; each one a pure function of (seed, step).

Nothing is shuffled and no position is remembered, so a resumed run reads exactly what the uninterrupted one would have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from explorer.base.errors import InputError
from explorer.pretraining import sampling
from explorer.pretraining.corpus import Corpus
from explorer.pretraining.sampling import Example
from explorer.text.masking import choose_pieces, ordinary_ids, treat_pieces

WALK = 1_000_003  # starting sentences between the walks of two seeds


@dataclass(frozen=True)
class Vocabulary:
    """The ids that batches are built with."""

    cls: int
    sep: int
    pad: int
    mask: int
    random: NDArray[np.int64]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> "Vocabulary":
        """Read them from a tokenizer; raises InputError if it lacks one of BERT's special tokens."""
        ids = [tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.mask_token_id]
        if None in ids:
            raise InputError("The tokenizer needs [CLS], [SEP], [PAD] and [MASK] tokens.")
        tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        return cls(*ids, random=ordinary_ids(tokens, tokenizer.all_special_ids))


@dataclass(frozen=True)
class Batch:
    """What one training step reads, [batch, tokens] unless said otherwise."""

    input_ids: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]  # 0 at padding
    labels: NDArray[np.int64]  # original ids at the chosen places, IGNORED elsewhere
    next_labels: NDArray[np.int64] | None  # [batch] 0 IsNext, 1 NotNext; None where the inputs have no B

    @property
    def pieces(self) -> int:
        """Pieces that are not padding."""
        return int(self.attention_mask.sum())


def collate(examples: Sequence[Example], vocabulary: Vocabulary, rng: np.random.Generator, rate: float = 0.15) -> Batch:
    """[CLS] A [SEP] or [CLS] A [SEP] B [SEP] for each example, padded to the longest, then masked at `rate`."""
    rows = [_with_specials(example, vocabulary) for example in examples]
    shape = len(rows), max(len(ids) for ids, _ in rows)  # [batch, tokens]
    input_ids = np.full(shape, vocabulary.pad, dtype=np.int64)
    segments, attention_mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, (ids, b_start) in enumerate(rows):
        input_ids[row, : len(ids)] = ids
        segments[row, b_start : len(ids)] = 1
        attention_mask[row, : len(ids)] = 1
    special = (input_ids == vocabulary.cls) | (input_ids == vocabulary.sep) | (attention_mask == 0)
    chosen = choose_pieces(~special, rate, rng)
    masked = treat_pieces(input_ids, chosen, mask_id=vocabulary.mask, random_ids=vocabulary.random, rng=rng)
    labels = [example.next_label for example in examples]
    next_labels = None if None in labels else np.array(labels, dtype=np.int64)  # [batch]
    return Batch(masked.input_ids, segments, attention_mask, masked.labels, next_labels)


def _with_specials(example: Example, vocabulary: Vocabulary) -> tuple[NDArray[np.int64], int]:
    """The ids with [CLS] and [SEP], and where segment B begins (the end if there is none)."""
    ids = [vocabulary.cls, *example.a.tolist(), vocabulary.sep]
    b_start = len(ids)
    if example.b is not None:
        ids += [*example.b.tolist(), vocabulary.sep]
    return np.array(ids, dtype=np.int64), b_start


@dataclass(frozen=True)
class Mixture:
    """Which kinds of batch are drawn, by share of the batches; every batch has about `pieces` pieces."""

    pieces: int = 4096
    length: int = 128
    long_length: int = 512
    short_length: int = 64
    pairs: float = 0.5  # A and B fill `length`
    short_pairs: float = 0.1  # one sentence each, `short_length` together
    singles: float = 0.22  # one sentence of at most `short_length`, no B, all of one length
    long_pairs: float = 0.07  # A and B fill `long_length`
    packs: float = 0.11  # contiguous text of `long_length`, no B


class BatchStream:
    """All batches of one run: `stream.batch(step)`."""

    def __init__(self, corpus: Corpus, vocabulary: Vocabulary, mixture: Mixture, seed: int) -> None:
        self.corpus, self.vocabulary, self.mixture, self.seed = corpus, vocabulary, mixture, seed
        self.pair_starts = sampling.starting_sentences(corpus, 1, 2)
        self.long_starts = sampling.starting_sentences(corpus, mixture.long_length * 3 // 4, 2)
        lengths = np.diff(corpus.sentence_starts)  # [sentences]
        self.by_length = lengths.argsort(kind="stable")  # [sentences] shortest first
        self.sorted_lengths = lengths[self.by_length]

    def batch(self, step: int, rate: float = 0.15) -> Batch:
        """The batch of one step, masked at `rate`."""
        rng = np.random.default_rng([self.seed, step])
        mix = self.mixture
        kinds = (
            (mix.pairs, lambda: self._pairs(step, rng, mix.length, self.pair_starts)),
            (mix.short_pairs, lambda: self._pairs(step, rng, mix.short_length, self.pair_starts, sentences=2)),
            (mix.singles, lambda: self._singles(rng)),
            (mix.long_pairs, lambda: self._pairs(step, rng, mix.long_length, self.long_starts)),
            (mix.packs, lambda: self._packs(rng)),
        )
        shares = np.array([share for share, _ in kinds])
        draw = kinds[rng.choice(len(kinds), p=shares / shares.sum())][1]
        return collate(draw(), self.vocabulary, rng, rate)

    def _starts(self, step: int, count: int, among: NDArray[np.int64]) -> list[int]:
        walked = self.seed * WALK  # a run with another seed goes on elsewhere in the text
        return [sampling.evenly(walked + step * count + i, among) for i in range(count)]

    def _pairs(
        self, step: int, rng: np.random.Generator, length: int, among: NDArray[np.int64], sentences: int | None = None
    ) -> list[Example]:
        starts = self._starts(step, max(1, self.mixture.pieces // length), among)
        return [sampling.pair(self.corpus, start, length, rng, sentences) for start in starts]

    def _singles(self, rng: np.random.Generator) -> list[Example]:
        """Sentences of one length, so that nothing is padded; the length as frequent as it is in the text."""
        lengths = self.sorted_lengths
        length = int(lengths[rng.integers(len(lengths))])
        low, high = np.searchsorted(lengths, [length, length + 1])
        cut = min(length + 2, self.mixture.short_length)
        chosen = self.by_length[rng.integers(low, high, size=max(1, self.mixture.pieces // cut))]
        return [sampling.single(self.corpus, int(s), cut) for s in chosen]

    def _packs(self, rng: np.random.Generator) -> list[Example]:
        length = self.mixture.long_length
        starts = rng.integers(self.corpus.sentences, size=max(1, self.mixture.pieces // length))
        return [sampling.pack(self.corpus, int(s), length) for s in starts]
