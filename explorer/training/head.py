"""A head on features, the scale that makes features of all layers equally trainable, and its loss for each kind of target."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from explorer.analysis.evaluation import pearson, spearman
from explorer.core.engine import no_grad, torch
from explorer.core.lazy import scipy, sklearn
from explorer.training.settings import TrainingSettings


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


class Scale(NamedTuple):
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

    @no_grad
    def fold(self, weight: torch.Tensor, bias: torch.Tensor) -> Head:
        """The linear head for unscaled vectors, from the weight and bias of the layer trained on scaled ones."""
        weight = weight / self.size
        return Head(weight.numpy(), (bias - weight @ self.mean).numpy())


@no_grad
def new_module(scale: Scale, outputs: int, begun: Head | None = None) -> torch.nn.Linear:
    """A linear head for scaled features, which starts at zero, or as the one for unscaled features that was `begun`."""
    module = torch.nn.Linear(len(scale.mean), outputs)
    weight = torch.zeros_like(module.weight) if begun is None else torch.from_numpy(begun.weight)
    bias = torch.zeros_like(module.bias) if begun is None else torch.from_numpy(begun.bias)
    module.weight.copy_(weight * scale.size)
    module.bias.copy_(bias + weight @ scale.mean)
    return module


class Objective(ABC):
    """The loss and the measures over rows, the texts, words or questions that are scored, by index."""

    outputs: int  # scores per vector

    @abstractmethod
    def loss(self, scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The loss of the scores [vectors, outputs] of `rows`."""

    @abstractmethod
    def measure(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[str, float]:
        """The loss and the predictor's other measures of the scores [vectors, outputs] of `rows`, by name."""

    def rescale(self, head: Head) -> Head:
        """The head whose scores are on the scale of the examples."""
        return head


class Solvable(Objective):
    """An objective of which the best linear head is known."""

    @abstractmethod
    def solve(self, inputs: np.ndarray, rows: np.ndarray, settings: TrainingSettings) -> tuple[np.ndarray, np.ndarray]:
        """The best weight [outputs, hidden] and bias [outputs] of a linear head for all of `rows`, without gradient steps."""


class Classes(Solvable):
    """One label per row: cross-entropy, in nats."""

    def __init__(self, targets: np.ndarray, labels: int) -> None:
        self.targets, self.outputs = torch.from_numpy(targets), labels

    def loss(self, scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The mean cross-entropy over the rows."""
        return torch.nn.functional.cross_entropy(scores, self.targets[rows])

    def measure(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[str, float]:
        """Cross-entropy, accuracy and macro-F1 (0 to 1): the mean F1 of the labels that occur, rare ones included."""
        targets, said = self.targets[rows].numpy(), scores.argmax(-1).numpy()
        f1 = sklearn.metrics.f1_score(targets, said, average="macro")
        return {"loss": self.loss(scores, rows).item(), "accuracy": float((targets == said).mean()), "macro_f1": float(f1)}

    def solve(self, inputs: np.ndarray, rows: np.ndarray, settings: TrainingSettings) -> tuple[np.ndarray, np.ndarray]:
        """Solve a multinomial logistic regression (L-BFGS)."""
        targets = self.targets[torch.from_numpy(rows)].numpy()
        weight = np.zeros((self.outputs, inputs.shape[1]), dtype=np.float32)
        bias = np.zeros(self.outputs, dtype=np.float32)
        if len(np.unique(targets)) == 1:
            bias[targets[0]] = 1
            return weight, bias
        method = sklearn.linear_model.LogisticRegression(C=1 / settings.regularization, max_iter=300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about 300 steps not being enough for the last digits
            fitted = method.fit(inputs, targets)
        coefficients, intercepts = fitted.coef_, fitted.intercept_
        if len(fitted.classes_) == 2:  # one score, of the second label; half of it for each label gives the same probabilities
            coefficients, intercepts = (np.concatenate([-one, one]) / 2 for one in (coefficients, intercepts))
        weight[fitted.classes_], bias[fitted.classes_] = coefficients, intercepts
        return weight, bias


class Numbers(Solvable):
    """One number per row: squared error, after centring and scaling by the numbers of the training part."""

    outputs = 1

    def __init__(self, targets: Sequence[float], trained_on: np.ndarray) -> None:
        self.targets = torch.tensor(targets, dtype=torch.float32)
        seen = self.targets[torch.from_numpy(trained_on)]
        self._mean, self._size = seen.mean(), seen.std(correction=0).clamp_min(1e-6)

    def _scaled(self, rows: torch.Tensor) -> torch.Tensor:
        return (self.targets[rows] - self._mean) / self._size

    def loss(self, scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The mean squared error, in units of the variance of the training numbers."""
        return torch.nn.functional.mse_loss(scores[:, 0], self._scaled(rows))

    def measure(self, scores: torch.Tensor, rows: torch.Tensor) -> dict[str, float]:
        """Squared error, Spearman's rank correlation and Pearson's, -1 to 1."""
        said, right = scores[:, 0].numpy(), self.targets[rows].numpy()
        return {"loss": self.loss(scores, rows).item(), "spearman": spearman(said, right), "pearson": pearson(said, right)}

    def solve(self, inputs: np.ndarray, rows: np.ndarray, settings: TrainingSettings) -> tuple[np.ndarray, np.ndarray]:
        """Solve a ridge regression (Hoerl & Kennard 1970)."""
        targets = self._scaled(torch.from_numpy(rows)).numpy()
        fitted = sklearn.linear_model.Ridge(alpha=settings.regularization).fit(inputs, targets)
        return fitted.coef_[None].astype(np.float32), np.array([fitted.intercept_], dtype=np.float32)

    def rescale(self, head: Head) -> Head:
        """The head for numbers on the scale of the examples."""
        size, mean = self._size.item(), self._mean.item()
        return replace(head, weight=head.weight * np.float32(size), bias=head.bias * np.float32(size) + np.float32(mean))
