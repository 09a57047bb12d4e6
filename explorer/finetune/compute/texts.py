"""Heads that read one vector per text or pair: a classifier, and a regressor."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import POOLINGS
from explorer.core.lazy import scipy
from explorer.core.steps import finished
from explorer.finetune.compute.baselines import baselines, number_baselines
from explorer.finetune.compute.predictor import HeldOutLabels, HeldOutPairs, Predictor, Reads
from explorer.finetune.compute.prefix import Prefix, Ragged, hidden_in_steps, text_features
from explorer.text.lines import Pair
from explorer.training.examples import Examples, ScoredExamples, Split
from explorer.training.head import Classes, Numbers


@dataclass(frozen=True, eq=False)
class HeldOutTexts(HeldOutPairs, HeldOutLabels):
    """Held-out texts or pairs with a label each."""

    targets: np.ndarray
    probabilities: np.ndarray
    epochs: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.float32))
    """[epochs, examples, labels]: the probabilities after each epoch, where layers were trained on few examples."""

    arrays = ("probabilities", "epochs")
    indices = ("targets",)


@dataclass(frozen=True, eq=False)
class HeldOutNumbers(HeldOutPairs):
    """Held-out texts or pairs with a number each."""

    targets: np.ndarray  # [examples]
    said: np.ndarray  # [examples]

    arrays = ("targets", "said")


class TextPredictor(Predictor):
    """A predictor with one vector per text or pair."""

    poolings = POOLINGS
    auto_class = "AutoModelForSequenceClassification"

    @classmethod
    def read(cls, model: Explorer, inputs: Sequence[Pair], reads: Reads) -> Generator[float, None, Prefix]:
        """Vectors of the texts, or the hidden states below the trained layers."""
        states: np.ndarray | Ragged
        if reads.layers_trained:
            states = yield from hidden_in_steps(model, inputs, reads.layer - reads.layers_trained)
        else:
            states = yield from text_features(model, inputs, reads.layer, reads.pooling)
        return Prefix(states, every := np.arange(len(inputs)), every)


class Classifier(TextPredictor):
    """Chooses one of several labels for a text or a pair."""

    kind, does, asked_by = "classes", "distinguishes labels", "/classify"
    learns, record = Examples, HeldOutTexts
    measures = ("loss", "accuracy", "macro_f1")
    opened_by = 'pipeline("text-classification", "FOLDER", top_k=None)'

    @classmethod
    def objective(cls, examples: Examples, prefix: Prefix, parts: Split) -> Classes:
        return Classes(examples.targets, len(examples.classes))

    @classmethod
    def hold_out(cls, examples: Examples, prefix: Prefix, rows: np.ndarray, scores: np.ndarray) -> HeldOutTexts:
        return HeldOutTexts(*_texts(examples, rows), examples.targets[rows], scipy.special.softmax(scores, axis=-1))

    @classmethod
    def baselines(cls, examples: Examples, parts: Split) -> dict[str, float]:
        """The accuracy of the most frequent label, and of a bag of words."""
        return baselines(examples, parts)

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities for texts or pairs, with the model on which it was trained."""
        return self.head.probabilities(self.vectors(finished(self.read(model, pairs, self))))


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
        """The rank correlation of a bag of words and, for pairs, of the share of words in common."""
        return number_baselines(examples, parts)

    def estimate(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts] numbers of texts or pairs, on the scale of the examples."""
        return self.scores(model, pairs)[:, 0]


def _texts(examples: Examples, rows: np.ndarray) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of these examples, and their second texts."""
    texts, texts_b = zip(*(examples.pairs[row] for row in rows), strict=True)
    return texts, texts_b
