"""Maps: vectors projected to points in two or three dimensions, of one layer or of all, aligned; their quality and clusters."""

import hashlib
import io
import re
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.analysis.similarity import directions, first_of_each
from explorer.core.lazy import sklearn, umap

METHODS = ("pca", "umap", "tsne")
NAMES = {"pca": "PCA", "umap": "UMAP", "tsne": "t-SNE"}
FEWEST_FOR_A_FIT = 5  # different rows; UMAP and t-SNE arrange neighborhoods, which need this many
WARM_EPOCHS = 150  # of UMAP, when it starts from a nearly right map
JUDGED_NEIGHBORS = 5
JUDGED_ROWS = 1_000
KEPT_ROWS = 2_000  # different rows up to which a fitted UMAP is kept: it holds all their vectors

Report = Callable[[float], None]
"""Receives the share of a fit that is done, 0 to 1; an exception it raises ends the fit."""

one_fit = threading.Lock()  # numba's parallel kernels must not run in two threads at once


@dataclass(frozen=True)
class MapSettings:
    """The settings of a map. `neighbors` is UMAP's n_neighbors, and three times t-SNE's perplexity."""

    method: str = "pca"
    dimensions: int = 2
    neighbors: int = 15
    min_dist: float = 0.1  # UMAP: the minimum distance of points, 0 to 0.99
    metric: str = "cosine"  # of UMAP and t-SNE, and by which all maps are judged; PCA itself preserves Euclidean distances
    seed: int = 0


@dataclass(frozen=True)
class Projection:
    """`points` [n, dimensions], the share of the variance along each axis (PCA only), and the `trustworthiness`, 0 to 1.

    Equal rows have one point: `first` [n] is the first row of each. `method` is that of the map: PCA where there are too few
    points for another, which `note` says. Trustworthiness is how far neighbors on the map are true ones, continuity (0 to 1) how
    far true ones are neighbors on the map, both by the metric of the settings whatever the method, so that methods can be
    compared; None below three points, and when all are equal. `reducer` is the fitted `umap.UMAP` of few different rows;
    `added` rows have been placed by it.
    """

    points: np.ndarray
    explained_variance: np.ndarray | None
    trustworthiness: float | None
    continuity: float | None
    first: np.ndarray
    method: str
    note: str = ""
    reducer: Any = field(default=None, repr=False)
    added: int = 0


def project(
    vectors: np.ndarray, settings: MapSettings | None = None, start: np.ndarray | None = None, report: Report | None = None
) -> Projection:
    """A map: points for the rows of vectors [n, hidden]. The same input gives the same map.

    Equal rows are fitted once. `start` [n, dimensions] is a map of the same rows from which UMAP or t-SNE begins: it stays near.
    """
    settings = settings or MapSettings()
    method, shares, note, reducer = settings.method, None, "", None
    first = first_of_each(vectors)
    rows, place = np.unique(first, return_inverse=True)  # of the different points, and the point of each row
    if method != "pca" and len(rows) < FEWEST_FOR_A_FIT:
        count = f"{len(rows)} different one{'s' * (len(rows) != 1)}"
        note = f"{NAMES[method]} needs at least {FEWEST_FOR_A_FIT} different points; PCA draws the {count} here instead."
        method = "pca"
    if method == "pca":
        points, shares = principal_components(vectors, settings.dimensions)
        points = points[first]
    else:
        fit = _umap if method == "umap" else _tsne
        fitted, reducer = fit(vectors[rows], settings, None if start is None else start[rows], report)
        points = np.nan_to_num(fitted).astype(np.float32)[place]
    return Projection(points, shares, *quality(vectors, points, settings.metric), first, method, note, reducer)


def principal_components(vectors: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Principal components (Pearson 1901): points [n, dimensions], and the share of variance along each axis, 0 beyond them."""
    points = np.zeros((len(vectors), dimensions), dtype=np.float32)
    shares = np.zeros(dimensions)
    components = min(dimensions, *vectors.shape, len(vectors) - 1)
    if components and np.ptp(vectors, axis=0).any():
        solver = "full" if len(vectors) <= vectors.shape[1] else "covariance_eigh"  # same result, the latter faster for many rows
        fitted = sklearn.decomposition.PCA(components, svd_solver=solver).fit(vectors)
        points[:, :components] = fitted.transform(vectors)
        shares[:components] = fitted.explained_variance_ratio_
    return points, shares


def _umap(vectors: np.ndarray, settings: MapSettings, start: np.ndarray | None, report: Report | None) -> tuple[np.ndarray, Any]:
    """UMAP (McInnes, Healy & Melville 2018), with at most as many neighbors as there are: points, and the reducer if small."""
    # The spectral start needs clearly more points than dimensions; a random one works for the smallest maps.
    init: object = "spectral" if len(vectors) > 10 else "random"
    if start is not None and np.ptp(start, axis=0).all():
        init = start.astype(np.float32)
    mapper = umap.UMAP(
        min(settings.neighbors, len(vectors) - 1),
        settings.dimensions,
        min_dist=settings.min_dist,
        metric=settings.metric,
        init=init,
        n_epochs=None if start is None else WARM_EPOCHS,
        random_state=settings.seed,
        tqdm_kwds={"file": _Progress(report), "bar_format": "{percentage}", "disable": report is None},
    )
    with one_fit, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that a seed means one thread, and about equal points
        points = mapper.fit_transform(vectors)
    mapper.tqdm_kwds = {"disable": True}  # no transform reports to the fit's caller
    return points, mapper if len(vectors) <= KEPT_ROWS else None


def _tsne(vectors: np.ndarray, settings: MapSettings, start: np.ndarray | None, report: Report | None) -> tuple[np.ndarray, None]:
    """t-SNE (van der Maaten & Hinton 2008), started from the principal components as scikit-learn recommends."""
    if report is not None:
        report(0)  # scikit-learn reports no progress, so this is where a stopped fit ends
    start = principal_components(vectors, settings.dimensions)[0] if start is None else start
    noise = np.random.default_rng(settings.seed).normal(size=start.shape)  # equal rows must not start at the same point
    start = start / max(float(start[:, 0].std()), 1e-12) + 0.01 * noise
    mapper = sklearn.manifold.TSNE(
        settings.dimensions,
        perplexity=min(settings.neighbors, len(vectors) - 1) / 3,
        metric=settings.metric,
        init=(1e-4 * start).astype(np.float32),
        random_state=settings.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mapper.fit_transform(vectors), None


class _Progress(io.TextIOBase):
    """The file to which UMAP's progress bar writes: it passes every percentage to `report`."""

    def __init__(self, report: Report | None) -> None:
        self._report = report

    def write(self, text: str) -> int:
        if self._report and re.fullmatch(r"\s*[\d.]+\s*", text):
            self._report(float(text) / 100)
        return len(text)


def digest(vectors: np.ndarray) -> bytes:
    """A hash of the numbers of an array, 16 bytes."""
    return hashlib.blake2b(np.ascontiguousarray(vectors).data, digest_size=16).digest()


def quality(vectors: np.ndarray, points: np.ndarray, metric: str = "cosine") -> tuple[float | None, float | None]:
    """Trustworthiness and continuity of a map: 1 when neighbors are the same in both, about 0.5 for a random map.

    Venna & Kaski 2001, by scikit-learn: each of the JUDGED_NEIGHBORS nearest points of a row, points [n, dimensions], costs its
    excess rank among the true neighbors, vectors [n, hidden]; for continuity, in reverse. Of equal rows one is judged, and a
    sample of JUDGED_ROWS if there are more. None for fewer than 3 different rows; few rows use fewer neighbors.
    """
    rows = np.unique(first_of_each(vectors))
    if len(rows) > JUDGED_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, JUDGED_ROWS, replace=False))
    if not (neighbors := judged_neighbors(len(rows))):
        return None, None
    exact, drawn = vectors[rows].astype(np.float64), points[rows]  # in 32 bits the cosines of close vectors are the same
    space = directions(exact) if metric == "cosine" else exact  # where Euclidean neighbors are those by cosine
    judge = sklearn.manifold.trustworthiness
    return float(judge(space, drawn, n_neighbors=neighbors)), float(judge(drawn, space, n_neighbors=neighbors))


def judged_neighbors(rows: int) -> int:
    """The number of neighbors judged for each of so many different rows: fewer when there are few."""
    return min(JUDGED_NEIGHBORS, (rows - 1) // 2)


def clusters(vectors: np.ndarray, number: int) -> np.ndarray:
    """[n] the cluster, 0 to number - 1, of each row of vectors [n, hidden]: k-means (Lloyd 1982) on directions.

    Cluster 0 is the largest. There are at most as many clusters as different rows.
    """
    unit = directions(vectors)
    number = min(number, len(np.unique(unit.round(6), axis=0)))
    found = sklearn.cluster.KMeans(number, n_init=4, random_state=0).fit_predict(unit)
    order = np.argsort(-np.bincount(found, minlength=number), kind="stable")
    return np.argsort(order)[found]
