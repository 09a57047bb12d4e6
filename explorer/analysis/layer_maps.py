"""Maps of all layers, aligned to each other, and maps with rows that are added later."""

import threading
import warnings
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np

from explorer.analysis.projection import MapSettings, Projection, Report, digest, one_fit, project, quality
from explorer.analysis.similarity import first_of_each
from explorer.core.cache import OnceCache

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
                self._maps[k] = replace(found, points=points, explained_variance=_shares(found, points))
            return self._maps[layer]


def _report_part(report: Report, number: int, of: int, share: float) -> None:
    report((number + share) / of)


def _shares(found: Projection, points: np.ndarray) -> np.ndarray | None:
    """The share of the variance along each axis of the rotated map; their sum stays the same."""
    if found.explained_variance is None:
        return None
    along = points.var(axis=0)
    return found.explained_variance.sum() * along / max(float(along.sum()), 1e-12)


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
