"""The numbers in a weight. Pure functions of arrays."""

from dataclasses import dataclass

import numpy as np

BINS = 61  # odd, so that 0 has a bin of its own


@dataclass(frozen=True)
class Histogram:
    """How many of the numbers lie in each bin, whose middles these are."""

    middles: np.ndarray
    counts: np.ndarray
    beyond: int  # how many lie further out than the bins


def root_mean_square(weight: np.ndarray) -> float:
    """The root of the mean square of all numbers: the Euclidean (Frobenius) norm over the root of how many there are."""
    flat = weight.ravel()
    return float(np.sqrt(np.dot(flat, flat) / flat.size))


def histogram(weight: np.ndarray, deviations: float = 5.0) -> Histogram:
    """In BINS bins of one width, to `deviations` standard deviations on both sides of the mean."""
    mean, deviation = float(weight.mean()), float(weight.std()) or 1e-12
    low, high = mean - deviations * deviation, mean + deviations * deviation
    counts, edges = np.histogram(weight, BINS, (low, high))
    return Histogram((edges[1:] + edges[:-1]) / 2, counts, int(weight.size - counts.sum()))
