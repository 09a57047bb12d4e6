"""Batches: examples with their special tokens, padded and masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.engine import transformers
from explorer.core.errors import InputError
from explorer.pretraining import choosing
from explorer.pretraining.sampling import Example
from explorer.text.masking import ordinary_ids, treat_pieces
from explorer.text.roles import FUNCTION_WORDS


@dataclass(frozen=True)
class Vocabulary:
    """The ids needed to build batches, and the kind of each id, [vocabulary]."""

    cls: int
    sep: int
    pad: int
    mask: int
    random: NDArray[np.int64]
    continues: NDArray[np.bool_]  # pieces that continue a word: '##ing'
    content: NDArray[np.bool_]  # whole words of letters, other than function words
    ends: NDArray[np.bool_]  # marks that can end a sentence

    @classmethod
    def of(cls, tokenizer: transformers.PreTrainedTokenizerBase) -> Vocabulary:
        """The vocabulary of a tokenizer. Raises InputError if it lacks one of BERT's special tokens."""
        begins, sep, pad, mask = (getattr(tokenizer, f"{name}_token_id") for name in ("cls", "sep", "pad", "mask"))
        if None in (begins, sep, pad, mask):
            raise InputError("The tokenizer needs [CLS], [SEP], [PAD] and [MASK] tokens.")
        tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        continues = np.array([token.startswith("##") for token in tokens])
        content = np.array([token.isalnum() and token not in FUNCTION_WORDS for token in tokens])
        ends = np.isin(tokens, [".", "!", "?"])
        return cls(begins, sep, pad, mask, ordinary_ids(tokens, tokenizer.all_special_ids), continues, content, ends)


@dataclass(frozen=True)
class Batch:
    """The input of one training step, [batch, tokens] unless noted."""

    input_ids: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]  # 0 at padding
    labels: NDArray[np.int64]  # original ids at the chosen places, IGNORED elsewhere
    next_labels: NDArray[np.int64] | None  # [batch] 0 IsNext, 1 NotNext; None when the inputs have no text B

    @property
    def pieces(self) -> int:
        """The number of pieces that are not padding."""
        return int(self.attention_mask.sum())


def collate(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    rate: float = 0.15,
    choose: choosing.Choice = choosing.pieces,
    shares: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> Batch:
    """[CLS] A [SEP] or [CLS] A [SEP] B [SEP] for each example, padded to the longest, then masked at `rate`.

    `choose` selects the positions, `shares` are those that become [MASK], become a random word, or stay.
    """
    rows = [_with_specials(example, vocabulary) for example in examples]
    shape = len(rows), max(len(ids) for ids, _ in rows)  # [batch, tokens]
    input_ids = np.full(shape, vocabulary.pad, dtype=np.int64)
    segments, attention_mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, (ids, b_start) in enumerate(rows):
        input_ids[row, : len(ids)] = ids
        segments[row, b_start : len(ids)] = 1
        attention_mask[row, : len(ids)] = 1
    special = (input_ids == vocabulary.cls) | (input_ids == vocabulary.sep) | (attention_mask == 0)
    chosen = choose(input_ids, ~special, rate, rng)
    masked = treat_pieces(input_ids, chosen, mask_id=vocabulary.mask, random_ids=vocabulary.random, rng=rng, shares=shares)
    labels = [example.next_label for example in examples]
    next_labels = None if None in labels else np.array(labels, dtype=np.int64)  # [batch]
    ids, originals = (one.astype(np.int64, copy=False) for one in (masked.input_ids, masked.labels))
    return Batch(ids, segments, attention_mask, originals, next_labels)


def _with_specials(example: Example, vocabulary: Vocabulary) -> tuple[NDArray[np.int64], int]:
    """The ids with [CLS] and [SEP], and the index at which segment B begins (the end if there is none)."""
    ids = [vocabulary.cls, *example.a.tolist(), vocabulary.sep]
    b_start = len(ids)
    if example.b is not None:
        ids += [*example.b.tolist(), vocabulary.sep]
    return np.array(ids, dtype=np.int64), b_start
