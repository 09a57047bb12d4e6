"""Maps of points in two or three dimensions."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.similarity import first_of_each
from explorer.ui.pictures.base import ACCENT, CATEGORIES, LEGEND, esc, figure, shorten
from explorer.ui.pictures.numbers import Table, columns_of, keep

OTHERS = "others"
MOST_MOVING = 600  # points; the movement of more would stutter


@dataclass(frozen=True)
class Marks:
    """Which points stand out: rows not `bright` [n] fade; the `picked` one, its `neighbors` and `others` get a ring."""

    bright: np.ndarray | None = None
    picked: int | None = None
    neighbors: Sequence[int] = ()
    others: Sequence[int] = ()

    @property
    def rings(self) -> dict[int, int]:
        """The rows with a ring, and its size in pixels, which is larger for the picked one."""
        small = dict.fromkeys([*self.neighbors, *self.others], 12)
        return small if self.picked is None else small | {self.picked: 16}


def point_map(
    points: np.ndarray, texts: Sequence[str], labels: Sequence[str], axes: Sequence[str], key: str, marks: Marks = Marks()
) -> go.Figure:
    """A scatter plot of points [n, 2 or 3], with a colour per label; `axes` are the titles.

    A text that occurs several times at one place has its count beside it.
    """
    times = times_of(texts, first_of_each(np.asarray(points)))
    named = [with_count(shorten(text, 80), number) for text, number in zip(texts, times, strict=True)]
    few = len(texts) <= 40 and all(len(text) <= 16 for text in texts)
    groups = rows_by_label(labels)
    traces = []
    for (label, rows), colour in zip(groups.items(), CATEGORIES, strict=False):
        marker: dict[str, object] = {"color": CATEGORIES[-1] if label == OTHERS else colour}
        bright = marks.bright
        marker["opacity"] = 0.85 if bright is None else np.where(bright[rows], 0.95, 0.08).astype(np.float32)
        traces.append(_group(points, named, rows, label, marker, few))
    traces.append(_rings(points, marks.rings))
    layout = _space(axes)
    if len(axes) == 2 and len(points) <= MOST_MOVING and marks.bright is None and marks.picked is None:
        layout["transition"] = {"duration": 450, "easing": "cubic-in-out"}  # only without rings, which would not move along
    drawn = figure(traces, key=key, showlegend=len(groups) > 1, legend={**LEGEND, "itemsizing": "constant"}, **layout)
    return keep(drawn, lambda: table_of(points, texts, labels))


def table_of(points: np.ndarray, texts: Sequence[str], labels: Sequence[str]) -> Table:
    """What is exported of a map: a row per text with its label and its place, and how often it is there if any is repeated."""
    places = dict(zip("xyz", np.asarray(points).T, strict=False))
    times = times_of(texts, first_of_each(np.asarray(points)))
    extra = {"times": times} if max(times, default=1) > 1 else {}
    return columns_of(text=texts, label=labels, **extra, **places)


def times_of(texts: Sequence[str], first: np.ndarray) -> list[int]:
    """How often the text of each row is at its place, by the first row of each place."""
    at = list(zip(texts, first.tolist(), strict=True))
    count = Counter(at)
    return [count[place] for place in at]


def with_count(text: str, times: int) -> str:
    return text if times == 1 else f"{text} ({times} times)"


def _space(axes: Sequence[str]) -> dict[str, object]:
    """The layout of two or three axes with titles but without numbers."""
    plain = {"showgrid": False, "zeroline": False, "showticklabels": False}
    named = [{**plain, "title": {"text": esc(axis)}} for axis in axes]
    if len(axes) == 2:
        return {"xaxis": named[0], "yaxis": {**named[1], "scaleanchor": "x"}}
    # Distance and aim that keep the titles of the axes inside the picture.
    camera = {"eye": {"x": 1.65, "y": 1.65, "z": 0.9}, "center": {"x": 0, "y": 0, "z": -0.25}}
    return {"scene": {**{f"{letter}axis": axis for letter, axis in zip("xyz", named, strict=True)}, "camera": camera}}


def rows_by_label(labels: Sequence[str]) -> dict[str, list[int]]:
    """The rows of each label; with more labels than colours, the rarest become OTHERS."""
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(str(label), []).append(row)
    if OTHERS in rows:
        rows[OTHERS] = rows.pop(OTHERS)  # last, so that it gets the last colour to itself
    if len(rows) <= len(CATEGORIES):
        return rows
    common = sorted(rows, key=lambda label: -len(rows[label]))[: len(CATEGORIES) - 1]  # the last colour is grey
    rest = sorted(row for label in rows if label not in common for row in rows[label])
    return {label: rows[label] for label in common} | {OTHERS: rest}


def _group(
    points: np.ndarray, texts: Sequence[str], rows: list[int], label: str, marker: dict[str, object], named: bool
) -> go.Scatter | go.Scatter3d:
    common = {
        "mode": "markers+text" if named else "markers",
        "text": [esc(texts[row]) for row in rows],
        "textposition": "top center",
        "customdata": rows,
        "hovertemplate": "%{text}<extra></extra>",
        "name": esc(label),
    }
    if points.shape[1] == 2:
        marker = {"size": 8 if len(texts) <= 600 else 6, **marker}
    elif np.isscalar(marker["opacity"]):
        marker = {**marker, "size": 4}
    else:  # in three dimensions a trace has a single opacity
        size = np.where(np.asarray(marker["opacity"]) > 0.5, 6, 1.5).astype(np.float32)
        marker = {**marker, "opacity": 0.85, "size": size}
    return _scatter(points[rows], marker=marker, **common)


def _rings(points: np.ndarray, sizes: dict[int, int]) -> go.Scatter | go.Scatter3d:
    """Rings of these sizes around some points, by row; drawn even if empty, so that the other traces keep their numbers."""
    marker = {"size": list(sizes.values()), "color": ACCENT, "symbol": "circle-open", "line": {"width": 2}}
    named = list(map(str, sizes))  # a ring moves with its point
    return _scatter(points[list(sizes)], ids=named, mode="markers", marker=marker, hoverinfo="skip", showlegend=False)


def _scatter(points: np.ndarray, **look: object) -> go.Scatter | go.Scatter3d:
    kind = go.Scatter if points.shape[1] == 2 else go.Scatter3d
    return kind(**dict(zip("xyz", points.astype(np.float32).T, strict=False)), **look)
