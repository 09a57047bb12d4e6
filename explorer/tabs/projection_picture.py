"""The Projection tab's picture of a map, and what is said about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.layer_maps import digest
from explorer.analysis.mapping import clusters, judged_neighbors
from explorer.analysis.projection import MapSettings, Projection
from explorer.analysis.similarity import nearest
from explorer.base.cache import OnceCache
from explorer.figures.maps import map_figure
from explorer.page.components import Ranking
from explorer.tabs.projection_data import Points

LABEL, LENGTH, CLUSTER = "Label or segment", "Length", "Cluster"
COLOURS = (LABEL, LENGTH, CLUSTER)
NEIGHBORS = 8
NAMES = {"pca": "PCA", "umap": "UMAP", "tsne": "t-SNE"}
MEANING = {
    "umap": "UMAP keeps neighbours together: who is close means something; the gaps between groups and their sizes do not.",
    "tsne": "t-SNE keeps neighbours together: who is close means something; the gaps between groups and their sizes do not.",
}

_clusters: OnceCache[tuple[object, ...], np.ndarray] = OnceCache(20)

Chosen = tuple[tuple[int, ...], str]
"""Some rows, and the key of the points that they are rows of: those of other points mean nothing here."""

NONE_CHOSEN: Chosen = ((), "")


@dataclass(frozen=True)
class Look:
    """How the points are shown: by what they are coloured, what is searched for, which one was clicked, which taken."""

    colour: str
    number_of_clusters: int
    search: str
    picked: Chosen
    kept: Chosen

    def bright(self, points: Points) -> np.ndarray | None:
        """[n] which rows stand out: those found and taken; None when all do."""
        wanted, kept = self.search.strip().casefold(), rows_of(self.kept, points)
        if not wanted and not kept:
            return None
        found = np.array([wanted in text.casefold() for text in points.texts])
        return found & np.isin(np.arange(len(found)), kept) if kept else found


def rows_of(chosen: Chosen, points: Points) -> tuple[int, ...]:
    """The chosen rows, when they are rows of these points."""
    rows, key = chosen
    return rows if key == points.key else ()


def picture(
    points: Points, found: Projection, settings: MapSettings, at: int, look: Look, key: str
) -> tuple[object, str, dict[str, object] | None]:
    """The figure, the caption, and the list beside it: the neighbours of the clicked point, or the set taken."""
    vectors = points.states[at]
    row = next(iter(rows_of(look.picked, points)), None)
    near = [] if row is None else nearest(vectors, row, NEIGHBORS)
    labels, unit = _colours(points, vectors, look)
    figure = map_figure(
        found.points,
        points.texts,
        labels,
        _axes(found, settings),
        key,
        bright=look.bright(points),
        picked=row,
        neighbors=[other for other, _ in near],
        unit=unit,
    )
    return figure, _said(points, found, settings, look), _listed(points, look, row, near)


def _colours(points: Points, vectors: np.ndarray, look: Look) -> tuple[Sequence[str] | np.ndarray, str]:
    if look.colour == LENGTH:
        pieces = all(" " not in text for text in points.texts)
        lengths = [len(text) if pieces else len(text.split()) for text in points.texts]
        return np.array(lengths, dtype=np.float32), "characters" if pieces else "words"
    if look.colour == CLUSTER:
        key = (digest(vectors), look.number_of_clusters)
        found = _clusters.get(key, lambda: clusters(vectors, look.number_of_clusters))
        return [f"cluster {number + 1}" for number in found], ""
    return points.labels, ""


def _axes(found: Projection, settings: MapSettings) -> list[str]:
    if found.explained_variance is None:
        return [f"{NAMES[settings.method]} {axis + 1}" for axis in range(found.points.shape[1])]
    of = " of the variance" if len(found.explained_variance) == 2 else ""  # three names must be short to fit
    return [f"direction {axis + 1} ({share:.0%}{of})" for axis, share in enumerate(found.explained_variance)]


def _said(points: Points, found: Projection, settings: MapSettings, look: Look) -> str:
    number, size = len(points.texts), points.states.shape[2]
    text = f"{number:,} point{'s' * (number != 1)} in {size} dimensions. "
    if found.explained_variance is None:
        text += MEANING[settings.method]
    elif not found.points.any():
        text += "They are all in one place, so that no direction has any variance."
    else:
        share = found.explained_variance.sum()
        text += f"PCA, the directions of most variance: these {len(found.explained_variance)} hold {share:.0%} of it."
    if found.trustworthiness is not None:
        judged = judged_neighbors(number)
        near = (
            f"the {judged} neighbours on the map are the true ones"
            if judged > 1
            else "the nearest on the map is the true one"
        )
        text += f" Trustworthiness {found.trustworthiness:.2f} (0.5 by chance, 1 when {near}; Venna & Kaski 2001)."
    if points.single:
        text += f" {points.single}"
    if look.search.strip():
        hits = sum(look.search.strip().casefold() in text.casefold() for text in points.texts)
        text += f" {hits:,} of {number:,} hold ‘{look.search.strip()[:40]}’."
    return text


def _listed(points: Points, look: Look, row: int | None, near: Sequence[tuple[int, float]]) -> dict[str, object] | None:
    if row is not None:
        rows = [(other, points.texts[other], f"{cosine:.3f}") for other, cosine in near]
        note = f"By cosine in all {points.states.shape[2]} dimensions of this layer, not on the map."
        return Ranking.pack(f"Nearest to ‘{points.texts[row][:120]}’", rows, note)
    kept = rows_of(look.kept, points)
    if kept:
        rows = [(other, points.texts[other], points.labels[other]) for other in kept[:NEIGHBORS]]
        more = f"… and {len(kept) - NEIGHBORS:,} more." if len(kept) > NEIGHBORS else ""
        return Ranking.pack(f"{len(kept):,} points taken with the lasso", rows, more)
    return None
