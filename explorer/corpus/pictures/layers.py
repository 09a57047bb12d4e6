"""Statistics of hidden states over many words: a line by hidden state."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import ACCENT, CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.numbers import Table, identifier, keep

BAND = "rgba(128, 128, 128, 0.2)"


@dataclass(frozen=True)
class Line:
    """A number for every hidden state [layers + 1]; `around` are the lower and upper edges of a band.

    A `faint` line is a reference for the others.
    """

    name: str
    values: np.ndarray
    around: tuple[np.ndarray, np.ndarray] | None = None
    faint: bool = False


def layer_lines(
    lines: Sequence[Line], unit: str, at: int | None, shown: tuple[float, float] | None = None, form: str = ".3f"
) -> go.Figure:
    """Lines by hidden state, the chosen one (`at`) marked; `shown` is the range of the axis, `form` the format of numbers."""
    colours, dashes = cycle(CATEGORIES[:4]), cycle(("dash", "dot"))
    traces: list[go.Scatter] = []
    states = len(lines[0].values)
    for line in lines:
        look = {"color": FAINT, "dash": next(dashes)} if line.faint else {"color": next(colours), "dash": "solid"}
        traces += _band(*line.around) if line.around else []
        traces.append(_line(line, look, form))
    narrow = {"narrow": {"legend": {"font": {"size": 11}}}}
    drawn = figure(
        traces,
        key=f"by-state-{identifier(unit)}",
        showlegend=len(lines) > 1,
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 56, "r": 12, "t": 24 + 20 * len(lines) * (len(lines) > 1), "b": 48},
        xaxis=plain_axis("hidden state (0: embeddings)", 6, dtick=max(1, states // 12), range=[-0.4, states - 0.6]),
        yaxis=grid_axis(unit, range=shown, tickformat=".0%" if form.endswith("%") else None),
        shapes=[] if at is None else [_chosen(at)],
        meta=narrow,
    )
    return keep(drawn, lambda: _table(lines, unit))


def _chosen(at: int) -> dict[str, object]:
    """A line in the background at the chosen hidden state; by its name, saved pictures leave it out."""
    line = {"color": ACCENT, "width": 1.5, "dash": "dot"}
    return {
        "type": "line",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": line,
        "layer": "below",
        "name": "chosen",
    }


def _line(line: Line, look: dict[str, str], form: str) -> go.Scatter:
    return go.Scatter(
        x=list(range(len(line.values))),
        y=line.values,
        name=esc(line.name),
        mode="lines" if line.faint else "lines+markers",
        line={**look, "width": 1.5 if line.faint else 2.5},
        marker={"size": 8},
        hovertemplate=f"%{{fullData.name}}, hidden state %{{x}}: %{{y:{form}}}<extra></extra>",
    )


def _band(low: np.ndarray, high: np.ndarray) -> list[go.Scatter]:
    """The filled band between two lines."""
    common = {"x": list(range(len(low))), "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return [go.Scatter(y=low, **common), go.Scatter(y=high, fill="tonexty", fillcolor=BAND, **common)]


def _table(lines: Sequence[Line], unit: str) -> Table:
    """A row for each hidden state of each line, with the edges of the band if any line has one."""
    banded = any(line.around for line in lines)
    rows = []
    for line in lines:
        nothing = np.full(len(line.values), np.nan)
        columns = [line.values, *(line.around or (nothing, nothing))] if banded else [line.values]
        rows += [[line.name, state, *map(float, row)] for state, row in enumerate(zip(*columns, strict=True))]
    return Table.of(("line", "hidden_state", identifier(unit), *(("low", "high") if banded else ())), rows)
