"""The accuracy of a probe by hidden state."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import ACCENT, CATEGORIES, FAINT, LEGEND, figure, grid_axis, plain_axis
from explorer.ui.pictures.numbers import columns_of, identifier, keep

BAND = "rgba(128, 128, 128, 0.2)"


@dataclass(frozen=True)
class ProbeLines:
    """The accuracy of a probe with its interval, and its references, 0 to 1 each, by hidden state [layers + 1]."""

    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    references: dict[str, np.ndarray]


def probe_lines(given: ProbeLines, at: int, unit: str) -> go.Figure:
    """Lines by hidden state with a band for the interval; the chosen hidden state (`at`) is marked. `unit`: what is counted."""
    states = len(given.accuracy)
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    traces = [_line(given.low, "", **edge), _line(given.high, "", fill="tonexty", fillcolor=BAND, **edge)]
    bold = {"color": CATEGORIES[0], "width": 2.5}
    traces.append(_line(given.accuracy, "linear probe", mode="lines+markers", line=bold, marker={"size": 8}))
    for (name, values), dash in zip(given.references.items(), ("dash", "dot"), strict=False):
        traces.append(_line(values, name, mode="lines", line={"color": FAINT, "dash": dash, "width": 1.5}))
    every = np.concatenate([given.accuracy, *given.references.values()])
    chosen = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "name": "chosen"}
    drawn = figure(
        traces,
        key="probe-by-state",
        showlegend=True,
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 56, "r": 12, "t": 84, "b": 48},
        xaxis=plain_axis("hidden state (0: embeddings)", 6, dtick=max(1, states // 12), range=[-0.4, states - 0.6]),
        yaxis=grid_axis(unit, range=_reach(every), tickformat=".0%"),
        shapes=[{**chosen, "line": {"color": ACCENT, "width": 1.5, "dash": "dot"}}],  # by its name saved pictures leave it out
        meta={"narrow": {"legend": {"font": {"size": 11}}}},
    )
    numbers: dict[str, Any] = {"hidden_state": range(states), "accuracy": given.accuracy, "low": given.low, "high": given.high}
    numbers |= {identifier(name): values for name, values in given.references.items()}
    return keep(drawn, lambda: columns_of(**numbers))


def _reach(values: np.ndarray) -> list[float]:
    return [max(0.0, float(values.min()) - 0.05), min(1.005, float(values.max()) + 0.05)]


def _line(values: np.ndarray, name: str, **look: object) -> go.Scatter:
    hover = {"hovertemplate": "%{fullData.name}, hidden state %{x}: %{y:.1%}<extra></extra>"}
    return go.Scatter(**{"x": list(range(len(values))), "y": values, "name": name, **hover, **look})
