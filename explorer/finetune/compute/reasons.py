"""Why a classifier decided as it did."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import LAST_FOUR, states_read
from explorer.core.engine import torch
from explorer.finetune.compute.texts import Classifier, Regressor
from explorer.finetune.compute.top_layers import Top
from explorer.techniques.attribution import Path, integrated_gradients
from explorer.techniques.targets import Target
from explorer.text import limits
from explorer.text.lines import Pair

REASONS = ("occlusion", "integrated_gradients")
MOST_WORDS = 60
FIRST_STEPS, FEWEST_STEPS = 48, 8
PATH_TOKENS = 4096  # tokens of all steps together: long texts get fewer steps, so that the answer stays quick


@dataclass(frozen=True)
class Decision:
    """The probability of every label, and the effect of each word on the best one.

    `effects` [words] are, for occlusion, how much the probability falls when the word is masked (-1 to 1); for integrated
    gradients they are shares of the log-odds ln(p / (1 - p)), with the `path` along which they were summed.
    """

    probabilities: np.ndarray  # [labels]
    best: int  # the label with the highest probability
    words: tuple[str, ...]
    effects: np.ndarray
    path: Path | None = None
    without: np.ndarray | None = None  # [words, labels]: the probabilities with each word masked, of occlusion only


def decide(classifier: Classifier, model: Explorer, pair: Pair, method: str = "occlusion") -> Decision:
    """Classify a text or pair, with the effects of its first MOST_WORDS words. Raises InputError for an unknown method.

    Occlusion (Zeiler & Fergus 2014) masks one word at a time. Integrated gradients (Sundararajan et al. 2017) go from [PAD] in
    place of every piece to the text, in as many steps as are needed to sum up to the change, or as PATH_TOKENS allow.
    """
    if limits.check_choice(method, "the method", REASONS) == "integrated_gradients":
        return _integrated(classifier, model, pair)
    words, variants = _without_one_word(pair, model.tokenizer.mask_token)
    shares = classifier.classify(model, [pair, *variants])
    best = int(shares[0].argmax())
    return Decision(shares[0], best, tuple(words), shares[0, best] - shares[1:, best], without=shares[1:])


def estimate_without(predictor: Regressor, model: Explorer, pair: Pair) -> tuple[float, list[str], np.ndarray]:
    """The estimate for a text or pair, its first MOST_WORDS words, and how much lower it is with each masked (occlusion)."""
    words, variants = _without_one_word(pair, model.tokenizer.mask_token)
    said = predictor.estimate(model, [pair, *variants])
    return float(said[0]), words, said[0] - said[1:]


def _without_one_word(pair: Pair, mask: str) -> tuple[list[str], list[Pair]]:
    """The first MOST_WORDS words of both texts, and for each the pair with that word masked."""
    places = [(side, found) for side, text in enumerate(pair) for found in re.finditer(r"\w+(?:['’]\w+)*", text)][:MOST_WORDS]
    changed = [found.string[: found.start()] + mask + found.string[found.end() :] for _, found in places]
    variants = [(text, pair[1]) if side == 0 else (pair[0], text) for (side, _), text in zip(places, changed, strict=True)]
    return [found.group() for _, found in places], variants


def _integrated(classifier: Classifier, model: Explorer, pair: Pair) -> Decision:
    shares = classifier.classify(model, [pair])[0]
    best = int(shares.argmax())
    trace = model.trace(*pair)
    encoding, target = trace.encoding, Target("classifier", 0, best, classifier.labels[best])
    score = log_odds(classifier, model, encoding.segments, best)
    most = max(FEWEST_STEPS, PATH_TOKENS // trace.kept)
    found = integrated_gradients(trace, target, steps := min(FIRST_STEPS, most), logit=score)
    while found.path is not None and not found.path.sums_up and 2 * steps <= most:
        found = integrated_gradients(trace, target, steps := 2 * steps, logit=score)
    groups = encoding.text_words[:MOST_WORDS]
    effects = np.array([found.scores[group].sum() for group in groups])
    return Decision(shares, best, tuple(map(encoding.word, groups)), effects, found.path)


def log_odds(
    classifier: Classifier, model: Explorer, segments: Sequence[int], label: int
) -> Callable[[torch.Tensor], torch.Tensor]:
    """The log-odds [batch] of a label (by index) as a function of word embeddings [batch, tokens, hidden], float32.

    Unlike a label's score, they do not change when all scores rise together, which leaves the probabilities as they are.
    """
    top = classifier.top
    if top is None:
        read = states_read(classifier.layer) if classifier.pooling == LAST_FOUR else slice(classifier.layer, None)
        top = Top(model, classifier.layer, classifier.layer - read.start, classifier.pooling).freeze()
    frozen = model.layers[: classifier.layer - len(top.layers)]
    places = torch.tensor(segments)

    def score(words: torch.Tensor) -> torch.Tensor:
        hidden = model.embed_words(words, places)
        for layer in frozen:
            hidden = layer(hidden)
        scores = classifier.head.scores(top(hidden, torch.ones(words.shape[:2], dtype=torch.bool)))
        others = torch.cat([scores[:, :label], scores[:, label + 1 :]], dim=1)
        return scores[:, label] - others.logsumexp(1)

    return score
