"""A flat map whose points glide through the layers; few carry their text, and lines to the nearest in all dimensions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from explorer.analysis.similarity import nearest_place
from explorer.projection.picture import LayerMap, agreement_of, are_groups, nearest_places
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.maps import Marks, classes_by_row, rows_by_label, table_of, times_of, with_count
from explorer.ui.pictures.numbers import keep
from explorer.ui.pictures.text_map import Frame, Link, TextMap, draw_map

MOST = 60  # points with their text, and a line to the nearest
NEAREST = 5  # of a chosen point, with lines

Kind = tuple[str, int]  # a text, and the first row at its place


def draw_speaking_map(found: LayerMap, marks: Marks, labels: Sequence[str], fits: bool = False) -> dict[str, Any]:
    """The component's value: a point for each different text at each place, with a count; a click sends its row.

    Colours are by `labels`, one per text. The picked row of `marks` has lines to its NEAREST by cosine in all dimensions; without
    one, each of few points has a line to the nearest one, and the `others` of `marks` have a ring. If it `fits`, the map is
    zoomed to the bright ones.
    """
    texts, places, at = found.points.texts, found.projection.points, found.projection.first
    kinds = list(zip(texts, at.tolist(), strict=True))
    rows = sorted({kind: row for row, kind in reversed(list(enumerate(kinds)))}.values())
    index = {kinds[row]: spot for spot, row in enumerate(rows)}
    classes = rows_by_label(labels)
    if rest := classes.pop(NO_LABEL, None):
        classes[NO_LABEL] = rest  # last, since it has no hull
    named = len(classes) - (NO_LABEL in classes)
    few, others = len(rows) <= MOST, set(marks.others)
    encircled = few and not found.points.contexts and 1 < named < len(rows)
    if encircled and labels is found.points.labels:
        encircled = are_groups(found.points, found.layer)
    class_of = classes_by_row(classes)
    times = times_of(texts, at)
    what = TextMap(
        texts=[with_count(texts[row], times[row]) for row in rows],
        places=places[rows],
        labels=[class_of[row] for row in rows],
        classes=list(classes),
        notes=_notes(found, rows, kinds) if few else (),
        contexts=_contexts(found, rows) if few else (),
        rows=rows,
        rings=[marks.picked is None and row in others for row in rows],
        ringed="nearest to another label" if len(set(found.points.labels) - {NO_LABEL}) > 1 else "the closest two",
        faint=[marks.bright is not None and not marks.bright[row] for row in rows],
        fits=fits,
        picked=None if marks.picked is None else index[kinds[marks.picked]],
        links=_links(found, marks.picked, index, kinds, few),
        even=True,
        hulls=named if encircled else 0,
        frames=_frames(found, rows),
        frame=found.layer,
        glides=True,
    )
    lines = f"; lines lead to the nearest in all {found.vectors.shape[1]} dimensions" if what.links else ""
    return keep(draw_map(what, f"A map of {len(rows):,} texts{lines}."), lambda: table_of(places, texts, labels))


def _frames(found: LayerMap, rows: list[int]) -> list[Frame]:
    """The places at each layer, if they are known, and how many are nearest to one with their own label there."""
    if len(found.through) < 2:
        return []
    frames, last = [], len(found.through) - 1
    for layer, places in enumerate(found.through):
        agreed = None if places is None else agreement_of(found.points, layer)
        text = f"Hidden state {layer} of {last}" + (f": {agreed}" if agreed else "")
        frames.append(Frame(text, None if places is None else places[rows]))
    return frames


def _links(found: LayerMap, picked: int | None, index: dict[Kind, int], kinds: list[Kind], few: bool) -> list[Link]:
    """Lines from the picked row to the nearest, with cosines; without one, from each of few points, once for both directions."""
    if picked is not None:
        near = nearest_place(found.vectors, picked, NEAREST)
        return [Link(index[kinds[picked]], index[kinds[row]], f"{cosine:.2f}") for row, cosine in near]
    if not few:
        return []
    first, others, _ = map(np.ndarray.tolist, nearest_places(found.vectors))
    pairs: Iterable[tuple[int, int]] = zip(first, others, strict=True)
    ends = {tuple(sorted((index[kinds[row]], index[kinds[other]]))) for row, other in pairs if row != other}
    return [Link(start, end) for start, end in sorted(ends)]


def _notes(found: LayerMap, rows: list[int], kinds: list[Kind]) -> list[str]:
    """The nearest other text of each of the rows, and the labels that its equals have besides its own."""
    texts, labels, at = found.points.texts, found.points.labels, found.projection.first
    first, others, cosines = map(np.ndarray.tolist, nearest_places(found.vectors))
    closest = {row: (other, cosine) for row, other, cosine in zip(first, others, cosines, strict=True) if row != other}
    notes = []
    for row in rows:
        more = sorted({label for label, kind in zip(labels, kinds, strict=True) if kind == kinds[row]} - {labels[row]})
        also = f"also labelled {', '.join(more)}. " if more else ""
        other, cosine = closest.get(int(at[row]), (row, 1.0))
        notes.append(also if other == row else f"{also}nearest in all dimensions, with cosine {cosine:.2f}: {texts[other][:120]}")
    return notes


def _contexts(found: LayerMap, rows: list[int]) -> list[tuple[str, str]]:
    """The context of each word that is there several times, by which they can be told apart."""
    texts, contexts = found.points.texts, found.points.contexts
    several = Counter(texts)
    told = [bool(contexts) and several[text] > 1 and any(map(str.isalpha, text)) for text in texts]
    return [contexts[row] if told[row] else ("", "") for row in rows]
