"""Lines and bars."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import plotly.graph_objects as go

from explorer.figures.base import AMOUNT, esc, figure, grid_axis


def parameter_bars(counts: dict[str, int]) -> go.Figure:
    """How many weights each part has, in the order of the model."""
    total = sum(counts.values())
    bars = go.Bar(
        x=list(counts.values()),
        y=[esc(part) for part in counts],
        orientation="h",
        marker={"color": AMOUNT},
        text=[f"{count:,} ({count / total:.1%})" for count in counts.values()],
        textposition="auto",
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    parts = {"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6}
    return figure([bars], key="parameters", xaxis=grid_axis("parameters"), yaxis=parts)
