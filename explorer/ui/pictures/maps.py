"""Maps of points in three dimensions, and what all maps share."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.similarity import first_of_each
from explorer.text.lines import NO_LABEL
from explorer.ui.pictures.base import ACCENT, CATEGORIES, LEGEND, esc, figure, shorten
from explorer.ui.pictures.numbers import Table, columns_of, keep

OTHERS = "others"


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


def space_map(
    points: np.ndarray, texts: Sequence[str], labels: Sequence[str], axes: Sequence[str], key: str, marks: Marks = Marks()
) -> go.Figure:
    """A scatter plot in space of points [n, 3], with a colour per label; `axes` are the titles.

    A text that occurs several times at one place has its count beside it.
    """
    times = times_of(texts, first_of_each(np.asarray(points)))
    named = [with_count(shorten(text, 80), number) for text, number in zip(texts, times, strict=True)]
    few = len(texts) <= 40 and all(len(text) <= 16 for text in texts)
    groups, bright, traces = rows_by_label(labels), marks.bright, []
    for (label, rows), colour in zip(groups.items(), CATEGORIES, strict=False):
        marker = {
            "color": CATEGORIES[-1] if label == OTHERS else colour,
            "opacity": 0.85,  # one for a trace: what is not bright shrinks
            "size": 4 if bright is None else np.where(bright[rows], 6, 1.5).astype(np.float32),
        }
        texts_of = {"text": [esc(named[row]) for row in rows], "textposition": "top center", "name": esc(label)}
        shown = {"mode": "markers+text" if few else "markers", "customdata": rows, "hovertemplate": "%{text}<extra></extra>"}
        traces.append(_scatter(points[rows], marker=marker, **texts_of, **shown))
    sizes = marks.rings
    rings = {"size": list(sizes.values()), "color": ACCENT, "symbol": "circle-open", "line": {"width": 2}}
    traces.append(_scatter(points[list(sizes)], mode="markers", marker=rings, hoverinfo="skip", showlegend=False))
    plain = {"showgrid": False, "zeroline": False, "showticklabels": False}
    space = {f"{letter}axis": {**plain, "title": {"text": esc(axis)}} for letter, axis in zip("xyz", axes, strict=True)}
    # Distance and aim that keep the titles of the axes inside the picture.
    camera = {"eye": {"x": 1.65, "y": 1.65, "z": 0.9}, "center": {"x": 0, "y": 0, "z": -0.25}}
    legend = {**LEGEND, "itemsizing": "constant"}
    drawn = figure(traces, key=key, showlegend=len(groups) > 1, legend=legend, scene={**space, "camera": camera})
    return keep(drawn, lambda: table_of(points, texts, labels))


def _scatter(points: np.ndarray, **look: object) -> go.Scatter3d:
    return go.Scatter3d(**dict(zip("xyz", points.astype(np.float32).T, strict=True)), **look)


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


def number_classes(labels: Sequence[str]) -> tuple[list[int], list[str]]:
    """The index of the class of each row, and the classes, those of `rows_by_label`; rows without a label come last."""
    classes = rows_by_label(labels)
    if rest := classes.pop(NO_LABEL, None):
        classes[NO_LABEL] = rest
    of = {row: place for place, rows in enumerate(classes.values()) for row in rows}
    return [of[row] for row in range(len(labels))], list(classes)
