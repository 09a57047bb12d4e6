"""What training leaves: a head, the layers below it when they were trained too, and how to use both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.base.steps import finished
from explorer.model.explorer import Explorer
from explorer.model.features import features_in_steps
from explorer.text.pairs import Pair
from explorer.training.finetune import Top, evaluate
from explorer.training.head import Head
from explorer.training.prefix import hidden_in_steps


@dataclass(frozen=True, eq=False)
class Classifier:
    """A head over one hidden state of a model; `top` holds the trained copy of the layers up to it, if there is one."""

    labels: tuple[str, ...]
    head: Head
    model: str  # by name
    layer: int  # index of the hidden state: 0 to the number of layers
    pooling: str
    top: Top | None = None

    @property
    def layers_trained(self) -> int:
        """How many layers are not the model's own."""
        return len(self.top.layers) if self.top else 0

    def vectors(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, hidden] float32: what the head reads of every text or pair."""
        if self.top is None:
            return finished(features_in_steps(model, pairs, self.layer, self.pooling))
        states = finished(hidden_in_steps(model, pairs, self.layer - self.layers_trained))
        return evaluate(self.top, states, torch.arange(len(pairs))).numpy()

    def classify(self, model: Explorer, pairs: Sequence[Pair]) -> np.ndarray:
        """[texts, labels] probabilities of texts or pairs, read by the model that this was trained on."""
        return self.head.probabilities(self.vectors(model, pairs))
