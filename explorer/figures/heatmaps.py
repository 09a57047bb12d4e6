"""Matrices over tokens and layers."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.base import figure, token_axis, token_labels

SEQUENTIAL = {"ramp": "sequential"}  # the chart component puts the page's own ramp in place
COLOUR_BAR = {"thickness": 10, "outlinewidth": 0, "len": 0.9}


def similarity_heatmap(cosines: np.ndarray, tokens: Sequence[str]) -> go.Figure:
    """Cosines [n, n] between the vectors of tokens, from the lowest there is up to 1."""
    return _heatmap(
        cosines,
        token_labels(tokens),
        token_labels(tokens),
        token_axis("token"),
        token_axis("token", autorange="reversed"),
        hover="%{y} and %{x}<br>cosine %{z:.3f}<extra></extra>",
        colours={
            "cmin": min(float(cosines.min(initial=1)), 0.99),
            "cmax": 1,
            "colorbar": {**COLOUR_BAR, "title": {"text": "cosine", "side": "right"}},
        },
        key=f"similarity-{len(tokens)}",
    )


def _heatmap(
    values: np.ndarray,
    x: Sequence[str],
    y: Sequence[str] | Sequence[int],
    x_axis: dict[str, object],
    y_axis: dict[str, object],
    *,
    hover: str,
    colours: dict[str, object],
    key: str,
) -> go.Figure:
    return figure(
        [go.Heatmap(z=values.astype(np.float32), x=x, y=y, coloraxis="coloraxis", hovertemplate=hover)],
        key=key,
        xaxis=x_axis,
        yaxis=y_axis,
        coloraxis={"colorscale": "Viridis", **colours},
        meta=SEQUENTIAL,
    )
