"""Similarities of vectors and of spaces. Pure functions of arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from explorer.core.lazy import sklearn

SAME = 1e-5  # of the largest number: the difference up to which two rows are the same
EQUAL = 1e-5  # cosines that differ by less are equal but for rounding
SHUFFLES = 999


def cosine_matrix(vectors: np.ndarray) -> np.ndarray:
    """[n, n] cosines, -1 to 1, of the rows of vectors [n, hidden]; a zero vector has cosine 0 to everything."""
    unit = directions(vectors)
    return np.clip(unit @ unit.T, -1, 1)


def cosines(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """[...] cosines, -1 to 1, of vectors [..., hidden] and others [..., hidden], pair by pair."""
    return np.clip((directions(vectors) * directions(others)).sum(-1), -1, 1)


def directions(vectors: np.ndarray) -> np.ndarray:
    """The vectors [..., hidden] scaled to length 1; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


def cka_of_products(products: np.ndarray, own: Sequence[np.ndarray], squares: Sequence[np.ndarray]) -> np.ndarray:
    """Linear CKA, −1 to 1, from sums over n centred vectors, [here, there]: the unbiased estimator, for four vectors or more.

    `products` [here, there] are |XᵀY|² of each layer X here with each Y there, `own` those of each layer with itself, [here] and
    [there], and `squares` the squared lengths of the vectors, [here, n] and [there, n]. Kornblith et al. 2019, section 3, with
    the estimator of Song et al. 2012, section 2: for a few vectors in many dimensions the usual one is always near 1. As the
    vectors are centred, the sums over Gram matrices without their diagonals follow from `squares`.
    """
    n = squares[0].shape[1]

    def corrected(product: np.ndarray, both: np.ndarray, sums: np.ndarray) -> np.ndarray:
        return product - n / (n - 2) * both + sums / ((n - 1) * (n - 2))

    here, there = (side.sum(axis=1) for side in squares)
    shared = corrected(products, squares[0] @ squares[1].T, np.outer(here, there))
    sizes = [
        np.sqrt(np.maximum(corrected(product, np.square(side).sum(axis=1), side.sum(axis=1) ** 2), 0))
        for product, side in zip(own, squares, strict=True)
    ]
    scale = np.outer(*sizes)
    return np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 0).clip(-1, 1)


def mean_of_pairs(matrix: np.ndarray) -> float:
    """The mean of a symmetric matrix [n, n] over all pairs of two different rows; NaN for a single row."""
    size = len(matrix)
    return float(matrix[~np.eye(size, dtype=bool)].mean()) if size > 1 else float("nan")


def nearest_rows(vectors: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """[n, most] each: the other rows of vectors [n, hidden] nearest to each by cosine, nearest first, and their cosines."""
    apart, rows = sklearn.neighbors.NearestNeighbors(n_neighbors=most, metric="cosine").fit(vectors).kneighbors()
    return rows, 1 - apart


def nearest(vectors: np.ndarray, row: int, most: int = 10) -> list[tuple[int, float]]:
    """The rows of vectors [n, hidden] nearest to one of them by cosine: (row, cosine), nearest first, without itself.

    In the full space: a two-dimensional map of them would name others.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))  # without a copy: the word table of BERT-base is 94 MB
    to_all = np.clip(vectors @ vectors[row] / np.maximum(lengths * lengths[row], 1e-12), -1, 1)
    to_all[row] = -np.inf
    best = np.argsort(-to_all, kind="stable")[: min(most, len(vectors) - 1)]
    return [(int(i), float(to_all[i])) for i in best]


class Nearest(NamedTuple):
    """The nearest other row of each row of vectors [n, hidden], by cosine: `shares` [pairs] of those that are equally near.

    At hidden state 0 a word has the same vector in all texts that have it in the same place, and rounding must not choose.
    """

    rows: np.ndarray
    others: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray) -> "Nearest":
        matrix = cosine_matrix(vectors)
        np.fill_diagonal(matrix, -2)
        nearest = matrix > matrix.max(axis=1, keepdims=True) - EQUAL
        rows, others = np.nonzero(nearest)
        return cls(rows, others, 1 / nearest.sum(axis=1)[rows])

    def agree(self, labels: Sequence[Any] | np.ndarray) -> float:
        """The number of rows whose nearest has the same label [n]."""
        codes = np.asarray(labels)
        return float(self.shares @ (codes[self.rows] == codes[self.others]))


class Agreement(NamedTuple):
    """How many of `items` have a nearest neighbor with their own label, and how many have one when labels are shuffled."""

    right: int
    items: int
    shuffled: float  # on average
    p: float  # the share of shuffles with as many, the observed one included

    @classmethod
    def of(cls, nearest: Nearest, labels: Sequence[str], seed: int = 0) -> "Agreement":
        """Shuffled SHUFFLES times (Good 2005)."""
        codes = np.unique(np.asarray(labels), return_inverse=True)[1]
        random = np.random.default_rng(seed)
        drawn = np.array([nearest.agree(random.permutation(codes)) for _ in range(SHUFFLES)])
        found = nearest.agree(codes)
        more = int((drawn >= found - EQUAL).sum()) + 1
        return cls(round(found), len(np.unique(nearest.rows)), float(drawn.mean()), more / (SHUFFLES + 1))


def nearest_place(vectors: np.ndarray, row: int, most: int = 10) -> list[tuple[int, float]]:
    """Like `nearest`, without rows that are the same as `row`, and with the first only of those that are the same."""
    first = first_of_each(vectors)
    rows = np.unique(first)
    found = nearest(vectors[rows], int(np.searchsorted(rows, first[row])), most)
    return [(int(rows[place]), cosine) for place, cosine in found]


def first_of_each(rows: np.ndarray) -> np.ndarray:
    """For each of rows [n, d], the first row that is the same: [n] indices.

    Rows are the same within SAME of the largest number, since a text that is read in another batch has other last digits.
    """
    # Equal rows are neighbors along any direction; other rows are so close along a random one only by an unlikely chance.
    along = rows.astype(np.float64) @ np.random.default_rng(0).normal(size=rows.shape[1])
    order = np.argsort(along, kind="stable")
    apart = np.abs(np.diff(rows[order].astype(np.float64), axis=0)).max(axis=1, initial=0)
    groups = np.empty(len(rows), dtype=np.int64)
    groups[order] = np.concatenate([[0], np.cumsum(apart > SAME * np.abs(rows).max(initial=0))])
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    return first[group]
