"""Attention: one head, all heads by a number, rollout, and positions."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.base import DIVERGING, figure, quick_figure, token_axis, token_labels
from explorer.figures.heatmaps import COLOUR_BAR, SEQUENTIAL

EXACT_CELLS = 160 * 160  # up to here every cell carries its number; above, one byte a cell is what the browser gets
LEVELS = 255
ACCENT = "#3b82f6"
TICKS = (0, 0.25, 0.5, 0.75, 1)  # of the colour bar's length


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
    return quick_figure(
        [{"type": "heatmap", "x": token_labels(keys), "y": token_labels(queries), "coloraxis": "coloraxis", **values}],
        key=f"attention-{weights.shape}",
        xaxis=token_axis("column: is looked at (key)"),
        yaxis=token_axis("row: looks (query)", autorange="reversed"),
        coloraxis={
            "colorscale": "Viridis",
            "cmin": 0,
            "cmax": full,
            "colorbar": {
                **COLOUR_BAR,
                "title": {"text": f"{unit} (√ scale)" if square_root else unit, "side": "right"},
                "tickvals": [tick * full for tick in TICKS],
                "ticktext": [f"{(tick**2 if square_root else tick) * top:.2g}" for tick in TICKS],
            },
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
    return figure(
        [
            go.Heatmap(
                z=values.astype(np.float32),
                x=np.arange(1, heads + 1),
                y=np.arange(1, layers + 1),
                customdata=patterns.tolist(),
                coloraxis="coloraxis",
                xgap=2,
                ygap=2,
                hovertemplate="layer %{y}, head %{x}<br>" + name + " %{z:.3f}<br>%{customdata}<extra></extra>",
            )
        ],
        key=f"metric-{values.shape}",
        xaxis={"title": {"text": "head"}, "dtick": max(1, heads // 12), "showgrid": False, "zeroline": False},
        yaxis={
            "title": {"text": "layer"},
            "dtick": max(1, layers // 12),
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        coloraxis={
            "colorscale": "Viridis",
            "cmin": 0,
            "cmax": 1 if unit_range else max(float(values.max()), 1e-6),
            "colorbar": {**COLOUR_BAR, "title": {"text": name, "side": "right"}},
        },
        shapes=[_outline(head + 0.5, layer + 0.5, 1, 1)],
        meta=SEQUENTIAL,
    )


def sources_heatmap(shares: np.ndarray, tokens: Sequence[str]) -> go.Figure:
    """Where one token's information comes from after each layer: shares [layers, tokens], rows sum to 1."""
    top = max(float(shares.max(initial=0)), 1e-9)
    return figure(
        [
            go.Heatmap(
                z=np.sqrt(shares / top).astype(np.float32),
                customdata=shares.astype(np.float32),
                x=token_labels(tokens),
                y=np.arange(1, len(shares) + 1),
                coloraxis="coloraxis",
                hovertemplate="after layer %{y}<br>%{x}: share %{customdata:.4f}<extra></extra>",
            )
        ],
        key=f"sources-{shares.shape}",
        xaxis=token_axis("input token"),
        yaxis={
            "title": {"text": "after layer"},
            "dtick": max(1, len(shares) // 12),
            "showgrid": False,
            "zeroline": False,
        },
        coloraxis={
            "colorscale": "Viridis",
            "cmin": 0,
            "cmax": 1,
            "colorbar": {
                **COLOUR_BAR,
                "title": {"text": "share (√ scale)", "side": "right"},
                "tickvals": list(TICKS),
                "ticktext": [f"{tick**2 * top:.2g}" for tick in TICKS],
            },
        },
        meta=SEQUENTIAL,
    )


def vectors_heatmap(vectors: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Signed vectors [positions, hidden], one row each, as bytes: the scale is ± the 99.5th percentile."""
    top = max(float(np.quantile(np.abs(vectors), 0.995)), 1e-9)
    half = LEVELS // 2
    bytes_ = np.rint(np.clip(vectors / top, -1, 1) * half + half).astype(np.uint8)
    colours = {
        "colorscale": DIVERGING,
        "cmin": 0,
        "cmax": 2 * half,
        "colorbar": {**COLOUR_BAR, "tickvals": [0, half, 2 * half], "ticktext": [f"−{top:.2g}", "0", f"{top:.2g}"]},
    }
    hover = "position %{y}, dimension %{x}<extra></extra>"
    dimensions = np.arange(vectors.shape[1], dtype=np.int16)
    return _positions_figure(bytes_, dimensions, positions, "dimension", colours, hover, key)


def position_similarity(cosines: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Cosines [positions, positions], −1 to 1, between the vectors of positions, as bytes."""
    half = LEVELS // 2
    bytes_ = np.rint(cosines * half + half).astype(np.uint8)
    colours = {
        "colorscale": DIVERGING,
        "cmin": 0,
        "cmax": 2 * half,
        "colorbar": {**COLOUR_BAR, "title": {"text": "cosine", "side": "right"}, "tickvals": [0, half, 2 * half]}
        | {"ticktext": ["−1", "0", "1"]},
    }
    hover = "positions %{y} and %{x}<extra></extra>"
    return _positions_figure(bytes_, positions, positions, "position", colours, hover, key)


def _positions_figure(
    bytes_: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    x_title: str,
    colours: dict[str, object],
    hover: str,
    key: str,
) -> go.Figure:
    plain = {"showgrid": False, "zeroline": False}
    return figure(
        [go.Heatmap(z=bytes_, x=x, y=y.astype(np.int16), coloraxis="coloraxis", hovertemplate=hover)],
        key=key,
        xaxis={"title": {"text": x_title, "standoff": 6}, **plain},
        yaxis={"title": {"text": "position", "standoff": 6}, "autorange": "reversed", **plain},
        coloraxis=colours,
    )
