"""Heads that read one vector per text or pair, a classifier and a regressor; and word counts, which they have to beat."""

from __future__ import annotations

import re
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.analysis.evaluation import spearman
from explorer.bert.explorer import Explorer
from explorer.bert.features import POOLINGS, encode
from explorer.core.lazy import scipy, sklearn
from explorer.core.steps import finished
from explorer.finetune.compute.in_turn import Heads, one_hot, solve
from explorer.finetune.compute.layers import Prefix, Ragged, hidden_in_steps, text_features
from explorer.finetune.compute.predictor import HeldOutLabels, HeldOutPairs, Predictor, Reads
from explorer.text.lines import Pair
from explorer.training.examples import Examples, ScoredExamples, Split, leave_one_out
from explorer.training.head import Numbers

MOST_WORDS = 60  # whose effects are measured
WORDS_C = 3  # how little the weights of words are kept small


@dataclass(frozen=True, eq=False)
class HeldOutTexts(HeldOutLabels, HeldOutPairs):
    """Held-out texts or pairs with a label each."""

    epochs: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.float32))
    """[epochs, examples, labels]: the probabilities after each epoch, where layers were trained on few examples."""

    arrays = ("probabilities", "epochs")


@dataclass(frozen=True, eq=False)
class HeldOutNumbers(HeldOutPairs):
    """Held-out texts or pairs with a number each."""

    targets: np.ndarray  # [examples]
    said: np.ndarray  # [examples]

    arrays = ("targets", "said")


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


class TextPredictor(Predictor):
    """A predictor with one vector per text or pair."""

    poolings = POOLINGS
    auto_class = "AutoModelForSequenceClassification"

    @classmethod
    def read(cls, model: Explorer, inputs: Sequence[Pair], reads: Reads) -> Generator[float, None, Prefix]:
        """Vectors of the texts, or the hidden states below the trained layers."""
        states: np.ndarray | Ragged
        if reads.layers_trained:
            states = yield from hidden_in_steps(model, encode(model, inputs), reads.layer - reads.layers_trained)
        else:
            states = yield from text_features(model, inputs, reads.layer, reads.pooling)
        return Prefix(states, every := np.arange(len(inputs)), every)


class Classifier(TextPredictor):
    """Chooses one of several labels for a text or a pair."""

    kind, does, asked_by = "classes", "distinguishes labels", "/classify"
    learns, record = Examples, HeldOutTexts
    opened_by = 'pipeline("text-classification", "FOLDER", top_k=None)'

    @classmethod
    def hold_out(cls, examples: Examples, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOutTexts:
        return HeldOutTexts(*_texts(examples, rows), examples.targets[rows], scipy.special.softmax(scores, axis=-1))

    @classmethod
    def baselines(cls, examples: Examples, parts: Split) -> dict[str, float]:
        """The accuracy of the most frequent label, and of logistic regression on the tf-idf of words and word pairs.

        Where all examples are trained on, the words are counted under leave-one-out, and the most frequent label is that of all.
        """
        if len(parts.train) == len(examples):
            return {"most frequent": max(examples.counts.values()) / len(examples), "bag of words": words_in_turn(examples)}
        targets = examples.targets
        majority = int(np.bincount(targets[parts.train]).argmax())
        words = _from_words(examples, parts, sklearn.linear_model.LogisticRegression(C=WORDS_C, max_iter=200), targets, majority)
        predicted = {"most frequent": majority, "bag of words": words}
        return {name: float((targets[parts.held_out] == labels).mean()) for name, labels in predicted.items()}

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities for texts or pairs, with the model on which it was trained."""
        return self.head.probabilities(self.vectors(finished(self.read(model, pairs, self))))

    def decide(self, model: Explorer, pair: Pair) -> Decision:
        """Classify a text or pair, with the effects of its first MOST_WORDS words: occlusion (Zeiler & Fergus 2014)."""
        words, variants = _without_one_word(pair, model.tokenizer.mask_token)
        shares = self.classify(model, [pair, *variants])
        best = int(shares[0].argmax())
        return Decision(shares[0], best, tuple(words), shares[0, best] - shares[1:, best], shares[1:])


class Regressor(TextPredictor):
    """Estimates a number for a text or a pair."""

    kind, does, asked_by = "number", "gives a number", "the page"
    learns, record = ScoredExamples, HeldOutNumbers
    measures = ("loss", "spearman", "pearson")
    own_labels = ("number",)
    opened_by = 'pipeline("text-classification", "FOLDER", function_to_apply="none")'

    @classmethod
    def objective(cls, examples: ScoredExamples, prefix: Prefix, parts: Split) -> Numbers:
        return Numbers(examples.numbers, parts.train)

    @classmethod
    def hold_out(cls, examples: ScoredExamples, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOutNumbers:
        return HeldOutNumbers(*_texts(examples, rows), np.array(examples.numbers, dtype=np.float32)[rows], scores[:, 0])

    @classmethod
    def baselines(cls, examples: ScoredExamples, parts: Split) -> dict[str, float]:
        """Spearman correlation of ridge regression on the tf-idf of words and word pairs with the held-out numbers, -1 to 1."""
        numbers = np.array(examples.numbers)
        said = _from_words(examples, parts, sklearn.linear_model.Ridge(), numbers, numbers[parts.train].mean())
        return {"bag of words": spearman(said, numbers[parts.held_out])}

    def estimate(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts] numbers of texts or pairs, on the scale of the examples."""
        return self.scores(model, pairs)[:, 0]


def _texts(examples: Examples, rows: np.ndarray) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of these examples, and their second texts."""
    texts, texts_b = zip(*(examples.pairs[row] for row in rows), strict=True)
    return texts, texts_b


def _without_one_word(pair: Pair, mask: str) -> tuple[list[str], list[Pair]]:
    """The first MOST_WORDS words of both texts, and for each the pair with that word masked."""
    places = [(side, found) for side, text in enumerate(pair) for found in re.finditer(r"\w+(?:['’]\w+)*", text)][:MOST_WORDS]
    changed = [found.string[: found.start()] + mask + found.string[found.end() :] for _, found in places]
    variants = [(text, pair[1]) if side == 0 else (pair[0], text) for (side, _), text in zip(places, changed, strict=True)]
    return [found.group() for _, found in places], variants


def words_in_turn(examples: Examples) -> float:
    """The accuracy of the bag of words under leave-one-out, 0 to 1.

    All classes weigh the same in it: the class of a text that is left out would otherwise be the rarest, and never be guessed for
    unknown words.
    """
    seen, right, every = leave_one_out(examples), one_hot(examples), np.arange(len(examples))
    products = np.zeros((*seen.shape, len(examples)))
    for fold, kept in enumerate(seen):
        products[fold] = sum((words @ words.T).toarray() for _, words in _count_words(examples, Split(every[kept], every)))
    counts = seen @ right  # [folds, classes]
    balance = seen.sum(1, keepdims=True) / np.maximum(counts, 1) / (counts > 0).sum(1, keepdims=True)
    heads = Heads(seen * balance[:, examples.targets], products, right)
    said = heads.of_left_out(solve(heads, 1 / WORDS_C)).argmax(1)
    return float((said == examples.targets).mean())


def _count_words(examples: Examples, split: Split) -> list[tuple[Any, Any]]:
    """For the texts, and for the second ones, the sparse tf-idf of those to train on, and with their vocabulary of the others."""
    matrices = []
    for texts in filter(None, (examples.texts, examples.texts_b)):  # the second text has its own vocabulary
        counter = sklearn.feature_extraction.text.TfidfVectorizer(
            ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b|[^\w\s]"
        )
        try:
            seen = counter.fit_transform([texts[row] for row in split.train])
        except ValueError:  # no words at all
            continue
        matrices.append((seen, counter.transform([texts[row] for row in split.held_out])))
    return matrices


def _from_words(examples: Examples, split: Split, method: Any, targets: np.ndarray, otherwise: float) -> np.ndarray:
    """Predictions of a scikit-learn method for the held-out texts from tf-idf, or `otherwise` for all if they have no words."""
    matrices = _count_words(examples, split)
    if not matrices:
        return np.full(len(split.held_out), otherwise)
    seen, held = map(scipy.sparse.hstack, zip(*matrices, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about not converging to the last digit
        return method.fit(seen, targets[split.train]).predict(held)
