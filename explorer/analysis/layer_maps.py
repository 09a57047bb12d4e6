"""Maps of the same rows at every layer, aligned so that points move from layer to layer instead of jumping."""

import hashlib
import threading
from dataclasses import dataclass, field, replace

import numpy as np

from explorer.analysis.mapping import aligned, of_one_size
from explorer.analysis.projection import MapSettings, Projection, Report, project
from explorer.core.cache import OnceCache


@dataclass(eq=False)
class LayerMaps:
    """The maps made so far, each aligned to that of the next layer; UMAP and t-SNE also start from it.

    The last layer's map is the method's own; the others are only rotated and mirrored. All have a root mean square of 1.
    """

    settings: MapSettings
    _maps: dict[int, Projection] = field(default_factory=dict, init=False)
    _one: threading.Lock = field(default_factory=threading.Lock, init=False)

    def has(self, layer: int) -> bool:
        return layer in self._maps

    def at(self, states: np.ndarray, layer: int, report: Report | None = None) -> Projection:
        """The map of states[layer], for states [layers, n, hidden]; missing ones of later layers are made first."""
        with self._one:
            missing = [k for k in range(layer, len(states)) if k not in self._maps][::-1]
            for number, k in enumerate(missing):
                report_part = _part(report, number, len(missing))
                following = self._maps.get(k + 1)
                start = None if following is None or self.settings.method == "pca" else following.points
                found = project(states[k], self.settings, start, report_part)
                points = of_one_size(found.points)
                points = points if following is None else aligned(points, following.points)[found.first]
                self._maps[k] = replace(found, points=points, explained_variance=_shares(found, points))
            return self._maps[layer]


def _part(report: Report | None, number: int, of: int) -> Report | None:
    return report and (lambda share: report((number + share) / of))


def _shares(found: Projection, points: np.ndarray) -> np.ndarray | None:
    """The share of the variance along each axis of the rotated map; their sum stays the same."""
    if found.explained_variance is None:
        return None
    along = points.var(axis=0)
    return found.explained_variance.sum() * along / max(float(along.sum()), 1e-12)


_kept: OnceCache[tuple[object, ...], LayerMaps] = OnceCache(40)


def maps_of(states: np.ndarray, settings: MapSettings) -> LayerMaps:
    """The cached maps of states [layers, n, hidden] with these settings."""
    key = (states.shape, digest(states[-1]), settings)
    return _kept.get(key, lambda: LayerMaps(settings))


def digest(vectors: np.ndarray) -> bytes:
    """A hash of the numbers of an array, 16 bytes."""
    return hashlib.blake2b(np.ascontiguousarray(vectors).data, digest_size=16).digest()
