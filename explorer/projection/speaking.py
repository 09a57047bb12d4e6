"""A map of few points, on which each carries its text, with lines to its nearest neighbours in all dimensions."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from explorer.analysis.similarity import nearest_place
from explorer.projection.picture import LayerMap, nearest_places
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.maps import Marks, rows_by_label, table_of, times_of, with_count
from explorer.ui.pictures.numbers import keep
from explorer.ui.pictures.text_map import Link, TextMap, draw_map

MOST = 60  # points that carry their text
NEAREST = 5  # of a chosen point, with lines


def can_speak(found: LayerMap) -> bool:
    """Whether the map is flat and has few enough points for a text each."""
    return found.settings.dimensions == 2 and len(found.points.texts) <= MOST


def speaking_map(found: LayerMap, marks: Marks) -> dict[str, Any]:
    """The component's value: a point for each different text at each place, with a count; a click sends its row.

    The picked row of `marks` has lines to its NEAREST by cosine in all dimensions; without one, each point has a line to the
    nearest one, and the `others` of `marks` have a ring.
    """
    texts, labels = found.points.texts, found.points.labels
    places, at = found.projection.points, found.projection.first
    kinds = list(zip(texts, at.tolist(), strict=True))
    rows = sorted({kind: row for row, kind in reversed(list(enumerate(kinds)))}.values())
    index = {kinds[row]: spot for spot, row in enumerate(rows)}
    classes = rows_by_label(labels)
    class_of = {row: place for place, members in enumerate(classes.values()) for row in members}
    times = times_of(texts, at)
    picked = None if marks.picked is None else index[kinds[marks.picked]]
    if marks.picked is None:
        first, others, _ = map(np.ndarray.tolist, nearest_places(found.vectors))
        links = _links(zip(first, others, strict=True), index, kinds)
    else:
        told = nearest_place(found.vectors, marks.picked, NEAREST)
        links = [Link(index[kinds[marks.picked]], index[kinds[row]], f"{cosine:.2f}") for row, cosine in told]
    labelled = len(set(labels) - {NO_LABEL}) > 1
    what = TextMap(
        texts=[with_count(texts[row], times[row]) for row in rows],
        places=places[rows],
        labels=[class_of[row] for row in rows],
        classes=list(classes),
        notes=_notes(found, rows, kinds),
        contexts=_contexts(found, rows),
        rows=rows,
        rings=[marks.picked is None and row in set(marks.others) for row in rows],
        ringed="nearest to another label" if labelled else "the closest two",
        faint=[marks.bright is not None and not marks.bright[row] for row in rows],
        picked=picked,
        links=links,
        even=True,
    )
    alt = f"A map of {len(rows)} texts; lines lead to the nearest in all {found.vectors.shape[1]} dimensions, with the cosine."
    return keep(draw_map(what, alt), lambda: table_of(places, texts, labels))


def _links(pairs: Iterable[tuple[int, int]], index: dict[tuple[str, int], int], kinds: list[tuple[str, int]]) -> list[Link]:
    """A line for each pair of rows, once for both directions."""
    ends = {tuple(sorted((index[kinds[row]], index[kinds[other]]))) for row, other in pairs if row != other}
    return [Link(start, end) for start, end in sorted(ends)]


def _notes(found: LayerMap, rows: list[int], kinds: list[tuple[str, int]]) -> list[str]:
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
