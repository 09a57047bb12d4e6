"""Objectives of training: the loss and the measures for each kind of target."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer.analysis.evaluation import pearson, spearman
from explorer.core.engine import torch
from explorer.core.lazy import sklearn
from explorer.training.head import Head
from explorer.training.settings import TrainingSettings


class Objective(ABC):
    """The loss and the measures over rows, the texts, words or windows that are scored, by index."""

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
        fitted = sklearn.linear_model.Ridge(alpha=settings.regularization).fit(
            inputs, self._scaled(torch.from_numpy(rows)).numpy()
        )
        return fitted.coef_[None].astype(np.float32), np.array([fitted.intercept_], dtype=np.float32)

    def rescale(self, head: Head) -> Head:
        """The head for numbers on the scale of the examples."""
        size, mean = self._size.item(), self._mean.item()
        return replace(head, weight=head.weight * np.float32(size), bias=head.bias * np.float32(size) + np.float32(mean))
