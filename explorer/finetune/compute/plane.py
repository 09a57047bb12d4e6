"""The plane of a head's logits: sentences as points, and the region of each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAST_PROBABILITY = 1e-7  # of float32: below it, a logarithm says nothing
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Plane:
    """Two directions among the logits of a head; scores at (x, y) are `origin` + x · directions[0] + y · directions[1].

    `share` is the part of the points' variance that the two directions show. With two classes only x means something.
    """

    origin: np.ndarray  # [classes]
    directions: np.ndarray  # [2, classes], of unit length and orthogonal; zeros for a direction without a meaning
    share: float

    @classmethod
    def of(cls, probabilities: np.ndarray) -> Plane:
        """The plane for probabilities [texts, classes]: exact for two and three classes, otherwise their two main directions."""
        classes = probabilities.shape[1]
        if classes == 2:
            return cls(np.zeros(2), np.array([[-1.0, 1.0], [0.0, 0.0]]) / 2**0.5, 1.0)
        if classes == 3:
            return cls(np.zeros(3), np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]]), 1.0)
        logits = centred_logits(probabilities)
        origin = logits.mean(0)
        _, sizes, directions = np.linalg.svd(logits - origin, full_matrices=False)
        if len(directions) < 2:  # of a single text
            directions = np.vstack([directions, np.zeros_like(directions)])
        total = float((sizes**2).sum())
        return cls(origin, directions[:2], float((sizes[:2] ** 2).sum()) / total if total else 1.0)

    def places(self, probabilities: np.ndarray) -> np.ndarray:
        """[texts, 2]: the places of texts by their probabilities [texts, classes].

        With two classes, the height has no meaning and only keeps the texts apart.
        """
        found = (centred_logits(probabilities) - self.origin) @ self.directions.T
        if len(self.origin) == 2:
            found[:, 1] = (np.arange(1, len(found) + 1) * GOLDEN) % 1 - 0.5
        return found


def centred_logits(probabilities: np.ndarray) -> np.ndarray:
    """[texts, classes]: logarithms of probabilities minus their mean: the head's logits, up to a number that changes nothing."""
    logs = np.log(np.maximum(probabilities, LEAST_PROBABILITY))
    return logs - logs.mean(1, keepdims=True)
