"""Statistics of the numbers in a weight. Pure functions of arrays."""

from dataclasses import dataclass

import numpy as np

BINS = 61  # odd, so that 0 has its own bin
DEVIATIONS = 5  # standard deviations on both sides of the mean that the bins cover


@dataclass(frozen=True)
class Histogram:
    """The number of values in each bin, with the middles of the bins."""

    middles: np.ndarray
    counts: np.ndarray
    beyond: int  # values outside of all bins


def root_mean_square(weight: np.ndarray) -> float:
    """The root mean square of all numbers: the Frobenius norm divided by the root of their count."""
    flat = weight.ravel()
    return float(np.sqrt(np.dot(flat, flat) / flat.size))


def histogram(weight: np.ndarray) -> Histogram:
    """A histogram with equal bins around the mean."""
    mean, deviation = float(weight.mean()), float(weight.std()) or 1e-12
    low, high = mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation
    counts, edges = np.histogram(weight, BINS, (low, high))
    return Histogram((edges[1:] + edges[:-1]) / 2, counts, int(weight.size - counts.sum()))
