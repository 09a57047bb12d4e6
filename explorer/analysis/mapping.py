"""Quality, alignment and clusters of maps. Pure functions of arrays."""

import numpy as np

from explorer.analysis.similarity import directions
from explorer.core.lazy import scipy, sklearn

JUDGED_NEIGHBORS = 5
JUDGED_ROWS = 1_000


def trustworthiness(
    vectors: np.ndarray, points: np.ndarray, neighbors: int = JUDGED_NEIGHBORS, metric: str = "cosine"
) -> float | None:
    """How far neighbors on a map are true neighbors: 1 when all are, about 0.5 for a random map.

    Venna & Kaski 2001, as in scikit-learn: each of the `neighbors` nearest points of a row, points [n, dimensions], costs its
    excess rank among the true neighbors, vectors [n, hidden]. Beyond JUDGED_ROWS rows a sample is judged, each against all. None
    for fewer than 3 rows, and when all rows are equal; few rows use fewer neighbors.
    """
    size = len(vectors)
    neighbors = judged_neighbors(size, neighbors)
    if neighbors < 1 or not np.ptp(vectors, axis=0).any():
        return None
    rows = np.arange(size)
    if size > JUDGED_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(size, JUDGED_ROWS, replace=False))
    true, drawn = _distances(vectors, rows, metric), _distances(points, rows, "euclidean")
    itself = np.arange(len(rows)), rows
    true[itself], drawn[itself] = -np.inf, np.inf  # the row itself ranks first in truth, so that the next one has rank 1
    near = np.argpartition(drawn, neighbors - 1, axis=1)[:, :neighbors]  # [rows, neighbors]
    at = np.take_along_axis(true, near, axis=1)
    ranks = np.stack([(true < at[:, [i]]).sum(axis=1) for i in range(neighbors)])
    off = np.maximum(ranks - neighbors, 0).sum()
    return float(1 - off * 2 / (len(rows) * neighbors * (2 * size - 3 * neighbors - 1)))


def judged_neighbors(rows: int, neighbors: int = JUDGED_NEIGHBORS) -> int:
    """The number of neighbors judged for each row: fewer when there are few rows."""
    return min(neighbors, (rows - 1) // 2)


def _distances(vectors: np.ndarray, rows: np.ndarray, metric: str) -> np.ndarray:
    """[rows, n] distances from some rows of vectors [n, d] to all; for "euclidean" squared, which ranks the same."""
    if metric == "manhattan":
        return scipy.spatial.distance.cdist(vectors[rows], vectors, "cityblock")
    if metric == "cosine":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(lengths == 0, 1, lengths)
    vectors = vectors - vectors.mean(axis=0)  # smaller numbers have smaller rounding errors
    squares = (vectors**2).sum(axis=1)
    return squares[rows, None] + squares[None, :] - 2 * vectors[rows] @ vectors.T


def aligned(points: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Points [n, d] rotated, mirrored and shifted as close as possible to `to` [n, d]: Procrustes (Schönemann 1966)."""
    middle, target = points.mean(axis=0), to.mean(axis=0)
    left, _, right = np.linalg.svd((points - middle).T @ (to - target))
    return ((points - middle) @ (left @ right) + target).astype(np.float32)


def of_one_size(points: np.ndarray) -> np.ndarray:
    """Points [n, d] centred and scaled to a root mean square of 1, so that maps of layers can be compared."""
    centred = points - points.mean(axis=0)
    size = float(np.sqrt((centred**2).sum(axis=1).mean()))
    return (centred / (size if size > 1e-12 else 1)).astype(np.float32)


def clusters(vectors: np.ndarray, number: int, seed: int = 0) -> np.ndarray:
    """[n] the cluster, 0 to number - 1, of each row of vectors [n, hidden]: k-means (Lloyd 1982) on directions.

    Cluster 0 is the largest. There are at most as many clusters as different rows.
    """
    unit = directions(vectors)
    number = min(number, len(np.unique(unit.round(6), axis=0)))
    found = sklearn.cluster.KMeans(number, n_init=4, random_state=seed).fit_predict(unit)
    order = np.argsort(-np.bincount(found, minlength=number), kind="stable")
    return np.argsort(order)[found]
