"""Copying: a first guess that repeats a word of the input where another word was masked.

One content word is masked in each input. If the same word is in the input a second time, predicting it is right and not counted
as copying; how often that happens in a text tells how much a model is rewarded there for copying.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.core.engine import inference_mode, transformers
from explorer.pretraining.batches import Vocabulary, collate
from explorer.pretraining.choosing import one_word
from explorer.pretraining.losses import predict
from explorer.pretraining.sampling import Example
from explorer.text.masking import IGNORED

AT_ONCE = 4096  # pieces per batch


@dataclass(frozen=True)
class Copies:
    """Shares, 0..1, of `places` masked content words."""

    places: int
    copied: float  # the first guess is a content word of the input, and not the masked one
    right: float  # the first guess is the masked word
    repeated: float  # the masked word is in the input a second time


@inference_mode
def copies(model: transformers.BertForPreTraining, examples: Sequence[Example], vocabulary: Vocabulary, seed: int = 1) -> Copies:
    """Mask a content word in each example that has one, and compare the model's first guess."""
    rng = np.random.default_rng(seed)
    choose = one_word(vocabulary.continues, vocabulary.content)
    found = []
    left = sorted(examples, key=len, reverse=True)
    while left:
        size = max(1, AT_ONCE // (len(left[0]) + 3))
        batch = collate(left[:size], vocabulary, rng, choose=choose, shares=(1.0, 0.0, 0.0))
        left = left[size:]
        there = (batch.labels != IGNORED).any(axis=1)  # [batch]
        if there.any():
            guesses = predict(model, batch).mlm_logits.argmax(-1).cpu().numpy()  # [places]
            truths, inputs = batch.labels[batch.labels != IGNORED], batch.input_ids[there]  # [places], [places, tokens]
            seen = [(inputs == ids[:, None]).any(axis=1) for ids in (guesses, truths)]
            found.append([vocabulary.content[guesses] & seen[0] & (guesses != truths), guesses == truths, seen[1]])
    shares = np.concatenate(found, axis=1)  # [3, places]
    return Copies(shares.shape[1], *shares.mean(axis=1).tolist())
