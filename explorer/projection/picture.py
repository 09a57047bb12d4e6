"""The map of one layer on the page: the figure, a sentence about it, and the list beside it."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from explorer.analysis.mapping import clusters, judged_neighbors
from explorer.analysis.projection import NAMES, LayerMaps, MapSettings, Projection, digest
from explorer.analysis.similarity import nearest_place
from explorer.core.cache import OnceCache
from explorer.core.steps import relay
from explorer.projection.points import Points
from explorer.ui.pictures.bars import ranking
from explorer.ui.pictures.maps import Marks, Quantity, counted, point_map, times_of

LABEL, LENGTH, CLUSTER = "Label or segment", "Length", "Cluster"
COLOURS = (LABEL, LENGTH, CLUSTER)
NEIGHBORS = 8
MEANING = "{} keeps neighbours together: who is close means something; the gaps between groups and their sizes do not."

_clusters: OnceCache[tuple[object, ...], np.ndarray] = OnceCache(20)


@dataclass(frozen=True)
class LayerMap:
    """The points at one layer, and their positions on the map."""

    points: Points
    settings: MapSettings
    layer: int  # index in the points' states
    projection: Projection

    @property
    def vectors(self) -> np.ndarray:
        """[n, hidden] the vectors that were mapped."""
        return self.points.states[self.layer]

    @property
    def key(self) -> str:
        """A key under which zoom and camera are kept."""
        return f"{self.points.key}-{self.settings.method}-{self.settings.dimensions}"

    def axes(self) -> list[str]:
        """The titles of the axes."""
        shares = self.projection.explained_variance
        if shares is None:
            name = NAMES[self.settings.method]
            return [f"{name} {axis + 1}" for axis in range(self.projection.points.shape[1])]
        of = " of the variance" if len(shares) == 2 else ""  # three titles must be short to fit
        return [f"direction {axis + 1} ({share:.0%}{of})" for axis, share in enumerate(shares)]

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
                f" Trustworthiness {self.projection.trustworthiness:.2f} (0.5 by chance, 1 when {near}, by "
                f"{self.settings.metric} distance for every kind of map; Venna & Kaski 2001)."
            )
        return f"{text} {self.points.single}".rstrip()


@dataclass(frozen=True)
class Look:
    """A map with highlights: rows found by the search, a clicked row, a set kept with the lasso."""

    map: LayerMap
    search: str
    picked: int | None
    kept: tuple[int, ...]
    told: tuple[int, ...] = ()  # the rows of the finding
    searched: Callable[[str], str] = str.casefold  # a text as the model's letters are compared

    @property
    def anything(self) -> bool:
        """Whether anything is highlighted."""
        return bool(self.search or self.kept) or self.picked is not None

    @cached_property
    def near(self) -> list[tuple[int, float]]:
        """The neighbors of the clicked row in all dimensions, with their cosines."""
        return [] if self.picked is None else nearest_place(self.map.vectors, self.picked, NEIGHBORS)

    @cached_property
    def found(self) -> np.ndarray:
        """[n] bool: the rows that contain the text searched for."""
        wanted = self.searched(self.search)
        return np.array([wanted in self.searched(text) for text in self.map.points.texts])

    def figure(self, colour: str, number_of_clusters: int) -> object:
        """The map, with all but the highlighted rows faded."""
        bright = self.found if self.search or self.kept else None
        if self.kept:
            bright = self.found & np.isin(np.arange(len(self.found)), self.kept)
        labels = _colours(self.map, colour, number_of_clusters)
        marks = Marks(bright, self.picked, [row for row, _ in self.near], self.told)
        points, texts = self.map.projection.points, self.map.points.texts
        return point_map(points, texts, labels, self.map.axes(), self.map.key, marks)

    def summary(self) -> str:
        """The sentences about the map, and the number of rows found."""
        text = self.map.summary()
        if self.search:
            text += f" {self.found.sum():,} of {len(self.found):,} hold ‘{self.search[:40]}’."
        return text

    def listed(self) -> dict[str, Any] | None:
        """The neighbors of the clicked row, or the rows kept with the lasso."""
        points = self.map.points
        if self.picked is not None:
            times = times_of(points.texts, self.map.projection.first)
            rows = [(row, counted(points.texts[row], times[row]), cosine) for row, cosine in self.near]
            note = f"By cosine in all {self.map.vectors.shape[1]} dimensions of this layer, not on the map."
            return ranking(f"Nearest to ‘{points.texts[self.picked][:120]}’", rows, note)
        if self.kept:
            taken = [(row, points.texts[row], points.labels[row]) for row in self.kept[:NEIGHBORS]]
            more = f"… and {len(self.kept) - NEIGHBORS:,} more." if len(self.kept) > NEIGHBORS else ""
            return ranking(f"{len(self.kept):,} points taken with the lasso", taken, more)
        return None


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


def _colours(map: LayerMap, colour: str, number_of_clusters: int) -> Sequence[str] | Quantity:
    """The color values of the points: words, or numbers with a unit."""
    texts = map.points.texts
    if colour == LENGTH:
        pieces = all(" " not in text for text in texts)
        lengths = [len(text) if pieces else len(text.split()) for text in texts]
        return Quantity(np.array(lengths, dtype=np.float32), "characters" if pieces else "words")
    if colour == CLUSTER:
        key = (digest(map.vectors), number_of_clusters)
        found = _clusters.get(key, lambda: clusters(map.vectors, number_of_clusters))
        return [f"cluster {number + 1}" for number in found]
    return map.points.labels
