"""Lines and bars."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import plotly.graph_objects as go

from explorer.figures.base import AMOUNT, esc, figure, grid_axis
from explorer.figures.numbers import Table, keep


def parameter_bars(counts: dict[str, int]) -> go.Figure:
    """How many weights each part has, in the order of the model."""
    total = sum(counts.values())
    bars = go.Bar(
        x=list(counts.values()),
        y=[esc(part) for part in counts],
        orientation="h",
        marker={"color": AMOUNT},
        text=[f"{count:,} ({100 * count / total:.2g}%)" for count in counts.values()],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    parts = {"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6}
    top = max(counts.values())
    amounts = grid_axis("parameters", range=[0, 1.9 * top])  # what is written stands beside the longest, too
    narrow = {"narrow": {"xaxis": {"range": [0, 3 * top], "nticks": 3}, "margin": {"r": 64}}}
    drawn = figure([bars], key="parameters", xaxis=amounts, yaxis=parts, meta=narrow).update_layout(margin_r=36)
    return keep(drawn, lambda: Table.of(("part", "parameters"), [list(one) for one in counts.items()]))
