"""Attention pictures: one head, a number per head, rollout, and positions."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.attention import scale_end
from explorer.ui.pictures.alternatives import ARROW, Names, names_of, strongest_cells
from explorer.ui.pictures.base import quick_figure, token_axis, token_labels
from explorer.ui.pictures.heatmaps import (
    SEQUENTIAL,
    TICKS,
    Axes,
    colour_scale,
    head_axes,
    heatmap,
    number_axis,
    outline,
    outlined_cell,
    root_ticks,
)
from explorer.ui.pictures.numbers import Places, identifier, keep, matrix, with_columns
from explorer.ui.pictures.window import window_over

EXACT_CELLS = 160 * 160  # up to here every cell carries its exact number; larger pictures send one byte per cell
LEVELS = 255
HALF = LEVELS // 2


@dataclass(frozen=True)
class WeightScale:
    """How weights are coloured: `top` is the end of the scale (None: its `scale_end`), `unit` the name of what is shown."""

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
    ticks = root_ticks(top, scale.square_root) | {"tickvals": [tick * full for tick in TICKS]}
    title = f"{scale.unit} (√ scale)" if scale.square_root else scale.unit
    rows, columns = places or [range(length) for length in weights.shape]
    drawn = quick_figure(
        [{"type": "heatmap", "x": token_labels(keys), "y": token_labels(queries), "coloraxis": "coloraxis", **cells}],
        key=f"attention-{weights.shape}",
        xaxis=token_axis("column: is looked at (key)"),
        yaxis=token_axis("row: looks (query)", autorange="reversed"),
        coloraxis=colour_scale(0, full, title, **ticks),
        shapes=[] if row is None else [outline(-0.5, row - 0.5, weights.shape[1], 1)],
        meta=SEQUENTIAL
        | window_over(x=columns, y=rows)
        | {"alt": strongest_cells(weights, names_of(queries), names_of(keys), scale.unit, ARROW)},
    )
    sides = Places.of_tokens(queries, "query", rows), Places.of_tokens(keys, "key", columns)
    return keep(drawn, lambda: matrix(weights, *sides, identifier(scale.unit)))


def with_cell(picture: dict[str, Any], cell: tuple[int, int] | None) -> dict[str, Any]:
    """An `attention_heatmap` with the cell (row, column) outlined, if one is given."""
    picture["layout"]["shapes"] += outlined_cell(cell)
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
    ).update_layout(shapes=outlined_cell(cell))


def metric_heatmap(
    values: np.ndarray, patterns: np.ndarray, name: str, selected: tuple[int, int], unit_range: bool = True
) -> go.Figure:
    """One number per head [layers, heads]; the selected (layer, head), zero-based, is outlined."""
    layer, head = selected
    drawn = heatmap(
        values,
        head_axes(*values.shape),
        hover="layer %{y}, head %{x}<br>" + name + " %{z:.3f}<br>%{customdata}",
        scale=colour_scale(0, 1 if unit_range else max(float(values.max()), 1e-6), name),
        key=f"metric-{values.shape}",
        customdata=patterns.tolist(),
        xgap=2,
        ygap=2,
    ).update_layout(shapes=[outline(head + 0.5, layer + 0.5, 1, 1)])
    return with_columns(drawn, pattern=lambda row: str(patterns[row[0] - 1, row[1] - 1]))


def sources_heatmap(shares: np.ndarray, tokens: Sequence[str]) -> go.Figure:
    """Where one token's information comes from after each layer: shares [layers, tokens], rows sum to 1."""
    top = float(scale_end(shares.max(initial=0), len(tokens)))
    after = number_axis("after layer", len(shares))
    axes = Axes(token_labels(tokens), np.arange(1, len(shares) + 1), token_axis("input token"), after, "x", ("token", "layer"))
    drawn = heatmap(
        np.sqrt(shares / top),
        axes,
        hover="after layer %{y}<br>%{x}: share %{customdata:.4f}",
        scale=colour_scale(0, 1, "share (√ scale)", **root_ticks(top)),
        key=f"sources-{shares.shape}",
        customdata=shares.astype(np.float32),
    )
    return keep(drawn, lambda: matrix(shares, *axes.sides(shares.shape), "share"))


def vectors_heatmap(vectors: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Signed vectors [positions, hidden], a row each, sent as bytes; the scale ends at ± the 99.5th percentile."""
    top = max(float(np.quantile(np.abs(vectors), 0.995)), 1e-9)
    columns = number_axis("dimension"), np.arange(vectors.shape[1])
    picture = _signed_heatmap(vectors / top, columns, positions, key, "position %{y}, dimension %{x}", (f"{top:.2g}", ""))
    _describe(picture, vectors, lambda row: f"position {positions[row]}", lambda column: f"dimension {column}", "")
    sides = Places.of("position", positions), Places.of("dimension", range(vectors.shape[1]))
    return keep(picture, lambda: matrix(vectors, *sides, "value"))


def position_similarity(cosines: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Cosines [positions, positions], −1 to 1, between the vectors of positions, sent as bytes."""
    columns = number_axis("position"), positions
    picture = _signed_heatmap(cosines, columns, positions, key, "positions %{y} and %{x}", ("1", "cosine"))
    name = lambda place: f"position {positions[place]}"  # noqa: E731
    _describe(picture, cosines, name, name, "cosine")
    sides = Places.of("position", positions), Places.of("other_position", positions)
    return keep(picture, lambda: matrix(cosines, *sides, "cosine"))


def _describe(picture: go.Figure, values: np.ndarray, rows: Names, columns: Names, unit: str) -> go.Figure:
    """A picture with a text alternative from the exact numbers, since its bytes are too coarse for that."""
    return picture.update_layout(meta={**(picture.layout.meta or {}), "alt": strongest_cells(values, rows, columns, unit)})


def _signed_heatmap(
    shares: np.ndarray,
    columns: tuple[dict[str, object], np.ndarray],
    positions: np.ndarray,
    key: str,
    hover: str,
    bar: tuple[str, str],
) -> go.Figure:
    """Shares [positions, columns], −1 to 1, sent as bytes; `bar` is the number at the end of the colour bar, and its unit."""
    (x_axis, x), (end, unit) = columns, bar
    axes = Axes(x.astype(np.int16), positions.astype(np.int16), x_axis, number_axis("position", autorange="reversed"))
    ticks = {"tickvals": [0, HALF, 2 * HALF], "ticktext": [f"−{end}", "0", end]}
    cells = np.rint(np.clip(shares, -1, 1) * HALF + HALF).astype(np.uint8)
    return heatmap(cells, axes, hover, colour_scale(0, 2 * HALF, unit, signed=True, **ticks), key)
