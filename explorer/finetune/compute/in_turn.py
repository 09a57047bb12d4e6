"""Leave-one-out for a linear head: one head for each text, trained on all others; solved together, or in slow motion.

The weights of a head stay within the span of its examples, so a matrix of their inner products stands for the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from explorer.core.lazy import scipy
from explorer.training.examples import Examples, Split, leave_one_out

MOST_UNKNOWNS = 320  # examples times labels; above it, solving the heads one by one is as fast
STEPS = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300, 450, 700, 1000)  # shown: most happens early
RATE = 1.0  # 1 / the largest curvature: scaled vectors have a mean squared length of 1
MOST_ITERATIONS, MOST_HALVINGS = 40, 12
FLAT = 1e-6  # the largest slope of a head that is solved
TINY = 1e-9  # curvature for the biases, which may all rise together


@dataclass(frozen=True)
class Heads:
    """What the heads are trained on: for each, how much each example counts, and the products of their vectors."""

    seen: np.ndarray  # [heads, examples]: 0 for those left out
    products: np.ndarray  # [heads, examples, examples]
    right: np.ndarray  # [examples, labels], one-hot

    @classmethod
    def of(cls, vectors: np.ndarray, examples: Examples) -> Heads:
        """The heads that leave out a text each, for vectors [examples, hidden], scaled as `Scale` does."""
        seen = without_each(leave_one_out(examples), len(examples))
        return cls(seen, np.stack([_products(vectors, mask) for mask in seen]), one_hot(examples))

    def of_left_out(self, scores: np.ndarray) -> np.ndarray:
        """[examples, labels]: for each example the scores of the head that has not seen it, from [heads, examples, labels]."""
        return scores[np.argmin(self.seen, axis=0), np.arange(scores.shape[1])]


def without_each(folds: list[Split], examples: int) -> np.ndarray:
    """[folds, examples] bool: which examples each fold trains on."""
    return np.stack([np.isin(np.arange(examples), parts.train) for parts in folds])


def one_hot(examples: Examples) -> np.ndarray:
    return np.eye(len(examples.classes))[examples.targets]


def _products(vectors: np.ndarray, seen: np.ndarray) -> np.ndarray:
    known = vectors[seen].astype(np.float64)
    deviation = known.std(0)
    size = np.maximum(deviation, 1e-2 * max(float(deviation.mean()), 1e-4)) * vectors.shape[1] ** 0.5
    scaled = (vectors - known.mean(0)) / size
    return scaled @ scaled.T


def solve(heads: Heads, regularization: float) -> np.ndarray:
    """[heads, examples, labels]: the scores of logistic regressions for all examples, by Newton's method.

    Half the squared length of the weights times `regularization` is added to the loss, which is a sum over the examples; with two
    labels twice that, as for a regression with one score.
    """
    labels = heads.right.shape[1]
    penalty = regularization * (2 if labels == 2 else 1)
    sizes, axes = np.linalg.eigh(heads.products)
    known = axes * np.sqrt(np.maximum(sizes, 0))[:, None]  # vectors with these products: [heads, examples, examples]
    known = np.concatenate([known, np.ones_like(known[..., :1])], axis=-1)  # and a 1 for the bias
    cost = np.append(np.full(known.shape[-1] - 1, penalty), TINY)
    weights = np.zeros((len(known), known.shape[-1], labels))
    seen = heads.seen[..., None]

    def loss(weights: np.ndarray) -> np.ndarray:
        logs = scipy.special.log_softmax(known @ weights, axis=-1)
        return -(seen * heads.right * logs).sum((1, 2)) + 0.5 * (cost[:, None] * weights**2).sum((1, 2))

    for _ in range(MOST_ITERATIONS):
        shares = scipy.special.softmax(known @ weights, axis=-1)
        slope = known.transpose(0, 2, 1) @ (seen * (shares - heads.right)) + cost[:, None] * weights
        if np.abs(slope).max() < FLAT:
            break
        step = _newton(known, seen * shares, shares, cost, slope)
        weights = _descend(loss, weights, step, (slope * step).sum((1, 2)))
    return known @ weights


def _newton(known: np.ndarray, counted: np.ndarray, shares: np.ndarray, cost: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """[heads, unknowns, labels]: the step to the bottom of the parabola that fits the loss."""
    heads, unknowns, labels = slope.shape
    curvature = np.empty((heads, labels, unknowns, labels, unknowns))
    for one, other in combinations_with_replacement(range(labels), 2):
        weight = counted[..., one] * ((one == other) - shares[..., other])
        block = (known * weight[..., None]).transpose(0, 2, 1) @ known + (one == other) * np.diag(cost)
        curvature[:, one, :, other] = curvature[:, other, :, one] = block
    square = curvature.reshape(heads, labels * unknowns, labels * unknowns)
    found = np.linalg.solve(square, slope.transpose(0, 2, 1).reshape(heads, -1, 1))
    return found.reshape(heads, labels, unknowns).transpose(0, 2, 1)


def _descend(loss: Callable[[np.ndarray], np.ndarray], weights: np.ndarray, step: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The weights after a step, halved for each head until its loss falls."""
    before, size = loss(weights), np.ones(len(weights))
    for _ in range(MOST_HALVINGS):
        moved = weights - size[:, None, None] * step
        worse = loss(moved) > before - 1e-4 * size * gain + 1e-12
        if not worse.any():
            break
        size[worse] /= 2
    return moved


@dataclass(frozen=True)
class Moment:
    """After so many steps: the probabilities [examples, labels], each by the head that has not seen the example."""

    step: int
    probabilities: np.ndarray
    loss: float  # mean over the examples, in nats
    right: int


def in_slow_motion(heads: Heads, regularization: float) -> Iterator[Moment]:
    """Plain gradient descent from zero, on the loss of `solve`, for all heads; yields the moments of STEPS."""
    penalty = regularization * (2 if heads.right.shape[1] == 2 else 1)
    counts, targets = heads.seen.sum(1)[:, None, None], heads.right.argmax(1)
    weights = np.zeros((len(heads.seen), *heads.right.shape))
    bias = np.zeros((len(heads.seen), 1, heads.right.shape[1]))
    for step in range(STEPS[-1] + 1):
        shares = scipy.special.softmax(heads.products @ weights + bias, axis=-1)
        if step in STEPS:
            own = heads.of_left_out(shares)
            loss = -np.log(own[np.arange(len(targets)), targets]).mean()
            yield Moment(step, own, float(loss), int((own.argmax(1) == targets).sum()))
        wrong = (shares - heads.right) * heads.seen[..., None] / counts
        weights -= RATE * (wrong + penalty / counts * weights)
        bias -= RATE * wrong.sum(1, keepdims=True)
