"""A flat map whose points glide through the layers; few carry their text, and lines to the nearest in all dimensions."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.analysis.similarity import nearest_place
from explorer.projection.picture import Labelled, LayerMap, nearest_places
from explorer.projection.points import Points
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.maps import Marks, classes_by_row, rows_by_label, table_of, times_of, with_count
from explorer.ui.pictures.numbers import keep
from explorer.ui.pictures.text_map import Frame, Link, TextMap, draw_map

MOST = 60  # points with their text, and a line to the nearest
NEAREST = 5  # of a chosen point, with lines


def draw_speaking_map(found: LayerMap, marks: Marks, labels: Sequence[str], fits: bool = False) -> dict[str, Any]:
    """The component's value: a point for each different text at each place, with a count; a click sends its row.

    Colours are by `labels`, one per text. The picked row of `marks` has lines to its NEAREST by cosine in all dimensions; without
    one, each of few points has a line to the nearest one, and the `others` of `marks` have a ring. If it `fits`, the map is
    zoomed to the bright ones.
    """
    texts, at, picked = found.points.texts, found.projection.first, marks.picked
    spots: dict[tuple[str, int], int] = {}
    spot_of = [spots.setdefault(kind, len(spots)) for kind in zip(texts, at.tolist(), strict=True)]
    rows = np.unique(spot_of, return_index=True)[1].tolist()  # the first of each spot
    classes = rows_by_label(labels)
    if rest := classes.pop(NO_LABEL, None):
        classes[NO_LABEL] = rest  # last, since it has no hull
    named, few = len(classes) - (NO_LABEL in classes), len(rows) <= MOST
    encircled = few and not found.points.contexts and 1 < named < len(rows)
    labelled = Labelled.of(found.points, found.layer)
    if encircled and labels is found.points.labels:
        encircled = labelled is not None and labelled.are_groups
    class_of, times = classes_by_row(classes), times_of(texts, at)
    links = _links(found, picked, spot_of) if few or picked is not None else []
    what = TextMap(
        texts=[with_count(texts[row], times[row]) for row in rows],
        places=found.projection.points[rows],
        labels=[class_of[row] for row in rows],
        classes=list(classes),
        notes=_notes(found, rows, spot_of) if few else (),
        contexts=_contexts(found.points, rows) if few and found.points.contexts else (),
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
        labelled = Labelled.of(found.points, layer) if found.maps.has(layer) else None
        places = found.maps.at(layer).points[rows] if found.maps.has(layer) else None
        text = f"Hidden state {layer} of {layers - 1}"
        frames.append(Frame(f"{text}: {labelled.count()}" if labelled else text, places))
    return frames


def _links(found: LayerMap, picked: int | None, spot_of: list[int]) -> list[Link]:
    """Lines from the picked row to the nearest, with cosines; without one, from each, once for both directions."""
    if picked is not None:
        near = nearest_place(found.vectors, picked, NEAREST)
        return [Link(spot_of[picked], spot_of[row], f"{cosine:.2f}") for row, cosine in near]
    first, others, _ = nearest_places(found.vectors)
    pairs = zip(first.tolist(), others.tolist(), strict=True)
    return [
        Link(*ends) for ends in sorted({tuple(sorted((spot_of[row], spot_of[other]))) for row, other in pairs if row != other})
    ]


def _notes(found: LayerMap, rows: list[int], spot_of: list[int]) -> list[str]:
    """The nearest other text of each of the rows, and the labels that its equals have besides its own."""
    texts, labels, at = found.points.texts, found.points.labels, found.projection.first
    first, others, cosines = map(np.ndarray.tolist, nearest_places(found.vectors))
    closest = {row: (other, cosine) for row, other, cosine in zip(first, others, cosines, strict=True) if row != other}
    notes = []
    for row in rows:
        more = sorted({label for label, spot in zip(labels, spot_of, strict=True) if spot == spot_of[row]} - {labels[row]})
        also = f"also labelled {', '.join(more)}. " if more else ""
        other, cosine = closest.get(int(at[row]), (row, 1.0))
        notes.append(also if other == row else f"{also}nearest in all dimensions, with cosine {cosine:.2f}: {texts[other][:120]}")
    return notes


def _contexts(points: Points, rows: list[int]) -> list[tuple[str, str]]:
    """The context of each word that is there several times, by which they can be told apart."""
    several = Counter(text for text in points.texts if any(map(str.isalpha, text)))
    return [points.contexts[row] if several[points.texts[row]] > 1 else ("", "") for row in rows]
