"""Bar charts of a model's size."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from math import floor, log10

import plotly.graph_objects as go

from explorer.ui.pictures.base import AMOUNT, esc, figure, grid_axis
from explorer.ui.pictures.numbers import Table, keep


def parameter_bars(counts: dict[str, int]) -> go.Figure:
    """The number of weights of each part, in the order of the model."""
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
    ticks = _ticks(top)  # not beyond the longest bar, where its label is written
    amounts = grid_axis("parameters", range=[0, 1.5 * top], tickvals=ticks, tickformat="~s")
    narrow = {"narrow": {"xaxis": {"range": [0, 2.6 * top], "tickvals": ticks[:: len(ticks) - 1]}, "margin": {"r": 64}}}
    drawn = figure([bars], key="parameters", xaxis=amounts, yaxis=parts, meta=narrow).update_layout(margin_r=36)
    return keep(drawn, lambda: Table.of(("part", "parameters"), [list(one) for one in counts.items()]))


def _ticks(top: float) -> list[float]:
    """Axis ticks from 0 in steps of 1, 2 or 5 times a power of ten: three to six up to the largest number."""
    power = 10.0 ** floor(log10(max(top, 1)))
    step = next(step for step in (power / 5, power / 2, power, 2 * power) if top / step < 6)
    return [step * number for number in range(int(top // step) + 1)]
