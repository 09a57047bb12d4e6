"""What can be said of a map, and done with one. Pure functions of arrays."""

import numpy as np

from explorer.analysis.similarity import directions
from explorer.base.lazy import scipy, sklearn

JUDGED_NEIGHBORS = 5
JUDGED_ROWS = 1_000


def trustworthiness(
    vectors: np.ndarray, points: np.ndarray, neighbors: int = JUDGED_NEIGHBORS, metric: str = "cosine"
) -> float | None:
    """How far the neighbours on a map are neighbours in truth: 1 when all are, about 0.5 for a map drawn by chance.

    Venna & Kaski 2001, as scikit-learn's: every row of points [n, dimensions] whose `neighbors` nearest are not the nearest in
    vectors [n, hidden] costs by how far off they are there. Beyond JUDGED_ROWS rows a sample is judged, each against all. None
    for fewer than 3 rows, and where all rows are the same; with few rows, fewer neighbours.
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
    true[itself], drawn[itself] = -np.inf, np.inf  # nearest of all in truth, so that the next one has rank 1
    near = np.argpartition(drawn, neighbors - 1, axis=1)[:, :neighbors]  # [rows, neighbors]
    at = np.take_along_axis(true, near, axis=1)
    ranks = np.stack([(true < at[:, [i]]).sum(axis=1) for i in range(neighbors)])
    off = np.maximum(ranks - neighbors, 0).sum()
    return float(1 - off * 2 / (len(rows) * neighbors * (2 * size - 3 * neighbors - 1)))


def judged_neighbors(rows: int, neighbors: int = JUDGED_NEIGHBORS) -> int:
    """How many neighbours of each of `rows` rows are judged: with few rows, fewer."""
    return min(neighbors, (rows - 1) // 2)


def _distances(vectors: np.ndarray, rows: np.ndarray, metric: str) -> np.ndarray:
    """[rows, n]: from some rows of vectors [n, d] to all of them; for "euclidean" its square, which ranks the same."""
    if metric == "manhattan":
        return scipy.spatial.distance.cdist(vectors[rows], vectors, "cityblock")
    if metric == "cosine":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(lengths == 0, 1, lengths)
    vectors = vectors - vectors.mean(axis=0)  # smaller numbers, smaller errors
    squares = (vectors**2).sum(axis=1)
    return squares[rows, None] + squares[None, :] - 2 * vectors[rows] @ vectors.T


def aligned(points: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Points [n, d] turned, mirrored and shifted only, as close as can be to `to` [n, d]: Procrustes (Schönemann 1966)."""
    middle, target = points.mean(axis=0), to.mean(axis=0)
    left, _, right = np.linalg.svd((points - middle).T @ (to - target))
    return ((points - middle) @ (left @ right) + target).astype(np.float32)


def chained(maps: list[np.ndarray]) -> list[np.ndarray]:
    """Maps of the same rows at every layer, each aligned to the next, the last as it is: points move, none jumps."""
    result = [of_one_size(maps[-1])]
    for points in reversed(maps[:-1]):
        result.append(aligned(of_one_size(points), result[-1]))
    return result[::-1]


def of_one_size(points: np.ndarray) -> np.ndarray:
    """Points [n, d] about their middle, scaled to a root mean square of 1, so that maps of layers can be compared."""
    centred = points - points.mean(axis=0)
    size = float(np.sqrt((centred**2).sum(axis=1).mean()))
    return (centred / (size if size > 1e-12 else 1)).astype(np.float32)


def clusters(vectors: np.ndarray, number: int, seed: int = 0) -> np.ndarray:
    """[n] the cluster, 0 to number - 1, of each row of vectors [n, hidden]: k-means (Lloyd 1982) on directions.

    The largest cluster is 0. There are never more clusters than different rows.
    """
    unit = directions(vectors)
    number = min(number, len(np.unique(unit.round(6), axis=0)))
    found = sklearn.cluster.KMeans(number, n_init=4, random_state=seed).fit_predict(unit)
    order = np.argsort(-np.bincount(found, minlength=number), kind="stable")
    return np.argsort(order)[found]
