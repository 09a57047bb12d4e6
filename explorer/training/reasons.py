"""Why a classifier said what it said, and what training changed in the model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.model import Explorer
from explorer.training.classifier import Classifier
from explorer.training.examples import Pair

MOST_WORDS = 60


@dataclass(frozen=True)
class Decision:
    """The probability of every label, and for each word how much that of the best label falls when it is hidden."""

    probabilities: np.ndarray  # [labels]
    best: int  # the label with the highest probability
    words: tuple[str, ...]
    effects: np.ndarray  # [words], -1 to 1


def decide(classifier: Classifier, model: Explorer, pair: Pair) -> Decision:
    """Classify a text or pair, and hide one word after the other behind [MASK] (occlusion, Zeiler & Fergus 2014).

    Of a long text only the first MOST_WORDS words are tried.
    """
    words, variants = _without_one_word(pair, model.tokenizer.mask_token)
    shares = classifier.classify(model, [pair, *variants])
    best = int(shares[0].argmax())
    return Decision(shares[0], best, tuple(words), shares[0, best] - shares[1:, best])


def _without_one_word(pair: Pair, mask: str) -> tuple[list[str], list[Pair]]:
    """The words of both texts, and for each the pair with that word masked."""
    words, variants = [], []
    for side, text in enumerate(pair):
        for found in list(re.finditer(r"\w+(?:['’]\w+)*", text)):
            changed = text[: found.start()] + mask + text[found.end() :]
            words.append(found.group())
            variants.append((changed, pair[1]) if side == 0 else (pair[0], changed))
    return words[:MOST_WORDS], variants[:MOST_WORDS]


@dataclass(frozen=True)
class Change:
    """What training moved, over some texts."""

    drift: np.ndarray  # [hidden states]: 1 - cosine of each token's vector before and after, mean over tokens
    attention: np.ndarray  # [layers, heads]: half of the summed |after - before| of a row, mean over rows; 0 to 1


def compare(before: Explorer, after: Explorer, pairs: Sequence[Pair]) -> Change:
    """How far two models of one shape are apart, on texts or pairs."""
    drift, shift, tokens = 0.0, 0.0, 0
    for pair in pairs:
        first, second = before.trace(*pair), after.trace(*pair)
        one, other = first.hidden_states, second.hidden_states  # [layers + 1, tokens, hidden]
        lengths = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
        drift = drift + (1 - (one * other).sum(-1) / lengths).sum(-1)
        moved = [
            np.abs(second.attention(layer) - first.attention(layer)).sum((-1, -2)) / 2
            for layer in range(before.capabilities.layers)
        ]
        shift, tokens = shift + np.stack(moved), tokens + first.kept
    return Change(np.maximum(drift / tokens, 0), shift / tokens)
