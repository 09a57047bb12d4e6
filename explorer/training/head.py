"""A head on features, and the scale that makes features of all layers equally trainable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.core.engine import no_grad, torch
from explorer.core.lazy import scipy


@dataclass(frozen=True)
class Head:
    """The scores of all labels for a pooled vector x: W x + b or, with a hidden layer (in older runs), W relu(H x + c) + b."""

    weight: np.ndarray  # [labels, hidden or units] float32
    bias: np.ndarray  # [labels] float32
    hidden_weight: np.ndarray | None = None  # [units, hidden] float32
    hidden_bias: np.ndarray | None = None  # [units] float32

    def probabilities(self, vectors: np.ndarray) -> np.ndarray:
        """[texts, labels] probabilities for features [texts, hidden]; every row sums to 1."""
        return scipy.special.softmax(self.outputs(vectors), axis=-1)

    def outputs(self, vectors: np.ndarray) -> np.ndarray:
        """[texts, labels] scores for features [texts, hidden]."""
        if self.hidden_weight is not None:
            vectors = np.maximum(vectors @ self.hidden_weight.T + self.hidden_bias, 0)
        return vectors @ self.weight.T + self.bias


@dataclass(frozen=True)
class Scale:
    """Scales features: zero mean, the same spread in every coordinate, and a mean squared length of 1.

    Adam's steps have the same size in every coordinate, however large the features are; once scaled, one learning rate suits
    every layer and pooling. The coordinates of the pooler differ most.
    """

    mean: torch.Tensor  # [hidden]
    size: torch.Tensor  # [hidden]

    @classmethod
    def of(cls, vectors: torch.Tensor) -> Scale:
        """The scale of the training vectors [n, hidden]."""
        deviation = vectors.std(0, correction=0)
        lowest = 1e-2 * deviation.mean().clamp_min(1e-4)  # a coordinate that hardly varies is noise and stays small
        return cls(vectors.mean(0), deviation.clamp_min(lowest) * vectors.shape[1] ** 0.5)

    def apply(self, vectors: torch.Tensor) -> torch.Tensor:
        return (vectors - self.mean) / self.size

    def fold(self, weight: torch.Tensor, bias: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Weight and bias of a linear layer on unscaled vectors, from those of the layer trained on scaled ones."""
        weight = weight / self.size
        return weight.numpy().copy(), (bias - weight @ self.mean).numpy().copy()


def new_module(hidden: int, labels: int) -> torch.nn.Linear:
    """A new head, which starts at zero."""
    module = torch.nn.Linear(hidden, labels)
    torch.nn.init.zeros_(module.weight)
    torch.nn.init.zeros_(module.bias)
    return module


@no_grad
def fill(module: torch.nn.Linear, head: Head, scale: Scale) -> None:
    """Give a module for scaled features the weights of a linear head for unscaled ones."""
    weight = torch.from_numpy(head.weight)
    module.weight.copy_(weight * scale.size)
    module.bias.copy_(torch.from_numpy(head.bias) + weight @ scale.mean)


@no_grad
def as_head(module: torch.nn.Linear, scale: Scale) -> Head:
    """The Head for unscaled features, from a module trained on scaled ones."""
    return Head(*scale.fold(module.weight, module.bias))
