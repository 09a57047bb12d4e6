"""The accuracy of a probe by hidden state."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import ACCENT, CATEGORIES, FAINT, LEGEND, figure, grid_axis, plain_axis
from explorer.ui.pictures.numbers import columns_of, identifier, keep

BAND = "rgba(128, 128, 128, 0.2)"


def probe_lines(
    accuracy: np.ndarray, interval: tuple[np.ndarray, np.ndarray], references: dict[str, np.ndarray], at: int
) -> go.Figure:
    """The accuracy of a probe with a band for its interval, and references, 0 to 1 each, by hidden state [layers + 1].

    The chosen hidden state (`at`) is marked.
    """
    states, (low, high) = len(accuracy), interval
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    traces = [_line(low, "", **edge), _line(high, "", fill="tonexty", fillcolor=BAND, **edge)]
    bold = {"color": CATEGORIES[0], "width": 2.5}
    traces.append(_line(accuracy, "linear probe", mode="lines+markers", line=bold, marker={"size": 8}))
    for (name, values), dash in zip(references.items(), ("dash", "dot"), strict=False):
        traces.append(_line(values, name, mode="lines", line={"color": FAINT, "dash": dash, "width": 1.5}))
    every = np.concatenate([accuracy, *references.values()])
    reach = [max(0.0, float(every.min()) - 0.05), min(1.005, float(every.max()) + 0.05)]
    chosen = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "name": "chosen"}
    drawn = figure(
        traces,
        key="probe-by-state",
        showlegend=True,
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 56, "r": 12, "t": 84, "b": 48},
        xaxis=plain_axis("hidden state (0: embeddings)", 6, dtick=max(1, states // 12), range=[-0.4, states - 0.6]),
        yaxis=grid_axis("held-out words predicted right", range=reach, tickformat=".0%"),
        shapes=[{**chosen, "line": {"color": ACCENT, "width": 1.5, "dash": "dot"}}],  # by its name saved pictures leave it out
        meta={"narrow": {"legend": {"font": {"size": 11}}}},
    )
    numbers: dict[str, Any] = {"hidden_state": range(states), "accuracy": accuracy, "low": low, "high": high}
    numbers |= {identifier(name): values for name, values in references.items()}
    return keep(drawn, lambda: columns_of(**numbers))


def _line(values: np.ndarray, name: str, **look: object) -> go.Scatter:
    hover = {"hovertemplate": "%{fullData.name}, hidden state %{x}: %{y:.1%}<extra></extra>"}
    return go.Scatter(**{"x": list(range(len(values))), "y": values, "name": name, **hover, **look})
