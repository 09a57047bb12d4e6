"""The map of one layer on the page: the figure, sentences about it and about neighbours, and the list beside it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from explorer.analysis.projection import JUDGED_NEIGHBORS, JUDGED_ROWS, NAMES, LayerMaps, Projection, digest
from explorer.analysis.similarity import Agreement, Nearest, cosines, first_of_each, nearest_place, nearest_rows
from explorer.core.cache import OnceCache
from explorer.core.steps import relay
from explorer.projection.points import Points
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.bars import ranking
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.maps import times_of, with_count
from explorer.ui.telling import share_with_interval

NO_TRANSFORM = " t-SNE has no transform: a new text fits the whole map again."
MEANING = "{} keeps neighbours together: who is close means something; the gaps between groups and their sizes do not."
QUOTED = 40  # characters of a text
MOST_RINGS = 8
FEWEST_LABELLED = 4  # points; with fewer, labels say little
SIGNIFICANT = 0.05
ONE_PLACE = "All {} points have the same vector, so none is nearer than another."
_neighbors: OnceCache[bytes, tuple[np.ndarray, np.ndarray, np.ndarray]] = OnceCache(20)


@dataclass(frozen=True)
class LayerMap:
    """The points at one layer, an index in their states, and their positions on the map, which is made unless it was."""

    points: Points
    maps: LayerMaps
    layer: int

    @cached_property
    def projection(self) -> Projection:
        return self.maps.at(self.layer)

    @property
    def vectors(self) -> np.ndarray:
        """[n, hidden] the vectors that were mapped."""
        return self.points.states[self.layer]

    @property
    def axes(self) -> list[str]:
        """The titles of the axes of a map in space."""
        shares = self.projection.explained_variance
        if shares is None:
            return [f"{NAMES[self.maps.settings.method]} {axis + 1}" for axis in range(3)]
        return [f"direction {axis + 1} ({share:.0%})" for axis, share in enumerate(shares)]

    def summary(self) -> str:
        """The number of points, the meaning of the map, and its trustworthiness, in sentences."""
        number, made, dimensions = len(self.points.texts), self.projection, f"{self.vectors.shape[1]} dimensions"
        places, shares = len(np.unique(made.first)), made.explained_variance
        where = "" if places == number else f" at {places:,} place{'s' * (places != 1)}, since equal vectors share one"
        text = f"{number:,} point{'s' * (number != 1)}{where}, in {dimensions}. {made.note}{' ' * bool(made.note)}"
        if shares is None:
            text += MEANING.format(NAMES[made.method])
        elif not made.points.any():
            text += "They are all in one place, so that no direction has any variance."
        else:
            text += f"PCA, the directions of most variance: these {len(shares)} hold {shares.sum():.0%} of it."
        if made.trustworthiness is not None:
            judged = min(JUDGED_NEIGHBORS, (places - 1) // 2)
            near = (
                f"the {judged} neighbours on the map are the true ones"
                if judged > 1
                else "the nearest on the map is the true one"
            )
            sample = f" of {JUDGED_ROWS:,} points drawn at random" if places > JUDGED_ROWS else ""
            text += (
                f" Trustworthiness{sample} {made.trustworthiness:.2f} (0.5 by chance, 1 when {near}), continuity "
                f"{made.continuity:.2f} (the same in reverse), both by {self.maps.settings.metric} distance in all {dimensions} "
                "(Venna & Kaski 2001)."
            )
        if added := made.added:
            text += f" UMAP's transform added {added:,} point{'s' * (added != 1)} to a fitted map; no other point moved."
        return f"{text}{NO_TRANSFORM * (made.method == 'tsne')} {self.points.single}".rstrip()

    def list_near(self, rows: Sequence[int], near: Sequence[tuple[int, float]] = ()) -> dict[str, Any]:
        """The list of the rows `near` the only selected one, or of all selected ones by their cosine with their mean."""
        texts, times = self.points.texts, times_of(self.points.texts, self.projection.first)
        title, to = f"Nearest to ‘{texts[rows[0]][:120]}’", ""
        if len(rows) > 1:
            vectors = self.vectors[list(rows)]
            towards = cosines(vectors, vectors.mean(axis=0, keepdims=True)).tolist()
            near = sorted(zip(rows, towards, strict=True), key=lambda one: -one[1])
            title, to = f"{len(rows):,} selected", " with the mean of the selection"
        note = f"By cosine{to} in all {self.vectors.shape[1]} dimensions of this layer, not on the map."
        return ranking(title, [(row, with_count(texts[row], times[row]), cosine) for row, cosine in near], note)


def make_map(maps: LayerMaps, at: int) -> Generator[tuple[str, float | None], None, None]:
    """Make the map of a layer, and those of the layers above it, unless they are cached; yields the progress."""
    if maps.has(at) or maps.settings.method == "pca":
        maps.at(at)
        return
    name = NAMES[maps.settings.method]
    for share in relay(partial(maps.at, at)):
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
    if labelled := Labelled.of(points, layer):
        return labelled.describe(space)
    rows, others, near = nearest_places(vectors)
    if len(rows) < 2:
        return Nearby(ONE_PLACE.format(len(vectors)))
    closest = int(near.argmax())
    first, second = int(rows[closest]), int(others[closest])
    pair = f"{_quote(points, first)} and {_quote(points, second)}"
    return Nearby(f"In {space}, {pair} are closer than any other two: cosine {near[closest]:.2f}.", (first, second))


def nearest_places(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first row of each place, the nearest row at another place, and the cosine of both, [places] each."""

    def find() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.unique(first_of_each(vectors))
        if len(rows) < 2:
            return rows, rows, np.ones(len(rows))
        others, near = nearest_rows(vectors[rows], 1)
        return rows, rows[others[:, 0]], near[:, 0]

    return _neighbors.get(digest(vectors), find)


@dataclass(frozen=True)
class Labelled:
    """The places of labelled points at a layer, by their first `rows`, and the nearest of the `others` to each: [places]."""

    labels: Sequence[str]  # of all points
    rows: np.ndarray
    others: np.ndarray

    @classmethod
    def of(cls, points: Points, layer: int) -> "Labelled | None":
        """None for fewer than two labels, and for fewer places than FEWEST_LABELLED."""
        if len(set(points.labels) - {NO_LABEL}) < 2:
            return None
        kept = np.flatnonzero(np.array(points.labels) != NO_LABEL)
        rows, others, _ = nearest_places(points.states[layer][kept])
        return cls(points.labels, kept[rows], kept[others]) if len(rows) >= FEWEST_LABELLED else None

    @property
    def strays(self) -> tuple[int, ...]:
        """The rows whose nearest has another label."""
        pairs = zip(self.rows.tolist(), self.others.tolist(), strict=True)
        return tuple(row for row, other in pairs if self.labels[row] != self.labels[other])

    @cached_property
    def agreement(self) -> Agreement:
        """How many have a nearest neighbor of their own label, beside labels that are shuffled."""
        places = np.unique([*self.rows, *self.others])  # in which rows and others are found by their index
        pairs = Nearest(np.searchsorted(places, self.rows), np.searchsorted(places, self.others), np.ones(len(self.rows)))
        return Agreement.of(pairs, [self.labels[row] for row in places.tolist()])

    @property
    def are_groups(self) -> bool:
        """Whether labels go together with neighbours, beyond what shuffled labels give."""
        return self.agreement.p <= SIGNIFICANT

    def count(self) -> str:
        right, number = len(self.rows) - len(self.strays), len(self.rows)
        return f"{right:,} of {number:,} nearest to their own label ({share_with_interval(right, number)})"

    def describe(self, space: str) -> Nearby:
        """The number of places whose nearest neighbor has the same label, and whether labels that are shuffled give less."""
        number, strays, found = len(self.rows), self.strays, self.agreement
        alike = f"All {number:,}" if not strays else f"{number - len(strays):,} of {number:,}"
        labelled = "labelled " if NO_LABEL in self.labels else ""
        different = "points" if number == len(self.labels) else f"{labelled or 'different '}points"
        text = f"{alike} {different} are nearest to one with their own label, in {space}"
        text += f" ({found.shuffled:,.0f} with shuffled labels, p = {found.p:.3f})"
        ringed = strays if len(strays) <= MOST_RINGS else ()
        if not self.are_groups:
            return Nearby(f"Labels say little here: {text[0].lower()}{text[1:]}.", ringed)
        return Nearby(text + ("; the rest are ringed." if ringed else "."), ringed)


def _quote(points: Points, row: int) -> str:
    return f"“{shorten(points.texts[row], QUOTED)}”"
