"""The map of one layer on the page: the figure, a sentence about it, and the list beside it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.analysis.projection import NAMES, LayerMaps, MapSettings, Projection, judged_neighbors
from explorer.core.steps import relay
from explorer.projection.points import Points
from explorer.ui.pictures.bars import ranking
from explorer.ui.pictures.maps import Marks, counted, point_map, times_of

MEANING = "{} keeps neighbours together: who is close means something; the gaps between groups and their sizes do not."


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

    def figure(self, marks: Marks) -> object:
        return point_map(self.projection.points, self.points.texts, self.points.labels, self.axes(), self.key, marks)

    def list_near(self, row: int, near: Sequence[tuple[int, float]]) -> dict[str, Any]:
        """The list of the neighbors of a row, with their cosines."""
        texts = self.points.texts
        times = times_of(texts, self.projection.first)
        rows = [(other, counted(texts[other], times[other]), cosine) for other, cosine in near]
        note = f"By cosine in all {self.vectors.shape[1]} dimensions of this layer, not on the map."
        return ranking(f"Nearest to ‘{texts[row][:120]}’", rows, note)


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
