"""Numbers by hidden state as lines: the similarity of a word's contexts, and the accuracy of a probe."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import ACCENT, CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.numbers import Table, columns_of, identifier, keep

BAND = "rgba(128, 128, 128, 0.2)"


class Line(NamedTuple):
    """A number at every hidden state [layers + 1]; a solid line has a marker at each."""

    name: str
    values: np.ndarray
    colour: str = FAINT
    width: float = 1.5
    dash: str = "solid"


def context_lines(
    lines: Sequence[tuple[str, np.ndarray]], word: str, controls: Sequence[tuple[str, np.ndarray]], random: np.ndarray
) -> go.Figure:
    """Cosines of one word between its contexts at every hidden state [layers + 1], beside references to judge them by.

    `lines` are the word's own, the most telling first; `controls` are those of other words. `random` is the mean cosine of
    unrelated tokens.
    """
    own, others = zip(lines, CATEGORIES[:2], strict=False), zip(controls, CATEGORIES[2:4], strict=False)
    every = [
        *(Line(*line, colour, 3) for line, colour in own),
        Line(f"‘{word}’ as a static vector", np.ones(len(random)), dash="dash"),
        *(Line(f"control ‘{other}’", values, colour, 1.2) for (other, values), colour in others),
        Line("random tokens", random, dash="dot"),
    ]
    low = min(0.0, *(float(line.values.min()) for line in every)) - 0.05
    rows = [[line.name, at, float(value)] for line in every for at, value in enumerate(line.values)]
    drawn = _draw(every, f"contexts-{len(random)}", ".3f", title="cosine between contexts", range=[low, 1.05])
    return keep(drawn, lambda: Table.of(("line", "hidden_state", "cosine"), rows))


def probe_lines(
    accuracy: np.ndarray, interval: tuple[np.ndarray, np.ndarray], references: dict[str, np.ndarray], at: int, unit: str
) -> go.Figure:
    """The accuracy of a probe with a band for its interval, and references, 0 to 1 each, by hidden state [layers + 1].

    The chosen hidden state (`at`) is marked. `unit` says what is counted.
    """
    low, high = interval
    dashed = zip(references.items(), ("dash", "dot"), strict=False)
    every = [Line("linear probe", accuracy, CATEGORIES[0], 2.5), *(Line(*line, dash=dash) for line, dash in dashed)]
    edge = {"x": list(range(len(accuracy))), "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    band = [go.Scatter(y=low, **edge), go.Scatter(y=high, fill="tonexty", fillcolor=BAND, **edge)]
    shares = np.concatenate([line.values for line in every])
    reach = [max(0.0, float(shares.min()) - 0.05), min(1.005, float(shares.max()) + 0.05)]
    chosen = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "name": "chosen"}
    drawn = _draw(every, "probe-by-state", ".1%", band, title=unit, range=reach, tickformat=".0%")
    drawn.update_layout(shapes=[{**chosen, "line": {"color": ACCENT, "width": 1.5, "dash": "dot"}}])  # not in saved pictures
    numbers: dict[str, Any] = {"hidden_state": range(len(accuracy)), "accuracy": accuracy, "low": low, "high": high}
    return keep(drawn, lambda: columns_of(**numbers, **{identifier(name): values for name, values in references.items()}))


def _draw(lines: Sequence[Line], key: str, form: str, below: Sequence[go.Scatter] = (), **up: Any) -> go.Figure:
    """The lines over the traces `below`; `form` is the format of a number, `up` the axis of the numbers."""
    states = len(lines[0].values)
    traces = [
        go.Scatter(
            x=list(range(states)),
            y=line.values,
            name=esc(line.name),
            mode="lines+markers" if line.dash == "solid" else "lines",
            line={"color": line.colour, "width": line.width, "dash": line.dash},
            hovertemplate=f"%{{fullData.name}}, hidden state %{{x}}: %{{y:{form}}}<extra></extra>",
        )
        for line in lines
    ]
    return figure(
        [*below, *traces],
        key=key,
        showlegend=True,
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 56, "r": 12, "t": 84, "b": 48},
        xaxis=plain_axis("hidden state (0: embeddings)", 6, dtick=max(1, states // 12), range=[-0.4, states - 0.6]),
        yaxis=grid_axis(**up),
        meta={"narrow": {"legend": {"font": {"size": 11}}}},
    )
