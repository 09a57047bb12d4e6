"""Pictures of weights: their sizes, and the distribution of their numbers."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import AMOUNT, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, number_axis, outlined_cell
from explorer.ui.pictures.numbers import columns_of, keep


def weights_heatmap(sizes: np.ndarray, names: Sequence[str], cell: tuple[int, int] | None = None) -> go.Figure:
    """The root mean square of every weight [rows] in every layer [columns], NaN for missing ones; one cell may be outlined."""
    rows = plain_axis("", autorange="reversed", automargin=True, type="category")
    layers = np.arange(1, sizes.shape[1] + 1)
    return heatmap(
        sizes,
        Axes(layers, [esc(name) for name in names], number_axis("layer", len(layers)), rows, names=("", "weight")),
        hover="%{y}, layer %{x}<br>root mean square %{z:.4f}",
        scale=colour_scale(0, float(np.nanmax(sizes)), "root mean square"),
        key=f"weights-{sizes.shape}",
        xgap=2,
        ygap=2,
    ).update_layout(shapes=outlined_cell(cell and (cell[0], cell[1] + 1)))


def weight_histogram(middles: np.ndarray, counts: np.ndarray) -> go.Figure:
    """The number of weights around each of the middles, on a logarithmic axis, since it is the tails that differ."""
    bars = go.Bar(x=middles, y=counts, marker={"color": AMOUNT}, hovertemplate="around %{x:.4f}: %{y:,}<extra></extra>")
    drawn = figure([bars], key="weight", bargap=0.05, xaxis=grid_axis("value"), yaxis=grid_axis("numbers", type="log", dtick=1))
    return keep(drawn, lambda: columns_of(value=middles, numbers=counts))
