"""The map of one layer on the page: the component's value, sentences about it and about neighbours, and the list beside it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from explorer.analysis.projection import JUDGED_ROWS, NAMES, LayerMaps, Projection, digest
from explorer.analysis.similarity import Agreement, Nearest, cosines, first_of_each, nearest_place, nearest_rows
from explorer.core.cache import OnceCache
from explorer.projection.points import Points
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.bars import ranking, whole_percent
from explorer.ui.pictures.base import shorten
from explorer.ui.pictures.maps import Marks, number_classes, table_of, times_of, with_count
from explorer.ui.pictures.numbers import keep
from explorer.ui.pictures.text_map import Frame, Link, TextMap, draw_map
from explorer.ui.telling import share_with_interval

MEANING = "{} keeps neighbours together: who is close means something; the gaps between groups and their sizes do not."
QUOTED = 40  # characters of a text
MOST_RINGS = 8
FEWEST_LABELLED = 4  # points; with fewer, labels say little
SIGNIFICANT = 0.05
ONE_PLACE = "All {} points have the same vector, so none is nearer than another."
MOST_WRITTEN = 60  # points with their text, and a line to the nearest
NEAREST = 5  # of a chosen point, with lines
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

    def summary(self) -> str:
        """The number of points, the meaning of the map, and its trustworthiness, in sentences."""
        number, made, dimensions = len(self.points.texts), self.projection, f"{self.vectors.shape[1]} dimensions"
        places, shares = len(np.unique(made.first)), made.explained_variance
        where = "" if places == number else f" at {places:,} place{'s' * (places != 1)}, since equal vectors share one"
        said = [f"{number:,} point{'s' * (number != 1)}{where}, in {dimensions}.", made.note]
        if shares is None:
            said.append(MEANING.format(NAMES[made.method]))
        else:
            held = whole_percent(round(float(shares.sum()), 6))
            said.append(f"PCA, the directions of most variance: these {len(shares)} hold {held} of it.")
        if made.trustworthiness is not None:
            sample = f" of {JUDGED_ROWS:,} points drawn at random" if places > JUDGED_ROWS else ""
            said.append(
                f"Trustworthiness{sample} {made.trustworthiness:.2f} (0.5 by chance, 1 when neighbours on the map are the true "
                f"ones), continuity {made.continuity:.2f} (the same in reverse), both by {self.maps.settings.metric} distance in "
                f"all {dimensions} (Venna & Kaski 2001)."
            )
        if made.added:
            points = f"{made.added:,} point{'s' * (made.added != 1)}"
            said.append(f"UMAP's transform added {points} to a fitted map; no other point moved.")
        return " ".join(filter(None, [*said, self.points.single]))

    def list_near(self, rows: Sequence[int], near: Sequence[tuple[int, float]], which: str) -> dict[str, Any]:
        """The list of the rows `near` a single one, or of several, `which` is said above, by their cosine with their mean."""
        texts, times = self.points.texts, times_of(self.points.texts, self.projection.first)
        title, to = f"Nearest to ‘{texts[rows[0]][:120]}’", ""
        if len(rows) > 1:
            vectors = self.vectors[list(rows)]
            towards = cosines(vectors, vectors.mean(axis=0, keepdims=True)).tolist()
            near = sorted(zip(rows, towards, strict=True), key=lambda one: -one[1])
            title, to = f"{len(rows):,} {which}", " with the mean of them all"
        note = f"By cosine{to} in all {self.vectors.shape[1]} dimensions of this layer, not on the map."
        return ranking(title, [(row, with_count(texts[row], times[row]), cosine) for row, cosine in near], note)


class Nearby(NamedTuple):
    """A sentence about neighbours, and the rows that it is about."""

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
        one, to = (f"“{shorten(points.texts[at], QUOTED)}”" for at in (other, row))
        return Nearby(f"In {space}, {another}{one} is nearest to {to}: cosine {cosine:.2f}.", (row, other))
    if labelled := Labelled.of(points, layer):
        return labelled.describe(space)
    rows, others, near = nearest_places(vectors)
    if len(rows) < 2:
        return Nearby(ONE_PLACE.format(len(vectors)))
    closest = int(near.argmax())
    pair = int(rows[closest]), int(others[closest])
    first, second = (f"“{shorten(points.texts[at], QUOTED)}”" for at in pair)
    return Nearby(f"In {space}, {first} and {second} are closer than any other two: cosine {near[closest]:.2f}.", pair)


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

    labels: np.ndarray  # of all points
    rows: np.ndarray
    others: np.ndarray

    @classmethod
    def of(cls, points: Points, layer: int) -> "Labelled | None":
        """None for fewer than two labels, and for fewer places than FEWEST_LABELLED."""
        labels = np.array(points.labels)
        kept = np.flatnonzero(labels != NO_LABEL)
        if len({*points.labels} - {NO_LABEL}) < 2:
            return None
        rows, others, _ = nearest_places(points.states[layer][kept])
        return cls(labels, kept[rows], kept[others]) if len(rows) >= FEWEST_LABELLED else None

    @property
    def strays(self) -> tuple[int, ...]:
        """The rows whose nearest has another label."""
        return tuple(self.rows[self.labels[self.rows] != self.labels[self.others]].tolist())

    @cached_property
    def agreement(self) -> Agreement:
        """How many have a nearest neighbor of their own label, beside labels that are shuffled."""
        places = np.arange(len(self.rows))
        pairs = Nearest(places, np.searchsorted(self.rows, self.others), np.ones(len(places)))
        return Agreement.of(pairs, self.labels[self.rows].tolist())

    def count(self) -> str:
        right, number = len(self.rows) - len(self.strays), len(self.rows)
        return f"{right:,} of {number:,} nearest to their own label ({share_with_interval(right, number)})"

    def describe(self, space: str) -> Nearby:
        """The number of places whose nearest neighbor has the same label, and whether labels that are shuffled give less."""
        number, strays, found = len(self.rows), self.strays, self.agreement
        alike = f"{number - len(strays):,} of {number:,}" if strays else f"All {number:,}"
        different = "labelled points" if NO_LABEL in self.labels else "different points"
        different = "points" if number == len(self.labels) else different
        text = f"{alike} {different} are nearest to one with their own label, in {space}"
        text += f" ({found.shuffled:,.0f} with shuffled labels, p = {found.p:.3f})"
        ringed = strays if len(strays) <= MOST_RINGS else ()
        if found.p > SIGNIFICANT:
            return Nearby(f"Labels say little here: {text[0].lower()}{text[1:]}.", ringed)
        return Nearby(text + ("; the rest are ringed." if ringed else "."), ringed)


def draw_flat(found: LayerMap, marks: Marks, labels: Sequence[str], fits: bool = False) -> dict[str, Any]:
    """The component's value: a point for each different text at each place, with a count; a click sends its row.

    Colours are by `labels`, one per text. Few points carry their text. The picked row of `marks` has lines to its NEAREST by
    cosine in all dimensions; without one, each of few points has a line to the nearest one, and the `others` of `marks` have a
    ring. If it `fits`, the map is zoomed to the bright ones.
    """
    texts, at, picked = found.points.texts, found.projection.first, marks.picked
    spots: dict[tuple[str, int], int] = {}
    spot_of = [spots.setdefault(kind, len(spots)) for kind in zip(texts, at.tolist(), strict=True)]
    rows = np.unique(spot_of, return_index=True)[1].tolist()  # the first of each spot
    class_of, classes = number_classes(labels)
    named, few = len(classes) - (NO_LABEL in classes), len(rows) <= MOST_WRITTEN
    labelled, contexts = Labelled.of(found.points, found.layer), found.points.contexts if few else ()
    encircled = few and not contexts and 1 < named < len(rows)
    if encircled and labels is found.points.labels:
        encircled = labelled is not None and labelled.agreement.p <= SIGNIFICANT
    times, several = times_of(texts, at), Counter(text for text in texts if any(map(str.isalpha, text)))
    links = _links(found, picked, spot_of) if few or picked is not None else []
    what = TextMap(
        texts=[with_count(texts[row], times[row]) for row in rows],
        places=found.projection.points[rows],
        labels=[class_of[row] for row in rows],
        classes=classes,
        notes=_notes(found, rows, spot_of) if few else (),
        contexts=[contexts[row] if several[texts[row]] > 1 else ("", "") for row in rows] if contexts else (),
        rows=rows,
        rings=[picked is None and row in marks.others for row in rows],
        ringed="nearest to another label" if labelled else "the closest two",
        faint=[marks.bright is not None and not marks.bright[row] for row in rows],
        fits=fits,
        picked=None if picked is None else spot_of[picked],
        links=links,
        even=True,
        hulls=named if encircled else 0,
        frames=_frames(found, rows),
        frame=found.layer,
        glides=True,
    )
    lines = f"; lines lead to the nearest in all {found.vectors.shape[1]} dimensions" if links else ""
    return keep(draw_map(what, f"A map of {len(rows):,} texts{lines}."), lambda: table_of(found.projection.points, texts, labels))


def _frames(found: LayerMap, rows: list[int]) -> list[Frame]:
    """The places at each layer, if they are known, and how many are nearest to one with their own label there."""
    frames, layers = [], len(found.points.states)
    for layer in range(layers if layers > 1 else 0):
        text, is_known = f"Hidden state {layer} of {layers - 1}", found.maps.has(layer)
        if is_known and (labelled := Labelled.of(found.points, layer)):
            text += f": {labelled.count()}"
        frames.append(Frame(text, found.maps.at(layer).points[rows] if is_known else None))
    return frames


def _links(found: LayerMap, picked: int | None, spot_of: list[int]) -> list[Link]:
    """Lines from the picked row to the nearest, with cosines; without one, from each, once for both directions."""
    if picked is not None:
        near = nearest_place(found.vectors, picked, NEAREST)
        return [Link(spot_of[picked], spot_of[row], f"{cosine:.2f}") for row, cosine in near]
    first, others, _ = nearest_places(found.vectors)
    pairs = zip(first.tolist(), others.tolist(), strict=True)
    ends = {tuple(sorted((spot_of[row], spot_of[other]))) for row, other in pairs if row != other}
    return [Link(*both) for both in sorted(ends)]


def _notes(found: LayerMap, rows: list[int], spot_of: list[int]) -> list[str]:
    """The nearest other text of each of the rows, and the labels that its equals have besides its own."""
    texts, labels, at = found.points.texts, found.points.labels, found.projection.first
    first, others, near = map(np.ndarray.tolist, nearest_places(found.vectors))
    closest = dict(zip(first, zip(others, near, strict=True), strict=True))
    notes = []
    for row in rows:
        more = sorted({label for label, spot in zip(labels, spot_of, strict=True) if spot == spot_of[row]} - {labels[row]})
        other, cosine = closest[int(at[row])]
        also = f"also labelled {', '.join(more)}. " if more else ""
        nearest = f"nearest in all dimensions, with cosine {cosine:.2f}: {texts[other][:120]}"
        notes.append(also + nearest if len(first) > 1 else also)
    return notes
