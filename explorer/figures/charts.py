"""Lines and bars."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import plotly.graph_objects as go

from explorer.figures.base import CATEGORIES, esc, figure


def parameter_bars(counts: dict[str, int]) -> go.Figure:
    """How many weights each part has, in the order of the model."""
    parts = list(counts)
    total = sum(counts.values())
    return figure(
        [
            go.Bar(
                x=[counts[part] for part in parts],
                y=[esc(part) for part in parts],
                orientation="h",
                marker={"color": CATEGORIES[0]},
                text=[f"{counts[part]:,} ({counts[part] / total:.1%})" for part in parts],
                textposition="auto",
                hovertemplate="%{y}: %{text}<extra></extra>",
            )
        ],
        key="parameters",
        xaxis={"title": {"text": "parameters"}, "gridcolor": "rgba(128,128,128,.2)", "zeroline": False},
        yaxis={"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6},
    )
