"""What heads do over many items: a board of means, and means with their intervals."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import AMOUNT, FAINT, esc, figure, plain_axis
from explorer.ui.pictures.heatmaps import colour_scale, head_axes, heatmap, outlined_cell
from explorer.ui.pictures.numbers import Table, columns_of, keep

SURE = 0.05  # q values below this are marked
MARK = "•"


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its interval; one that the others are judged by is `faint`."""

    label: str
    mean: float
    low: float
    high: float
    faint: bool = False


def head_board(
    effects: np.ndarray, low: np.ndarray, high: np.ndarray, p: np.ndarray, q: np.ndarray, selected: tuple[int, int]
) -> go.Figure:
    """Mean effects [layers, heads], blue where a head helps the word (below 0), with a dot where q is below SURE.

    The chosen head (zero-based) is outlined.
    """
    top = max(float(np.abs(effects).max()), 1e-6)
    notes = [[_note(*cell) for cell in zip(*row, strict=True)] for row in zip(effects, low, high, q, strict=True)]
    scale = colour_scale(-top, top, "mean change of the logit difference", signed=True) | {"reversescale": True}
    drawn = heatmap(
        effects,
        head_axes(*effects.shape),
        hover="layer %{y}, head %{x}<br>%{customdata}",
        scale=scale,
        key="experiment-heads",
        customdata=notes,
        text=np.where(q < SURE, MARK, ""),
        texttemplate="%{text}",
    )
    drawn.update_layout(shapes=outlined_cell((selected[0] + 1, selected[1] + 1)))
    return keep(drawn, lambda: _heads(effects, low=low, high=high, p=p, q=q))


def intervals(rows: Sequence[Interval], unit: str) -> go.Figure:
    """Means from left to right, the first at the top, with their intervals and a line at 0."""
    places = [len(rows) - 1 - at for at in range(len(rows))]
    points = go.Scatter(
        x=[row.mean for row in rows],
        y=places,
        mode="markers",
        marker={"size": 10, "color": [FAINT if row.faint else AMOUNT for row in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.high - row.mean for row in rows],
            "arrayminus": [row.mean - row.low for row in rows],
            "thickness": 1.5,
            "width": 5,
            "color": "rgba(128, 128, 128, 0.9)",
        },
        customdata=[f"{esc(row.label)}: {row.mean:+.2f} ({row.low:+.2f} to {row.high:+.2f})" for row in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )
    labels = {"tickvals": places, "ticktext": [esc(row.label) for row in rows], "range": [-0.6, len(rows) - 0.4]}
    edges = [edge for row in rows for edge in (row.low, row.high, 0.0)]
    room = 0.05 * max(max(edges) - min(edges), 1e-6)
    drawn = figure(
        [points],
        key="experiment-intervals",
        xaxis=plain_axis(unit, 6, zeroline=True, range=[min(edges) - room, max(edges) + room]),
        yaxis={**plain_axis(""), **labels, "automargin": True},
        margin={"l": 12, "r": 12, "t": 8, "b": 44},
        meta={"alt": "; ".join(f"{row.label}: {row.mean:+.2f}, from {row.low:+.2f} to {row.high:+.2f}" for row in rows) + "."},
    )
    table = {name: [getattr(row, name) for row in rows] for name in ("label", "mean", "low", "high")}
    return keep(drawn, lambda: columns_of(**table))


def told_q(q: float) -> str:
    """A q value, 0 to 1, in words: a permutation test cannot tell how small a very small one is."""
    return f"q {q:.3f}" if q >= 0.001 else "q below 0.001"


def _note(effect: Any, low: Any, high: Any, q: Any) -> str:
    return f"{effect:+.2f} ({low:+.2f} to {high:+.2f}), {told_q(q)}".replace("-", "−")


def _heads(effects: np.ndarray, **more: np.ndarray) -> Table:
    """A row for each head, layers and heads from 1."""
    layer, head = (places.ravel() + 1 for places in np.indices(effects.shape))
    return columns_of(layer=layer, head=head, effect=effects.ravel(), **{name: one.ravel() for name, one in more.items()})
