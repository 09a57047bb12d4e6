"""Heatmaps of matrices over tokens and layers."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import ACCENT, NEGATIVE, POSITIVE, figure, plain_axis, token_axis, token_labels, window_over
from explorer.ui.pictures.numbers import Places, as_typed, identifier, keep, matrix

SEQUENTIAL = {"ramp": "sequential"}  # the chart component replaces it by the page's own colours
SIGNED = ((0, NEGATIVE), (0.5, "rgba(128,128,128,0)"), (1, POSITIVE))
COLOUR_BAR = {"thickness": 10, "outlinewidth": 0, "len": 0.9}
TICKS = (0, 0.25, 0.5, 0.75, 1)  # of what a colour bar ends with
ROOT_TICKS = (0, 0.05, 0.2, 0.5, 1)  # where square roots are drawn, about as far apart: they show the scale without a word


@dataclass(frozen=True)
class Axes:
    """The columns (x) and the rows (y) of a heatmap, None for 0, 1, 2 ..., and their Plotly axes.

    `tokens` names the axes along which all tokens of the input lie: "x", "y" or "xy". `names` are the names of columns and rows
    in the exported data, if they differ from the titles of the axes.
    """

    x: Sequence[object] | np.ndarray | None
    y: Sequence[object] | np.ndarray | None
    x_axis: dict[str, object]
    y_axis: dict[str, object]
    tokens: str = ""
    names: tuple[str, str] = ("", "")

    def sides(self, shape: Sequence[int]) -> tuple[Places, Places]:
        """The names and labels of the rows and of the columns, for values of this shape [rows, columns]."""
        along = zip("yx", (self.y, self.x), (self.y_axis, self.x_axis), self.names[::-1], shape, strict=True)
        rows, columns = (self._side(*side) for side in along)
        return rows, columns

    def _side(self, letter: str, labels: Any, axis: dict[str, Any], name: str, length: int) -> Places:
        name = name or identifier(axis["title"]["text"]) or "row"
        labels = range(length) if labels is None else [as_typed(label) for label in labels]
        return Places.of_tokens(labels, name) if letter in self.tokens else Places.of(name, labels)


def heatmap(values: np.ndarray, axes: Axes, hover: str, scale: dict[str, Any], key: str, **cells: object) -> go.Figure:
    """Values [rows, columns], bytes as they are and others as float32, on a `colour_scale`.

    `hover` is Plotly's template for the label of a cell; `cells` are passed to Plotly.
    """
    numbers, unit = values, identifier(scale.get("colorbar", {}).get("title", {}).get("text", "")) or "value"
    values = values if values.dtype == np.uint8 else values.astype(np.float32)
    trace = go.Heatmap(z=values, x=axes.x, y=axes.y, coloraxis="coloraxis", hovertemplate=f"{hover}<extra></extra>", **cells)
    meta = {} if scale["colorscale"] == SIGNED else SEQUENTIAL
    rows, columns = values.shape
    window = window_over(x=range(columns) if "x" in axes.tokens else None, y=range(rows) if "y" in axes.tokens else None)
    drawn = figure([trace], key=key, xaxis=axes.x_axis, yaxis=axes.y_axis, coloraxis=scale, meta={**meta, **window} or None)
    return keep(drawn, lambda: matrix(numbers, *axes.sides(numbers.shape), unit))


def colour_scale(low: float, high: float, title: str = "", *, signed: bool = False, **bar: object) -> dict[str, Any]:
    """Colours from low to high, diverging from the middle if `signed`, with their colour bar; `bar` is passed to Plotly."""
    return {
        "colorscale": SIGNED if signed else "Viridis",
        "cmin": low,
        "cmax": high,
        "colorbar": {**COLOUR_BAR, "title": {"text": title, "side": "right"}, **bar},
    }


TELLING = "telling"  # ends the names of the rectangles around the cell that a finding is about


def outline(x: float, y: float, width: float, height: float) -> dict[str, object]:
    """A rectangle around the selection, from its corner at x and y."""
    return {"type": "rect", "x0": x, "x1": x + width, "y0": y, "y1": y + height, "line": {"color": ACCENT, "width": 2}}


def outline_cell(cell: tuple[float, float] | None) -> list[dict[str, object]]:
    """Rectangles around the cell (row, column): the accent on the page's background, visible on the blue of the ramp too.

    The page finds the cell by its name: it opens the window of a long input there, and hides the outline with the answers.
    """
    if cell is None:
        return []
    accent = outline(cell[1] - 0.5, cell[0] - 0.5, 1, 1)
    return [
        {**accent, "line": {"color": "var(--body-background-fill)", "width": 6}, "name": f"around {TELLING}"},
        {**accent, "line": {"color": ACCENT, "width": 3}, "name": TELLING},
    ]


def root_ticks(top: float, square_root: bool = True) -> dict[str, Any]:
    """Ticks of a colour bar from 0 to 1 that shows fractions of `top`, or their square roots."""
    shares = ROOT_TICKS if square_root else TICKS
    places = [share**0.5 if square_root else share for share in shares]
    return {"tickvals": places, "ticktext": [f"{share * top:.2g}" for share in shares]}


def number_axis(title: str, numbers: int | None = None, **more: object) -> dict[str, object]:
    """An axis of whole numbers, such as layers; given how many `numbers`, about a dozen of them are labelled."""
    step = {} if numbers is None else {"dtick": max(1, numbers // 12)}
    return plain_axis(title, 6, **step, **more)


def head_axes(layers: int, heads: int) -> Axes:
    """Heads in columns, layers in rows, both counted from 1."""
    rows = number_axis("layer", layers, autorange="reversed")
    return Axes(np.arange(1, heads + 1), np.arange(1, layers + 1), number_axis("head", heads), rows)


def similarity_heatmap(cosines: np.ndarray, tokens: Sequence[str]) -> go.Figure:
    """Cosines [n, n] between the vectors of tokens; the scale goes from the lowest cosine to 1."""
    labels = token_labels(tokens)
    return heatmap(
        cosines,
        Axes(labels, labels, token_axis("token"), token_axis("token", autorange="reversed"), "xy", ("other", "token")),
        hover="%{y} and %{x}<br>cosine %{z:.3f}",
        scale=colour_scale(min(float(cosines.min(initial=1)), 0.99), 1, "cosine"),
        key=f"similarity-{len(tokens)}",
    )
