"""A head on features, with or without a hidden layer, and the scale that makes features of all layers equally trainable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.core.engine import no_grad, torch
from explorer.core.lazy import scipy
from explorer.training.settings import TrainingSettings


@dataclass(frozen=True)
class Head:
    """The scores of all labels for a pooled vector x: W x + b or, with a hidden layer, W relu(H x + c) + b."""

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

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """[texts, labels] scores for features [texts, hidden], differentiable."""
        if self.hidden_weight is not None:
            hidden = torch.nn.functional.linear(vectors, torch.from_numpy(self.hidden_weight), torch.from_numpy(self.hidden_bias))
            vectors = hidden.relu()
        return torch.nn.functional.linear(vectors, torch.from_numpy(self.weight), torch.from_numpy(self.bias))


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


def new_module(hidden: int, labels: int, settings: TrainingSettings, generator: torch.Generator) -> torch.nn.Sequential:
    """The layers of a new head: the last one starts at zero, a hidden one with random weights."""
    layers: list[torch.nn.Module] = []
    if settings.units:
        below = torch.nn.Linear(hidden, settings.units)
        # The input has a length of about 1, so standard normal weights give the units values around 1.
        torch.nn.init.normal_(below.weight, generator=generator)
        torch.nn.init.zeros_(below.bias)
        layers += [below, torch.nn.ReLU()]
    last = torch.nn.Linear(settings.units or hidden, labels)
    torch.nn.init.zeros_(last.weight)
    torch.nn.init.zeros_(last.bias)
    return torch.nn.Sequential(*layers, last)


@no_grad
def fill(module: torch.nn.Sequential, head: Head, scale: Scale) -> None:
    """Give a module for scaled features the weights of a head of the same form for unscaled ones."""
    first, last = module[0], module[-1]
    weight, bias = (head.weight, head.bias) if first is last else (head.hidden_weight, head.hidden_bias)
    below, above = torch.as_tensor(weight), torch.as_tensor(bias)
    if first is not last:
        last.weight.copy_(torch.from_numpy(head.weight))
        last.bias.copy_(torch.from_numpy(head.bias))
    first.weight.copy_(below * scale.size)
    first.bias.copy_(above + below @ scale.mean)


@no_grad
def as_head(module: torch.nn.Sequential, scale: Scale) -> Head:
    """The Head for unscaled features, from a module trained on scaled ones."""
    first, last = module[0], module[-1]
    if first is last:
        return Head(*scale.fold(last.weight, last.bias))
    return Head(last.weight.numpy().copy(), last.bias.numpy().copy(), *scale.fold(first.weight, first.bias))
