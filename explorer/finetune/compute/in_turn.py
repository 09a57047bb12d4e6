"""Leave-one-out for a linear head: one head for each text, trained on all others; solved together, or in slow motion.

The weights of a head stay within the span of its examples, so a matrix of their inner products stands for the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from explorer.core.engine import torch
from explorer.core.lazy import scipy
from explorer.finetune.compute.finetune import Trained, train
from explorer.training.examples import Examples, Split, leave_one_out
from explorer.training.head import Classes, Scale
from explorer.training.settings import TrainingSettings

STEPS = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300, 450, 700, 1000)  # shown: most happens early
RATE = 1.0  # 1 / the largest curvature: scaled vectors have a mean squared length of 1
EXACTLY = {"gtol": 1e-7, "ftol": 1e-15, "maxiter": 5_000, "maxfun": 10_000}  # until the largest slope is below 1e-7
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
        seen = leave_one_out(examples)
        return cls(seen, np.stack([_products(vectors, mask) for mask in seen]), one_hot(examples))

    def of_left_out(self, scores: np.ndarray) -> np.ndarray:
        """[examples, labels]: for each example the scores of the head that has not seen it, from [heads, examples, labels]."""
        return scores[np.argmin(self.seen, axis=0), np.arange(scores.shape[1])]


def one_hot(examples: Examples) -> np.ndarray:
    return np.eye(len(examples.classes))[examples.targets]


def _products(vectors: np.ndarray, seen: np.ndarray) -> np.ndarray:
    given = torch.from_numpy(vectors.astype(np.float64))
    scaled = Scale.of(given[torch.from_numpy(seen)]).apply(given).numpy()
    return scaled @ scaled.T


def solve(heads: Heads, regularization: float) -> np.ndarray:
    """[heads, examples, labels]: the scores of logistic regressions for all examples, by L-BFGS on the sum of their losses.

    Half the squared length of the weights times `regularization` is added to the loss, which is a sum over the examples; with two
    labels twice that, as for a regression with one score.
    """
    labels = heads.right.shape[1]
    penalty = regularization * (2 if labels == 2 else 1)
    sizes, axes = np.linalg.eigh(heads.products)
    known = axes * np.sqrt(np.maximum(sizes, 0))[:, None]  # vectors with these products: [heads, examples, examples]
    known = np.concatenate([known, np.ones_like(known[..., :1])], axis=-1)  # and a 1 for the bias
    cost = np.append(np.full(known.shape[-1] - 1, penalty), TINY)[:, None]
    seen, shape = heads.seen[..., None], (len(known), known.shape[-1], labels)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        logs = scipy.special.log_softmax(known @ weights, axis=-1)
        slope = known.transpose(0, 2, 1) @ (seen * (np.exp(logs) - heads.right)) + cost * weights
        return float((cost * weights**2).sum() / 2 - (seen * heads.right * logs).sum()), slope.ravel()

    found = scipy.optimize.minimize(loss, np.zeros(np.prod(shape)), jac=True, method="L-BFGS-B", options=EXACTLY)
    return known @ found.x.reshape(shape)


def train_in_turn(vectors: np.ndarray, examples: Examples, settings: TrainingSettings) -> Iterator[Trained]:
    """Solve a head on all examples, vectors [examples, hidden], and for each one that has not seen it.

    Yields one epoch. Its scores and held-out measures are those of the heads that have not seen the example.
    """
    objective, every = Classes(examples.targets, len(examples.classes)), np.arange(len(examples))
    heads = Heads.of(vectors, examples)
    scores = heads.of_left_out(solve(heads, settings.regularization)).astype(np.float32)
    *_, (epoch, head, _) = train(vectors, objective, Split(every, every), settings)
    held_out = objective.measure(torch.from_numpy(scores), torch.from_numpy(every))
    yield replace(epoch, held_out=held_out, scores=scores), head, None


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
