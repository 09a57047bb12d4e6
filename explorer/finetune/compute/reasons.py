"""Why a classifier decided as it did."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.finetune.compute.texts import Classifier
from explorer.text.lines import Pair

MOST_WORDS = 60


@dataclass(frozen=True)
class Decision:
    """The probability of every label, and the effect of each word on the best one.

    `effects` [words] are how much its probability falls when the word is masked (-1 to 1).
    """

    probabilities: np.ndarray  # [labels]
    best: int  # the label with the highest probability
    words: tuple[str, ...]
    effects: np.ndarray
    without: np.ndarray  # [words, labels]: the probabilities with each word masked


def decide(classifier: Classifier, model: Explorer, pair: Pair) -> Decision:
    """Classify a text or pair, with the effects of its first MOST_WORDS words: occlusion (Zeiler & Fergus 2014)."""
    words, variants = _without_one_word(pair, model.tokenizer.mask_token)
    shares = classifier.classify(model, [pair, *variants])
    best = int(shares[0].argmax())
    return Decision(shares[0], best, tuple(words), shares[0, best] - shares[1:, best], shares[1:])


def _without_one_word(pair: Pair, mask: str) -> tuple[list[str], list[Pair]]:
    """The first MOST_WORDS words of both texts, and for each the pair with that word masked."""
    places = [(side, found) for side, text in enumerate(pair) for found in re.finditer(r"\w+(?:['’]\w+)*", text)][:MOST_WORDS]
    changed = [found.string[: found.start()] + mask + found.string[found.end() :] for _, found in places]
    variants = [(text, pair[1]) if side == 0 else (pair[0], text) for (side, _), text in zip(places, changed, strict=True)]
    return [found.group() for _, found in places], variants
