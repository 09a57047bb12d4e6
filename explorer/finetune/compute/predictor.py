"""The result of a training: a head, the trained layers below it if there are any, and how to use both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.bert.features import POOLINGS, features_in_steps
from explorer.core.engine import torch
from explorer.core.errors import InputError
from explorer.core.steps import finished
from explorer.finetune.compute.finetune import evaluate
from explorer.finetune.compute.prefix import hidden_in_steps
from explorer.finetune.compute.top_layers import Top
from explorer.text.pairs import Pair
from explorer.training.head import Head


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A head over one hidden state of a model; `top` holds the trained copy of the layers below it, or None."""

    labels: tuple[str, ...]  # one per score of the head
    head: Head
    model: str  # by name
    layer: int  # index of the hidden state that the head reads: 0 to the number of layers
    pooling: str  # how the head's vectors are made from the hidden states
    top: Top | None = None

    kind: ClassVar[str]  # of task, in files and on the page
    measures: ClassVar[tuple[str, ...]]  # the measures of an epoch; the second is the one that decides
    poolings: ClassVar[tuple[str, ...]]
    every_token: ClassVar[bool] = False  # whether the layers below the head give the vectors of all tokens, whatever the pooling
    own_labels: ClassVar[tuple[str, ...]] = ()  # the fixed labels of a kind that does not take them from the examples

    @abstractmethod
    def sample(self, model: Explorer) -> np.ndarray:
        """Scores of one or two sample texts: all must be finite for an uploaded predictor to be accepted."""

    @property
    def layers_trained(self) -> int:
        """The number of layers that were trained with the head."""
        return len(self.top.layers) if self.top else 0


Kind = TypeVar("Kind", bound=Predictor)


def of_kind(predictor: Predictor, kind: type[Kind]) -> Kind:
    """The predictor, typed as one of this kind. Raises InputError when it is of another."""
    if not isinstance(predictor, kind):
        raise InputError(f"This run is of another kind: it has a {type(predictor).__name__}, not a {kind.__name__}.")
    return predictor


SAMPLES = (("a word, or two", ""), ("one", "and another"))


class TextPredictor(Predictor):
    """A predictor with one vector per text or pair."""

    poolings = POOLINGS

    def sample(self, model: Explorer) -> np.ndarray:
        """[2, labels] scores of a sample text and a sample pair."""
        return self.head.outputs(self.vectors(model, SAMPLES))

    def vectors(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, hidden] float32: the vector of every text or pair that the head reads."""
        if self.top is None:
            return finished(features_in_steps(model, pairs, self.layer, self.pooling))
        states = finished(hidden_in_steps(model, pairs, self.layer - self.layers_trained))
        return evaluate(self.top, states, torch.arange(len(pairs))).numpy()


class Classifier(TextPredictor):
    """Chooses one of several labels for a text or a pair."""

    kind = "classes"
    measures = ("loss", "accuracy", "macro_f1")

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities for texts or pairs, with the model on which it was trained."""
        return self.head.probabilities(self.vectors(model, pairs))


class Regressor(TextPredictor):
    """Estimates a number for a text or a pair."""

    kind = "number"
    measures = ("loss", "spearman", "pearson")
    own_labels = ("number",)

    def estimate(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts] numbers of texts or pairs, on the scale of the examples."""
        return self.head.outputs(self.vectors(model, pairs))[:, 0]
