"""The map of one layer on the page: the figure, sentences about it and about neighbours, and the list beside it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.analysis.layer_maps import LayerMaps
from explorer.analysis.projection import NAMES, MapSettings, Projection, digest, judged_neighbors
from explorer.analysis.resampling import wilson
from explorer.analysis.similarity import Agreement, Nearest, cosines, first_of_each, nearest_of_each, nearest_place
from explorer.core.cache import OnceCache
from explorer.core.steps import relay
from explorer.projection.points import Points
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.bars import ranking
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.maps import Marks, space_map, times_of, with_count

NO_TRANSFORM = "t-SNE has no transform: a new text fits the whole map again."
MEANING = "{} keeps neighbours together: who is close means something; the gaps between groups and their sizes do not."
QUOTED = 40  # characters of a text
MOST_RINGS = 8
FEWEST_LABELLED = 4  # points; with fewer, labels say little
SIGNIFICANT = 0.05
ONE_PLACE = "All {} points have the same vector, so none is nearer than another."
_neighbors: OnceCache[bytes, tuple[np.ndarray, np.ndarray, np.ndarray]] = OnceCache(20)


@dataclass(frozen=True)
class LayerMap:
    """The points at one layer, and their positions on the map."""

    points: Points
    settings: MapSettings
    layer: int  # index in the points' states
    projection: Projection
    through: Sequence[np.ndarray | None] = ()  # the places at each layer, None where there are none yet

    @classmethod
    def of(cls, points: Points, maps: LayerMaps, layer: int) -> "LayerMap":
        """The map of a layer, made now unless it was, beside those of the other layers that have been made."""
        found = maps.at(points.states, layer)
        known = [maps.at(points.states, at).points if maps.has(at) else None for at in range(len(points.states))]
        return cls(points, maps.settings, layer, found, known)

    @property
    def vectors(self) -> np.ndarray:
        """[n, hidden] the vectors that were mapped."""
        return self.points.states[self.layer]

    @property
    def key(self) -> str:
        return f"{self.points.key}-{self.settings.method}-{self.settings.dimensions}"

    def axes(self) -> list[str]:
        """The titles of the axes of a map in space."""
        shares = self.projection.explained_variance
        if shares is None:
            return [f"{NAMES[self.settings.method]} {axis + 1}" for axis in range(3)]
        return [f"direction {axis + 1} ({share:.0%})" for axis, share in enumerate(shares)]

    def summary(self) -> str:
        """The number of points, the meaning of the map, and its trustworthiness, in sentences."""
        number, shares = len(self.points.texts), self.projection.explained_variance
        places = len(np.unique(self.projection.first))
        where = "" if places == number else f" at {places:,} place{'s' * (places != 1)}, since equal vectors share one"
        text = f"{number:,} point{'s' * (number != 1)}{where}, in {self.vectors.shape[1]} dimensions. "
        text += f"{self.projection.note} " if self.projection.note else ""
        if shares is None:
            text += MEANING.format(NAMES[self.settings.method])
        elif not self.projection.points.any():
            text += "They are all in one place, so that no direction has any variance."
        else:
            text += f"PCA, the directions of most variance: these {len(shares)} hold {shares.sum():.0%} of it."
        if self.projection.trustworthiness is not None:
            judged = judged_neighbors(number)
            near = (
                f"the {judged} neighbours on the map are the true ones"
                if judged > 1
                else "the nearest on the map is the true one"
            )
            text += (
                f" Trustworthiness {self.projection.trustworthiness:.2f} (0.5 by chance, 1 when {near}), continuity "
                f"{self.projection.continuity:.2f} (the same in reverse), both by {self.settings.metric} distance in all "
                f"{self.vectors.shape[1]} dimensions (Venna & Kaski 2001)."
            )
        if added := self.projection.added:
            text += f" UMAP's transform added {added:,} point{'s' * (added != 1)} to a fitted map; no other point moved."
        text += f" {NO_TRANSFORM}" if self.projection.method == "tsne" else ""
        return f"{text} {self.points.single}".rstrip()

    def figure(self, marks: Marks, labels: Sequence[str]) -> object:
        return space_map(self.projection.points, self.points.texts, labels, self.axes(), self.key, marks)

    def list_near(self, row: int, near: Sequence[tuple[int, float]]) -> dict[str, Any]:
        note = f"By cosine in all {self.vectors.shape[1]} dimensions of this layer, not on the map."
        return ranking(f"Nearest to ‘{self.points.texts[row][:120]}’", self._count(near), note)

    def list_selected(self, rows: Sequence[int]) -> dict[str, Any]:
        """The list of selected rows, by their cosine with the mean of the selection."""
        vectors = self.vectors[list(rows)]
        towards = cosines(vectors, vectors.mean(axis=0, keepdims=True)).tolist()
        ordered = sorted(zip(rows, towards, strict=True), key=lambda one: -one[1])
        note = f"By cosine with the mean of the selection, in all {self.vectors.shape[1]} dimensions of this layer."
        return ranking(f"{len(rows):,} selected", self._count(ordered), note)

    def _count(self, rows: Sequence[tuple[int, float]]) -> list[tuple[int, str, float]]:
        texts, times = self.points.texts, times_of(self.points.texts, self.projection.first)
        return [(row, with_count(texts[row], times[row]), cosine) for row, cosine in rows]


def make_map(maps: LayerMaps, points: Points, at: int) -> Generator[tuple[str, float | None], None, None]:
    """Make the map of a layer, and those of the layers above it, unless they are cached; yields the progress."""
    if maps.has(at):
        return
    if maps.settings.method == "pca":
        maps.at(points.states, at)
        return
    name = NAMES[maps.settings.method]
    for share in relay(partial(maps.at, points.states, at)):
        yield (f"{name}: {share:.0%}" if share is not None else f"{name} is under way; the first map takes a while", share)


@dataclass(frozen=True)
class Nearby:
    text: str
    rows: tuple[int, ...] = ()


def nearby(points: Points, layer: int, row: int | None) -> Nearby | None:
    """The nearest neighbor of a row; without a row, whether neighbors share a label, or which two points are closest."""
    vectors = points.states[layer]
    if len(vectors) < 2:
        return None
    space = f"hidden state {layer}" if len(points.states) > 1 else f"all {vectors.shape[1]} dimensions"
    if row is not None:
        if not (found := nearest_place(vectors, row, 1)):
            return Nearby(ONE_PLACE.format(len(vectors)))
        ((other, cosine),) = found
        another = "another " if points.texts[row] == points.texts[other] else ""
        text = f"In {space}, {another}{_quote(points, other)} is nearest to {_quote(points, row)}: cosine {cosine:.2f}."
        return Nearby(text, (row, other))
    rows, others, cosines = _nearest_labelled(points, layer)
    if len(rows) < 2:
        return Nearby(ONE_PLACE.format(len(vectors)))
    if _has_labels(points, rows):
        return _judge_labels(points, rows, others, space)
    closest = int(cosines.argmax())
    first, second = int(rows[closest]), int(others[closest])
    pair = f"{_quote(points, first)} and {_quote(points, second)}"
    return Nearby(f"In {space}, {pair} are closer than any other two: cosine {cosines[closest]:.2f}.", (first, second))


def nearest_places(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first row of each place, the nearest row at another place, and the cosine of both, [places] each."""

    def find() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.unique(first_of_each(vectors))
        if len(rows) < 2:
            return rows, rows, np.ones(len(rows))
        others, near = nearest_of_each(vectors[rows])
        return rows, rows[others], near

    return _neighbors.get(digest(vectors), find)


def _nearest_labelled(points: Points, layer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Like `nearest_places`, among the points with a label if they have several."""
    several = len(set(points.labels) - {NO_LABEL}) > 1
    kept = np.array([row for row, label in enumerate(points.labels) if not several or label != NO_LABEL])
    rows, others, cosines = nearest_places(points.states[layer][kept])
    return kept[rows], kept[others], cosines


def _judge_labels(points: Points, rows: np.ndarray, others: np.ndarray, space: str) -> Nearby:
    """The number of places whose nearest neighbor has the same label, and whether labels that are shuffled give less."""
    labels, number = points.labels, len(rows)
    strays = tuple(row for row, other in zip(rows.tolist(), others.tolist(), strict=True) if labels[row] != labels[other])
    found = _shuffle(points, rows, others)
    alike = f"All {number:,}" if not strays else f"{number - len(strays):,} of {number:,}"
    ringed = strays if len(strays) <= MOST_RINGS else ()
    labelled = "labelled " if NO_LABEL in labels else ""
    different = "points" if number == len(labels) else f"{labelled or 'different '}points"
    text = f"{alike} {different} are nearest to one with their own label, in {space}"
    text += f" ({found.shuffled:,.0f} with shuffled labels, p = {found.p:.3f})"
    if found.p > SIGNIFICANT:
        return Nearby(f"Labels say little here: {text[0].lower()}{text[1:]}.", ringed)
    return Nearby(text + ("; the rest are ringed." if ringed else "."), ringed)


def _shuffle(points: Points, rows: np.ndarray, others: np.ndarray) -> Agreement:
    places = np.unique([*rows, *others])  # in which rows and others are found by their index
    pairs = Nearest(np.searchsorted(places, rows), np.searchsorted(places, others), np.ones(len(rows)))
    return Agreement.of(pairs, [points.labels[row] for row in places.tolist()])


def are_groups(points: Points, layer: int) -> bool:
    """Whether the labels of points go together with their neighbours at a layer, beyond what shuffled labels give."""
    rows, others, _ = _nearest_labelled(points, layer)
    return _has_labels(points, rows) and _shuffle(points, rows, others).p <= SIGNIFICANT


def agreement_of(points: Points, layer: int) -> str:
    """How many of the labelled places have a nearest neighbor of their own label at a layer, with its interval; '' for others."""
    rows, others, _ = _nearest_labelled(points, layer)
    if not _has_labels(points, rows):
        return ""
    right = sum(points.labels[row] == points.labels[other] for row, other in zip(rows.tolist(), others.tolist(), strict=True))
    low, high = wilson(right, len(rows))
    share = f"{right / len(rows):.0%}, 95% interval {low:.0%} to {high:.0%}"
    return f"{right:,} of {len(rows):,} nearest to their own label ({share})"


def _has_labels(points: Points, rows: np.ndarray) -> bool:
    return len(rows) >= FEWEST_LABELLED and len(set(points.labels) - {NO_LABEL}) > 1


def _quote(points: Points, row: int) -> str:
    return f"“{shorten(points.texts[row], QUOTED)}”"
