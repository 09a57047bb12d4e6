"""Statistics of hidden states over many words: a line by hidden state, or a point per word."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import ACCENT, AMOUNT, CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, plain_axis, shorten
from explorer.ui.pictures.numbers import Table, columns_of, identifier, keep

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
    lines: Sequence[Line],
    unit: str,
    at: int | None,
    shown: tuple[float, float] | None = None,
    form: str = ".3f",
    title: str = "hidden state",
) -> go.Figure:
    """Lines by hidden state, the chosen one (`at`) marked; `shown` is the range of the axis, `form` the format of numbers."""
    colours, dashes = cycle(CATEGORIES[:4]), cycle(("dash", "dot"))
    traces: list[go.Scatter] = []
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
        xaxis=plain_axis(
            f"{title} (0: embeddings)", 6, dtick=max(1, len(lines[0].values) // 12), range=[-0.4, len(lines[0].values) - 0.6]
        ),
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


def frequency_points(words: Sequence[str], counts: np.ndarray, norms: np.ndarray, layer: int) -> go.Figure:
    """A point per word: how often it occurs (x) and the mean length of its vectors [words] (y), with a line of medians."""
    dots = go.Scatter(
        x=counts,
        y=norms.astype(np.float32),
        mode="markers",
        name="a word",
        marker={"color": AMOUNT, "size": 6, "opacity": 0.45},
        text=[esc(shorten(word, 40)) for word in words],
        hovertemplate="%{text}: %{x:,} times, length %{y:.2f}<extra></extra>",
    )
    places, middles = _medians(counts, norms)
    median = go.Scatter(
        x=places,
        y=middles,
        mode="lines",
        name="median of as frequent ones",
        line={"color": CATEGORIES[1], "width": 2.5},
        hovertemplate="about %{x:.0f} times: median length %{y:.2f}<extra></extra>",
    )
    top = max(10, int(counts.max(initial=1)))
    drawn = figure(
        [dots, median],
        key=f"frequency-{layer}",
        showlegend=True,
        legend={**LEGEND, "itemsizing": "constant"},
        margin={"l": 56, "r": 12, "t": 44, "b": 48},
        xaxis=grid_axis("times in the corpus (log scale)", type="log", range=[-0.1, float(np.log10(1.3 * top))], dtick=1),
        yaxis=grid_axis(f"mean length in hidden state {layer}", rangemode="tozero"),
    )
    return keep(drawn, lambda: columns_of(word=list(words), times=counts, mean_length=norms))


def _medians(counts: np.ndarray, norms: np.ndarray) -> tuple[list[float], list[float]]:
    """For words that occur once, 2 to 3 times, 4 to 7 times and so on: geometric mean of the counts, and median length."""
    doubled = np.floor(np.log2(np.maximum(counts, 1))).astype(int)
    groups = [np.flatnonzero(doubled == group) for group in np.unique(doubled)]
    return [float(np.exp(np.log(counts[rows]).mean())) for rows in groups], [float(np.median(norms[rows])) for rows in groups]
