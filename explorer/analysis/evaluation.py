"""How good a classifier is, from probabilities and what is right. Pure functions of arrays."""

from dataclasses import dataclass

import numpy as np

from explorer.base.lazy import scipy


def confusion(targets: np.ndarray, predicted: np.ndarray, labels: int) -> np.ndarray:
    """[labels, labels] counts: a row is what is right, a column what was predicted."""
    return np.bincount(targets * labels + predicted, minlength=labels * labels).reshape(labels, labels)


@dataclass(frozen=True)
class ClassScores:
    """Of every label, all [labels] and 0 to 1; `support` counts the examples. 0 where there is nothing to divide by."""

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    support: np.ndarray


def class_scores(table: np.ndarray) -> ClassScores:
    """Precision, recall and their harmonic mean F1 of every label, from a confusion matrix [labels, labels]."""
    hits, predicted, right = np.diag(table), table.sum(0), table.sum(1)
    precision = hits / np.maximum(predicted, 1)
    recall = hits / np.maximum(right, 1)
    return ClassScores(precision, recall, 2 * hits / np.maximum(predicted + right, 1), right)


def accuracy(table: np.ndarray) -> float:
    """The share on the diagonal, 0 to 1."""
    return float(np.trace(table) / max(1, table.sum()))


def standard_error(right: int, of: int) -> float:
    """Of the share right / of: about how far, 0 to 0.5, such a share is from that of endless examples.

    That of a binomial share whose own estimate is (right + 1) / (of + 2), the rule of succession (Laplace 1774): so that
    3 of 3 leaves a doubt.
    """
    share = (right + 1) / (of + 2)
    return float(np.sqrt(share * (1 - share) / max(1, of)))


def macro_f1(table: np.ndarray) -> float:
    """The mean F1 of all labels that occur, 0 to 1: rare ones count as much as frequent ones."""
    scores = class_scores(table)
    occurs = (table.sum(0) + table.sum(1)) > 0
    return float(scores.f1[occurs].mean()) if occurs.any() else 0.0


@dataclass(frozen=True)
class Calibration:
    """Predictions in bins by how sure they are; [bins] each, those without any left out.

    `error` is the expected calibration error: the mean of |accuracy - confidence|, weighed by `count` (Guo et al. 2017).
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    count: np.ndarray
    error: float


def calibration(probabilities: np.ndarray, targets: np.ndarray, bins: int = 10) -> Calibration:
    """How often predictions are right, by the probability they were made with: [n, labels] and [n]."""
    sure = probabilities.max(-1)
    hit = probabilities.argmax(-1) == targets
    place = np.minimum((sure * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    there = count > 0
    confidence = np.bincount(place, sure, bins)[there] / count[there]
    right = np.bincount(place, hit, bins)[there] / count[there]
    error = float((np.abs(right - confidence) * count[there]).sum() / max(1, count.sum()))
    return Calibration(confidence, right, count[there], error)


def confident_mistakes(probabilities: np.ndarray, targets: np.ndarray, most: int = 10) -> np.ndarray:
    """Indices of wrong predictions, the surest first; at most `most`."""
    wrong = np.flatnonzero(probabilities.argmax(-1) != targets)
    return wrong[np.argsort(-probabilities[wrong].max(-1), kind="stable")][:most]


def pearson(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of two rows of numbers [n], -1 to 1; 0 where one of them does not vary."""
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float(np.clip((one * other).sum() / size, -1, 1)) if size > 0 else 0.0


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of the ranks of two rows of numbers [n], -1 to 1: equal numbers share their mean rank."""
    return pearson(scipy.stats.rankdata(one), scipy.stats.rankdata(other))
