"""Sentences about the neighborhood of points in a layer, in all its dimensions and not on the map."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from explorer.analysis.projection import digest
from explorer.analysis.similarity import first_of_each, nearest_of_each, nearest_place
from explorer.core.cache import OnceCache
from explorer.projection.points import Points
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.base import shorten

QUOTED = 60  # characters of a text
MOST_RINGS = 8
FEWEST_LABELLED = 4  # points; with fewer, labels say little

ONE_PLACE = "All {} points have the same vector, so none is nearer than another."

_neighbors: OnceCache[bytes, tuple[np.ndarray, np.ndarray, np.ndarray]] = OnceCache(20)


@dataclass(frozen=True)
class Nearby:
    """A sentence, and the rows it is about."""

    text: str
    rows: tuple[int, ...] = ()


def nearby(points: Points, layer: int, row: int | None) -> Nearby | None:
    """The nearest neighbor of a row; without a row, whether neighbors share a label, or which two points are closest."""
    vectors = points.states[layer]
    if len(vectors) < 2:
        return None
    space = f"all {vectors.shape[1]} dimensions" + (f" of hidden state {layer}" if len(points.states) > 1 else "")
    if row is not None:
        if not (found := nearest_place(vectors, row, 1)):
            return Nearby(ONE_PLACE.format(len(vectors)))
        ((other, cosine),) = found
        another = "another " if points.texts[row] == points.texts[other] else ""
        text = f"In {space}, {another}{_quote(points, other)} is nearest to {_quote(points, row)}: cosine {cosine:.2f}."
        return Nearby(text, (row, other))
    rows, others, cosines = _neighbors.get(digest(vectors), lambda: _nearest_places(vectors))
    if len(rows) < 2:
        return Nearby(ONE_PLACE.format(len(vectors)))
    if len(rows) >= FEWEST_LABELLED and len(set(points.labels) - {NO_LABEL}) > 1:
        return _labelled(points, rows, others, space)
    closest = int(cosines.argmax())
    first, second = int(rows[closest]), int(others[closest])
    pair = f"{_quote(points, first)} and {_quote(points, second)}"
    return Nearby(f"In {space}, {pair} are closer than any other two: cosine {cosines[closest]:.2f}.", (first, second))


def _nearest_places(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first row of each place, the nearest row at another place, and the cosine of both, [places] each."""
    rows = np.unique(first_of_each(vectors))
    if len(rows) < 2:
        return rows, rows, np.ones(len(rows))
    others, cosines = nearest_of_each(vectors[rows])
    return rows, rows[others], cosines


def _labelled(points: Points, rows: np.ndarray, others: np.ndarray, space: str) -> Nearby:
    """The number of places whose nearest neighbor has the same label."""
    labels, number = points.labels, len(rows)
    strays = tuple(row for row, other in zip(rows.tolist(), others.tolist(), strict=True) if labels[row] != labels[other])
    by_chance = sum(count * (count - 1) for count in Counter(labels[row] for row in rows).values()) / (number - 1)
    alike = f"All {number:,}" if not strays else f"{number - len(strays):,} of {number:,}"
    ringed = strays if len(strays) <= MOST_RINGS else ()
    different = "points" if number == len(labels) else "different points"
    text = f"{alike} {different} lie nearest to one with their own label, in {space} (by chance {by_chance:,.0f})"
    return Nearby(text + ("; the rest are ringed." if ringed else "."), ringed)


def _quote(points: Points, row: int) -> str:
    return f"“{shorten(points.texts[row], QUOTED)}”"
