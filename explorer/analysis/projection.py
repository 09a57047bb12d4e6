"""Maps: vectors projected to points in two or three dimensions, of one layer or of all, aligned; their quality and clusters."""

import hashlib
import re
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from explorer.analysis.similarity import directions, first_of_each
from explorer.core.cache import OnceCache
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


class MapSettings(NamedTuple):
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
    file = report and SimpleNamespace(write=partial(_report_percent, report), flush=lambda: None)
    mapper = umap.UMAP(
        min(settings.neighbors, len(vectors) - 1),
        settings.dimensions,
        min_dist=settings.min_dist,
        metric=settings.metric,
        init=init,
        n_epochs=None if start is None else WARM_EPOCHS,
        random_state=settings.seed,
        tqdm_kwds={"file": file, "bar_format": "{percentage}", "disable": report is None},
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


def _report_percent(report: Report, text: str) -> None:
    """Pass what UMAP's progress bar writes to `report`, if it is a percentage."""
    if re.fullmatch(r"\s*[\d.]+\s*", text):
        report(float(text) / 100)


def _report_part(report: Report, number: int, of: int, share: float) -> None:
    report((number + share) / of)


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
    if not (neighbors := min(JUDGED_NEIGHBORS, (len(rows) - 1) // 2)):
        return None, None
    exact, drawn = vectors[rows].astype(np.float64), points[rows]  # in 32 bits the cosines of close vectors are the same
    space = directions(exact) if metric == "cosine" else exact  # where Euclidean neighbors are those by cosine
    judge = sklearn.manifold.trustworthiness
    return float(judge(space, drawn, n_neighbors=neighbors)), float(judge(drawn, space, n_neighbors=neighbors))


def clusters(vectors: np.ndarray, number: int) -> np.ndarray:
    """[n] the cluster, 0 to number - 1, of each row of vectors [n, hidden]: k-means (Lloyd 1982) on directions.

    Cluster 0 is the largest. There are at most as many clusters as different rows.
    """
    unit = directions(vectors)
    number = min(number, len(np.unique(unit.round(6), axis=0)))
    found = sklearn.cluster.KMeans(number, n_init=4, random_state=0).fit_predict(unit)
    order = np.argsort(-np.bincount(found, minlength=number), kind="stable")
    return np.argsort(order)[found]


LULL = 2.0  # seconds until UMAP is compiled for a map that may come


@dataclass(eq=False)
class LayerMaps:
    """The maps made so far of states [layers, n, hidden], each aligned to that of the next layer, where UMAP and t-SNE begin.

    The last layer's map is the method's own; the others are only rotated and mirrored. All have a root mean square of 1. With
    other maps that are `fitted`, rows keep their places there, and new ones are added.
    """

    states: np.ndarray = field(repr=False)
    settings: MapSettings
    fitted: "LayerMaps | None" = None
    _maps: dict[int, Projection] = field(default_factory=dict, init=False)
    _one: threading.Lock = field(default_factory=threading.Lock, init=False)

    def has(self, layer: int) -> bool:
        return layer in (self.fitted or self)._maps

    @property
    def adds(self) -> bool:
        """Whether new rows can be added to a map that has been made."""
        return any(found.reducer is not None for found in self._maps.values())

    def at(self, layer: int, report: Report | None = None) -> Projection:
        """The map of a layer; missing ones of later layers are made first."""
        with self._one:
            if self.fitted is not None and layer not in self._maps:
                before, states = self.fitted.states[layer], self.states[layer]
                self._maps[layer] = add_rows(self.fitted.at(layer, report), before, states, self.settings)
            missing = [k for k in range(layer, len(self.states)) if k not in self._maps][::-1] if self.fitted is None else []
            for number, k in enumerate(missing):
                report_part = report and partial(_report_part, report, number, len(missing))
                following = self._maps.get(k + 1)
                start = None if following is None or self.settings.method == "pca" else following.points
                found = project(self.states[k], self.settings, start, report_part)
                points = of_one_size(found.points)
                points = points if following is None else align(points, following.points)[found.first]
                if (shares := found.explained_variance) is not None:  # along the axes that are rotated; their sum stays the same
                    along = points.var(axis=0)
                    shares = shares.sum() * along / max(float(along.sum()), 1e-12)
                self._maps[k] = replace(found, points=points, explained_variance=shares)
            return self._maps[layer]


UNIT = 5e6  # bytes that count as one of the maps kept
_kept: OnceCache[tuple[object, ...], LayerMaps] = OnceCache(40, lambda maps: max(1, maps.states.nbytes / UNIT))


def maps_of(states: np.ndarray, settings: MapSettings, fitted: LayerMaps | None = None) -> LayerMaps:
    """The cached maps of states [layers, n, hidden] with these settings, as rows added to `fitted` ones if there are any."""
    key = (states.shape, digest(states[-1]), settings, fitted and digest(fitted.states[-1]))
    return _kept.get(key, lambda: LayerMaps(states, settings, fitted))


def align(points: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Points [n, d] rotated, mirrored and shifted as close as possible to `to` [n, d]: Procrustes (Schönemann 1966)."""
    middle, target = points.mean(axis=0), to.mean(axis=0)
    left, _, right = np.linalg.svd((points - middle).T @ (to - target))
    return ((points - middle) @ (left @ right) + target).astype(np.float32)


def of_one_size(points: np.ndarray) -> np.ndarray:
    """Points [n, d] centred and scaled to a root mean square of 1, so that maps of layers can be compared."""
    centred = points - points.mean(axis=0)
    size = float(np.sqrt((centred**2).sum(axis=1).mean()))
    return (centred / (size if size > 1e-12 else 1)).astype(np.float32)


def add_rows(fitted: Projection, before: np.ndarray, vectors: np.ndarray, settings: MapSettings) -> Projection:
    """The map of vectors [n, hidden] that keeps the places which rows of `before` [m, hidden] have in a fitted map.

    UMAP's own `transform` places the other ones, each independently of the rest. A map without a reducer is made again.
    """
    same = first_of_each(np.concatenate([before, vectors]))[len(before) :]
    new = np.flatnonzero(same >= len(before))
    if len(new) and fitted.reducer is None:
        made = project(vectors, settings)
        return replace(made, points=of_one_size(made.points))
    points, first = fitted.points[np.minimum(same, len(before) - 1)], first_of_each(vectors)
    if len(new):
        with one_fit, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            placed = fitted.reducer.transform(vectors[new])
        own, drawn = _with_one(fitted.reducer.embedding_), fitted.points[np.unique(fitted.first)]
        points[new] = _with_one(placed) @ np.linalg.lstsq(own, drawn, rcond=None)[0]  # moved as `align` moved the others
        points = points[first]
    trust, continuity = quality(vectors, points, metric=settings.metric)
    return replace(fitted, points=points, trustworthiness=trust, continuity=continuity, first=first, added=len(new))


def _with_one(points: np.ndarray) -> np.ndarray:
    return np.pad(np.nan_to_num(points), ((0, 0), (0, 1)), constant_values=1)


@cache
def warm_umap() -> threading.Thread:
    """Compile UMAP's kernels in a background thread, about ten seconds once per process, before a map needs them.

    It begins a moment later: the picture that is being drawn needs the processor now.
    """
    vectors = np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32)

    def fit_and_add() -> None:
        settings = MapSettings("umap")
        add_rows(project(vectors, settings), vectors, vectors[:1] + 1, settings)

    thread = threading.Timer(LULL, fit_and_add)
    thread.name, thread.daemon = "warm-umap", True
    thread.start()
    return thread
