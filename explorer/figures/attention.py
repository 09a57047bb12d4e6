"""Attention: one head, all heads by a number, rollout, and positions."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.base import quick_figure, token_axis, token_labels
from explorer.figures.heatmaps import SEQUENTIAL, TICKS, colour_scale, heatmap, number_axis, root_ticks

EXACT_CELLS = 160 * 160  # up to here every cell carries its number; above, one byte a cell is what the browser gets
LEVELS = 255
ACCENT = "#3b82f6"


def weights_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    square_root: bool = False,
    unit: str = "weight",
    row: int | None = None,
    top: float | None = None,
) -> dict[str, object]:
    """Weights [query, key], none of them negative: each row looks at the columns; `row` is outlined.

    The colour bar ends at `top`, the largest weight unless it is given. A long input travels as one byte a cell, on
    the scale that is shown.
    """
    top = max(float(weights.max(initial=0)), 1e-9) if top is None else top
    share = weights / top  # 0 to 1, the length along the colour bar
    if square_root:
        share = np.sqrt(share)
    exact = weights.size <= EXACT_CELLS
    pair = "row %{y} → column %{x}<br>"
    values = {
        "z": share.astype(np.float32) if exact else np.rint(share * LEVELS).astype(np.uint8),
        "customdata": weights.astype(np.float32) if exact else None,
        "hovertemplate": pair
        + (f"{unit} %{{customdata:.4f}}" if exact else f"click for the {unit}")
        + "<extra></extra>",
    }
    full = 1 if exact else LEVELS
    ticks = root_ticks(top, square_root) | {"tickvals": [tick * full for tick in TICKS]}
    return quick_figure(
        [{"type": "heatmap", "x": token_labels(keys), "y": token_labels(queries), "coloraxis": "coloraxis", **values}],
        key=f"attention-{weights.shape}",
        xaxis=token_axis("column: is looked at (key)"),
        yaxis=token_axis("row: looks (query)", autorange="reversed"),
        coloraxis={
            "colorscale": "Viridis",
            **colour_scale(0, full, f"{unit} (√ scale)" if square_root else unit, **ticks),
        },
        shapes=[] if row is None else [_outline(-0.5, row - 0.5, weights.shape[1], 1)],
        meta=SEQUENTIAL,
    )


def _outline(x: float, y: float, width: float, height: float) -> dict[str, object]:
    line = {"color": ACCENT, "width": 2}
    return {"type": "rect", "x0": x, "x1": x + width, "y0": y, "y1": y + height, "line": line}


def metric_heatmap(
    values: np.ndarray, patterns: np.ndarray, name: str, selected: tuple[int, int], unit_range: bool = True
) -> go.Figure:
    """One number for every head [layers, heads]; the zero-based (layer, head) that is selected is outlined."""
    layers, heads = values.shape
    layer, head = selected
    return heatmap(
        values,
        np.arange(1, heads + 1),
        np.arange(1, layers + 1),
        (number_axis("head", heads), number_axis("layer", layers, autorange="reversed")),
        hover="layer %{y}, head %{x}<br>" + name + " %{z:.3f}<br>%{customdata}",
        scale=colour_scale(0, 1 if unit_range else max(float(values.max()), 1e-6), name),
        key=f"metric-{values.shape}",
        layout={"shapes": [_outline(head + 0.5, layer + 0.5, 1, 1)]},
        customdata=patterns.tolist(),
        xgap=2,
        ygap=2,
    )


def sources_heatmap(shares: np.ndarray, tokens: Sequence[str]) -> go.Figure:
    """Where one token's information comes from after each layer: shares [layers, tokens], rows sum to 1."""
    top = max(float(shares.max(initial=0)), 1e-9)
    return heatmap(
        np.sqrt(shares / top),
        token_labels(tokens),
        np.arange(1, len(shares) + 1),
        (token_axis("input token"), number_axis("after layer", len(shares))),
        hover="after layer %{y}<br>%{x}: share %{customdata:.4f}",
        scale=colour_scale(0, 1, "share (√ scale)", **root_ticks(top)),
        key=f"sources-{shares.shape}",
        customdata=shares.astype(np.float32),
    )


def vectors_heatmap(vectors: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Signed vectors [positions, hidden], one row each, as bytes: the scale is ± the 99.5th percentile."""
    top = max(float(np.quantile(np.abs(vectors), 0.995)), 1e-9)
    dimensions = np.arange(vectors.shape[1])
    hover = "position %{y}, dimension %{x}"
    return _positions_heatmap(vectors / top, dimensions, positions, "dimension", f"{top:.2g}", "", hover, key)


def position_similarity(cosines: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Cosines [positions, positions], −1 to 1, between the vectors of positions, as bytes."""
    hover = "positions %{y} and %{x}"
    return _positions_heatmap(cosines, positions, positions, "position", "1", "cosine", hover, key)


def _positions_heatmap(
    shares: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    x_title: str,
    end: str,
    unit: str,
    hover: str,
    key: str,
) -> go.Figure:
    """Shares [y, x] of what the colour bar ends at on either side, −1 to 1, as bytes."""
    half = LEVELS // 2
    bytes_ = np.rint(np.clip(shares, -1, 1) * half + half).astype(np.uint8)
    ticks = {"tickvals": [0, half, 2 * half], "ticktext": [f"−{end}", "0", end]}
    return heatmap(
        bytes_,
        x.astype(np.int16),
        y.astype(np.int16),
        (number_axis(x_title), number_axis("position", autorange="reversed")),
        hover=hover,
        scale=colour_scale(0, 2 * half, unit, **ticks),
        key=key,
        signed=True,
    )
