"""Pictures of a training and of its result: curves, how good it is, what decides, and what changed in the model."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.finetune.compute.predictor import name_measure
from explorer.ui.pictures.base import CATEGORIES, FAINT, GRID, LEGEND, esc, figure, plain_axis, shorten, token_axis, token_labels
from explorer.ui.pictures.heatmaps import Axes, heatmap
from explorer.ui.pictures.numbers import Places, Table, keep, matrix

TRAINED, HELD_OUT, OTHER = CATEGORIES[4], CATEGORIES[0], CATEGORIES[1]
DOTTED = {"color": FAINT, "width": 1, "dash": "dot"}


def learning_curves(history: Sequence[dict[str, float]], epochs: int, best: int | None = None) -> go.Figure:
    """Loss (left) and the deciding measure (right) after every epoch; `best` is the index of the epoch kept.

    The rows are those of `Epoch.as_row`: of three measures the first is the loss, the second the one that decides.
    """
    _, judged, beside = [name.removeprefix("held_out_") for name in history[0] if name.startswith("held_out_")]
    trained, held_out = {"color": TRAINED, "dash": "dot"}, {"color": HELD_OUT, "dash": "solid"}
    traces = [
        _curve(history, "train_loss", "trained on", "", trained),
        _curve(history, "held_out_loss", "held out", "", held_out),
        _curve(history, f"train_{judged}", "trained on", "2", trained),
        _curve(history, f"held_out_{judged}", "held out", "2", held_out),
        _curve(history, f"held_out_{beside}", f"held out, {name_measure(beside)}", "2", {"color": OTHER, "dash": "dash"}),
    ]
    lowest, unit = (-1, "squared error (variances)") if judged == "spearman" else (0, "loss (nats)")
    few = max(1, -(-epochs // 5))  # a phone has room for five labels
    epoch = plain_axis("epoch", range=[0.5, max(epochs, 2) + 0.5], dtick=few, tickangle=0)
    chart = figure(
        traces,
        key=f"curves-{epochs}",
        showlegend=True,
        legend={**LEGEND, "y": 1.16},
        margin={"l": 32, "r": 12, "t": 62, "b": 44},
        hovermode="x unified",
        xaxis={**epoch, "domain": [0, 0.44]},
        xaxis2={**epoch, "domain": [0.56, 1], "anchor": "y2"},
        yaxis={"rangemode": "tozero", **GRID},
        yaxis2={"range": [lowest, 1.02], "anchor": "x2", **GRID},
        annotations=[_above(unit, 0), _above(f"{name_measure(judged)} ({lowest} to 1)", 0.56)],
    )
    if best is not None and len(history) > 1:
        kept = history[best]["epoch"]
        for axis in ("x", "x2"):
            chart.add_vline(kept, xref=axis, line=DOTTED)
    names = ("epoch", "train_loss", "held_out_loss", f"train_{judged}", f"held_out_{judged}", f"held_out_{beside}")
    return keep(chart, lambda: Table.of(names, [[row[name] for name in names] for row in history]))


def _curve(history: Sequence[dict[str, float]], key: str, name: str, axis: str, line: dict[str, str]) -> go.Scatter:
    """One number of the history by epoch, on the left axes ("") or the right ones ("2"), which have the legend entry."""
    return go.Scatter(
        x=[row["epoch"] for row in history],
        y=[row[key] for row in history],
        name=esc(name),
        mode="lines+markers",
        line=line,
        marker={"size": 5},
        hovertemplate=f"%{{y:.3f}}<extra>{esc(name)}</extra>",
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
        legendgroup=name,
        showlegend=axis == "2",
    )


def _above(text: str, x: float) -> dict[str, object]:
    """The title of an axis, written above it: beside it, it would take width that a phone does not have."""
    place = {"x": x, "y": 1.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def confusion_matrix(counts: np.ndarray, labels: Sequence[str], what: str = "sentences") -> go.Figure:
    """Counts [true label, predicted label] of `what`; the colour is the share of the row, so that rare labels show too."""
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    few = len(labels) <= 25  # labels are written out
    names = token_labels([shorten(label, 18) for label in labels])
    dots = [f'<span style="color:{colour}">●</span> {name}' for colour, name in zip(CATEGORIES, names, strict=False)]
    marked = {"tickmode": "array", "tickvals": names, "ticktext": dots} if len(labels) < len(CATEGORIES) else {}
    predicted = token_axis("column: predicted", showticklabels=few, **marked)
    right = token_axis("row: right", autorange="reversed", showticklabels=few, **marked)
    written = {"text": counts, "texttemplate": "%{text}", "xgap": 2, "ygap": 2} if few else {}
    drawn = heatmap(
        shares,
        Axes(names, names, predicted, right),
        hover=f"right: %{{y}}<br>said: %{{x}}<br>%{{customdata}} {what}, %{{z:.0%}} of the row",
        scale={"colorscale": "Viridis", "cmin": 0, "cmax": 1, "showscale": False},
        key=f"confusion-{len(labels)}",
        customdata=counts,
        **written,
    ).update_layout(margin={"l": 90, "r": 12, "t": 12, "b": 60})
    return keep(drawn, lambda: matrix(counts, Places.of("right", labels), Places.of("said", labels), what))
