"""Attention as heatmaps: one head, and the difference between two."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.attention import scale_end
from explorer.ui.pictures.alternatives import ARROW, names_of, strongest_cells
from explorer.ui.pictures.base import quick_figure, token_axis, token_labels, window_over
from explorer.ui.pictures.heatmaps import SEQUENTIAL, Axes, colour_scale, heatmap, outline, outline_cell, root_ticks
from explorer.ui.pictures.numbers import Places, identifier, keep, matrix

EXACT_CELLS = 160 * 160  # up to here every cell carries its exact number; larger pictures send one byte per cell
LEVELS = 255


@dataclass(frozen=True)
class WeightScale:
    """How weights are coloured: `top` is the end of the scale (None: its `scale_end`), `unit` the name of the values."""

    square_root: bool = False
    unit: str = "weight"
    top: float | None = None


def attention_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    scale: WeightScale = WeightScale(),
    row: int | None = None,
    places: tuple[Sequence[int], Sequence[int]] | None = None,
) -> dict[str, object]:
    """Weights [query, key], none negative: each row attends to the columns; the row `row` is outlined.

    `places` are the first tokens of the rows and of the columns, if these are not simply all tokens. A long input is sent as one
    byte per cell, on the scale shown.
    """
    top = float(scale_end(weights.max(initial=0), len(keys))) if scale.top is None else scale.top
    share = weights / top  # 0 to 1, the position on the colour bar
    if scale.square_root:
        share = np.sqrt(share)
    exact = weights.size <= EXACT_CELLS
    number = f"{scale.unit} %{{customdata:.4f}}" if exact else f"click for the {scale.unit}"
    cells = {
        "z": share.astype(np.float32) if exact else np.rint(share * LEVELS).astype(np.uint8),
        "customdata": weights.astype(np.float32) if exact else None,
        "hovertemplate": f"row %{{y}} → column %{{x}}<br>{number}<extra></extra>",
    }
    full = 1 if exact else LEVELS
    ticks = root_ticks(top, scale.square_root)
    ticks |= {"tickvals": [place * full for place in ticks["tickvals"]]}
    rows, columns = places or [range(length) for length in weights.shape]
    drawn = quick_figure(
        [{"type": "heatmap", "x": token_labels(keys), "y": token_labels(queries), "coloraxis": "coloraxis", **cells}],
        key=f"attention-{weights.shape}",
        xaxis=token_axis("column: is looked at (key)"),
        yaxis=token_axis("row: looks (query)", autorange="reversed"),
        coloraxis=colour_scale(0, full, scale.unit, **ticks),
        shapes=[] if row is None else [outline(-0.5, row - 0.5, weights.shape[1], 1)],
        meta=SEQUENTIAL
        | window_over(x=columns, y=rows)
        | {"alt": strongest_cells(weights, names_of(queries), names_of(keys), scale.unit, ARROW)},
    )
    sides = Places.of_tokens(queries, "query", rows), Places.of_tokens(keys, "key", columns)
    return keep(drawn, lambda: matrix(weights, *sides, identifier(scale.unit)))


def with_cell(picture: dict[str, Any], cell: tuple[int, int] | None) -> dict[str, Any]:
    """An `attention_heatmap` with the cell (row, column) outlined, if one is given."""
    picture["layout"]["shapes"] += outline_cell(cell)
    return picture


def difference_heatmap(change: np.ndarray, tokens: Sequence[str], cell: tuple[int, int] | None = None) -> go.Figure:
    """The difference of attention [query, key], there minus here, -1 to 1; one cell may be outlined."""
    top = max(float(np.abs(change).max(initial=0)), 1e-6)
    return heatmap(
        change,
        Axes(
            token_labels(tokens),
            token_labels(tokens),
            token_axis("column: is looked at (key)"),
            token_axis("row: looks (query)", autorange="reversed"),
            tokens="xy",
            names=("key", "query"),
        ),
        hover="row %{y} → column %{x}<br>difference %{z:+.4f}",
        scale=colour_scale(-top, top, "there − here", signed=True, tickformat=".2g"),
        key=f"difference-{change.shape}",
    ).update_layout(shapes=outline_cell(cell))
