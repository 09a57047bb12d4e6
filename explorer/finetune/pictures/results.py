"""Pictures of a training's result: how good it is, what decides, and what changed in the model."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.finetune.pictures.training import DOTTED, HELD_OUT
from explorer.ui.pictures.base import CATEGORIES, esc, figure, grid_axis, plain_axis, shorten, token_axis, token_labels
from explorer.ui.pictures.heatmaps import Axes, colour_scale, head_axes, heatmap
from explorer.ui.pictures.numbers import Places, Table, columns_of, keep, matrix


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


def number_scatter(right: np.ndarray, said: np.ndarray, texts: Sequence[str], key: str) -> go.Figure:
    """Predicted numbers [n] against true ones [n], a dot for each text; on the dotted line both are equal."""
    low, high = (float(pick([pick(right), pick(said)])) for pick in (np.min, np.max))
    same = go.Scatter(x=[low, high], y=[low, high], mode="lines", line=DOTTED, hoverinfo="skip")
    dots = go.Scatter(
        x=right,
        y=said,
        mode="markers",
        marker={"color": HELD_OUT, "size": 8, "opacity": 0.7},
        customdata=[esc(shorten(text, 90)) for text in texts],
        hovertemplate="%{customdata}<br>right %{x:.2f}, said %{y:.2f}<extra></extra>",
    )
    axes = {"xaxis": grid_axis("right"), "yaxis": grid_axis("predicted")}
    drawn = figure([same, dots], key=f"numbers-{key}", **axes)
    return keep(drawn, lambda: columns_of(text=texts, right=right, said=said))


def calibration_curve(confidence: np.ndarray, accuracy: np.ndarray, count: np.ndarray) -> go.Figure:
    """The share of correct predictions (0 to 1) by their probability; the area of a dot shows how many there are."""
    even = go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=DOTTED, hoverinfo="skip")
    size = 8 + 28 * np.sqrt(count / max(1, count.max(initial=1)))
    points = go.Scatter(
        x=confidence,
        y=accuracy,
        customdata=count,
        mode="lines+markers",
        line={"color": HELD_OUT, "width": 1},
        marker={"size": size, "color": HELD_OUT, "opacity": 0.8},
        hovertemplate="probability %{x:.2f}, right %{y:.0%}<br>%{customdata} sentences<extra></extra>",
    )
    drawn = figure(
        [even, points],
        key="calibration",
        xaxis=grid_axis("probability of the label that was said", range=[0, 1.03]),
        yaxis=grid_axis("share that is right", range=[0, 1.08]),
    )
    return keep(drawn, lambda: columns_of(probability=confidence, share_right=accuracy, sentences=count))


def drift_bars(drift: np.ndarray) -> go.Figure:
    """The distance that training moved each hidden state: 1 - cosine between before and after, mean over tokens, 0 to 2."""
    hover = "hidden state %{x}: %{y:.4f}<extra></extra>"
    drawn = figure(
        [go.Bar(x=list(range(len(drift))), y=drift, marker={"color": HELD_OUT}, hovertemplate=hover)],
        key=f"drift-{len(drift)}",
        xaxis=plain_axis("hidden state (0: embeddings)", dtick=max(1, len(drift) // 13)),
        yaxis=grid_axis("1 − cosine, before to after", rangemode="tozero"),
    )
    return keep(drawn, lambda: Table.of(("hidden_state", "1_minus_cosine"), [[at, float(one)] for at, one in enumerate(drift)]))


def looks_at_answer(shares: np.ndarray, even: float) -> go.Figure:
    """The share of each head's attention from a question to an answer, [layers, heads]; `even` is that of even attention."""
    return heatmap(
        shares,
        head_axes(*shares.shape),
        hover=f"layer %{{y}}, head %{{x}}<br>%{{z:.1%}} of its attention (evenly {even:.1%})",
        scale=colour_scale(0, max(float(shares.max(initial=0)), 1e-3), "attention"),
        key=f"looks-{shares.shape}",
    )


def attention_shift(shift: np.ndarray) -> go.Figure:
    """The change of every head's attention, [layers, heads]: total variation distance, 0 to 1, mean over queries."""
    return heatmap(
        shift,
        head_axes(*shift.shape),
        hover="layer %{y}, head %{x}<br>%{z:.1%} of the attention moved",
        scale=colour_scale(0, max(float(shift.max(initial=0)), 1e-3), "moved"),
        key=f"shift-{shift.shape}",
    )


def passage(text: str, start: int, end: int) -> dict[str, Any]:
    """The component's value for a text with the characters [start, end) marked; none if both are equal.

    Raises ValueError when they are outside the text.
    """
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"characters {start} to {end} are outside a text of {len(text)}")
    shown = {"before": text[:start], "marked": text[start:end], "after": text[end:]}
    return keep(shown, lambda: Table.of(("start", "end", "marked", "text"), [[start, end, text[start:end], text]]))
