"""What training leaves: a head, the layers below it when they were trained too, and how to use both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from explorer.base.engine import torch
from explorer.base.errors import InputError
from explorer.base.steps import finished
from explorer.model.explorer import Explorer
from explorer.model.features import POOLINGS, features_in_steps
from explorer.text.pairs import Pair
from explorer.training.finetune import evaluate
from explorer.training.head import Head
from explorer.training.prefix import hidden_in_steps
from explorer.training.top_layers import Top


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A head over one hidden state of a model; `top` holds the trained copy of the layers up to it, if there is one."""

    labels: tuple[str, ...]  # what the scores of the head are of
    head: Head
    model: str  # by name
    layer: int  # index of the hidden state: 0 to the number of layers
    pooling: str  # which vectors the head reads
    top: Top | None = None

    kind: ClassVar[str]  # of task, in files and in the page
    measures: ClassVar[tuple[str, ...]]  # what an epoch tells of it; the second is what it is judged by
    poolings: ClassVar[tuple[str, ...]]
    every_token: ClassVar[bool] = False  # whether the layers below the head give the vectors of all tokens, whatever the pooling
    own_labels: ClassVar[tuple[str, ...]] = ()  # what the labels always are, of a kind that has none of the examples'

    @abstractmethod
    def sample(self, model: Explorer) -> np.ndarray:
        """What it says of a text or two, all numbers: whoever brings a predictor is asked for it."""

    @property
    def layers_trained(self) -> int:
        """How many layers are not the model's own."""
        return len(self.top.layers) if self.top else 0


Kind = TypeVar("Kind", bound=Predictor)


def of_kind(predictor: Predictor, kind: type[Kind]) -> Kind:
    """The predictor of a task of this kind. Raises InputError when it is of another."""
    if not isinstance(predictor, kind):
        raise InputError(f"This run is of another kind: it has a {type(predictor).__name__}, not a {kind.__name__}.")
    return predictor


SAMPLES = (("a word, or two", ""), ("one", "and another"))


class TextPredictor(Predictor):
    """A predictor that reads one vector of a text or a pair."""

    poolings = POOLINGS

    def sample(self, model: Explorer) -> np.ndarray:
        """[2, labels] scores of a text and a pair."""
        return self.head.outputs(self.vectors(model, SAMPLES))

    def vectors(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, hidden] float32: what the head reads of every text or pair."""
        if self.top is None:
            return finished(features_in_steps(model, pairs, self.layer, self.pooling))
        states = finished(hidden_in_steps(model, pairs, self.layer - self.layers_trained))
        return evaluate(self.top, states, torch.arange(len(pairs))).numpy()


class Classifier(TextPredictor):
    """Which of some labels a text or a pair has."""

    kind = "classes"
    measures = ("loss", "accuracy", "macro_f1")

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities of texts or pairs, read by the model that this was trained on."""
        return self.head.probabilities(self.vectors(model, pairs))


class Regressor(TextPredictor):
    """How much of something a text or a pair has: a number."""

    kind = "number"
    measures = ("loss", "spearman", "pearson")
    own_labels = ("number",)

    def estimate(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts] numbers of texts or pairs, on the scale of the examples."""
        return self.head.outputs(self.vectors(model, pairs))[:, 0]
