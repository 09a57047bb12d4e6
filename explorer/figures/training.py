"""How a training went, and how good its result is."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.base import CATEGORIES, DIVERGING, esc, figure, token_axis, token_labels

GRID = {"gridcolor": "rgba(128,128,128,.2)", "zeroline": False}
LEGEND = {"orientation": "h", "y": 1.04, "yanchor": "bottom", "x": 0}
TRAINED, HELD_OUT, OTHER = CATEGORIES[4], CATEGORIES[0], CATEGORIES[1]
MOST_NAMED = 25  # labels that are written out on an axis


def learning_curves(history: Sequence[dict[str, float]], epochs: int, best: int | None = None) -> go.Figure:
    """Loss (left) and accuracy with macro-F1 (right, 0 to 1) after every epoch; `best` is the index of the one kept."""
    traces = [
        _curve(history, "train_loss", "trained on", "", {"color": TRAINED, "dash": "dot"}),
        _curve(history, "held_out_loss", "held out", "", {"color": HELD_OUT, "dash": "solid"}),
        _curve(history, "train_accuracy", "trained on", "2", {"color": TRAINED, "dash": "dot"}),
        _curve(history, "held_out_accuracy", "held out", "2", {"color": HELD_OUT, "dash": "solid"}),
        _curve(history, "held_out_macro_f1", "held out, macro-F1", "2", {"color": OTHER, "dash": "dash"}),
    ]
    epoch = {"title": {"text": "epoch"}, "range": [0.5, max(epochs, 2) + 0.5], "showgrid": False, "zeroline": False}
    epoch |= {"dtick": max(1, -(-epochs // 5)), "tickangle": 0}  # a phone has room for five
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
        yaxis2={"range": [0, 1.02], "anchor": "x2", **GRID},
        annotations=[_above("loss (nats)", 0), _above("accuracy (0 to 1)", 0.56)],
    )
    if best is not None and len(history) > 1:
        kept = history[best]["epoch"]
        for axis in ("x", "x2"):
            chart.add_vline(kept, xref=axis, line={"color": "rgba(128,128,128,.5)", "width": 1, "dash": "dot"})
    return chart


def _curve(history: Sequence[dict[str, float]], key: str, name: str, axis: str, line: dict[str, str]) -> go.Scatter:
    """One number of the history by epoch, on the left axes ("") or the right ones ("2"), which have the legend."""
    return go.Scatter(
        x=[row["epoch"] for row in history],
        y=[row[key] for row in history],
        name=name,
        legendgroup=name,
        showlegend=axis == "2",
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
        mode="lines+markers",
        line=line,
        marker={"size": 5},
        hovertemplate="%{y:.3f}<extra>" + name + "</extra>",
    )


def _above(text: str, x: float) -> dict[str, object]:
    """What an axis shows, written over it: beside it, it would take the width that a phone has not."""
    place = {"x": x, "y": 1.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def run_curves(runs: Sequence[tuple[str, Sequence[float]]]) -> go.Figure:
    """Held-out accuracy by epoch of several runs, each with its name."""
    traces = [
        go.Scatter(
            x=list(range(1, len(accuracies) + 1)),
            y=list(accuracies),
            name=esc(name),
            mode="lines+markers",
            line={"color": CATEGORIES[i % len(CATEGORIES)]},
            hovertemplate="%{y:.1%}<extra>" + esc(name) + "</extra>",
        )
        for i, (name, accuracies) in enumerate(runs)
    ]
    return figure(
        traces,
        key="runs",
        showlegend=True,
        legend=LEGEND,
        xaxis={"title": {"text": "epoch"}, "showgrid": False, "zeroline": False, "dtick": 1 if _short(runs) else None},
        yaxis={"title": {"text": "held-out accuracy (0 to 1)"}, "range": [0, 1.02], **GRID},
    )


def _short(runs: Sequence[tuple[str, Sequence[float]]]) -> bool:
    return max((len(accuracies) for _, accuracies in runs), default=1) <= 12


def confusion_matrix(counts: np.ndarray, labels: Sequence[str]) -> go.Figure:
    """Counts [right label, said label]; the colour is the share of the row, so that rare labels show too."""
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    few = len(labels) <= MOST_NAMED
    names = token_labels([label if len(label) <= 18 else label[:17] + "…" for label in labels])
    cells = {
        "z": shares.astype(np.float32),
        "x": names,
        "y": names,
        "coloraxis": "coloraxis",
        "customdata": counts,
        "hovertemplate": "right: %{y}<br>said: %{x}<br>%{customdata} sentences, %{z:.0%} of the row<extra></extra>",
    }
    if few:
        cells |= {"text": counts, "texttemplate": "%{text}", "xgap": 2, "ygap": 2}
    return figure(
        [go.Heatmap(**cells)],
        key=f"confusion-{len(labels)}",
        margin={"l": 90, "r": 12, "t": 12, "b": 60},
        xaxis=token_axis("column: what was said", showticklabels=few),
        yaxis=token_axis("row: what is right", autorange="reversed", showticklabels=few),
        coloraxis={"colorscale": "Viridis", "cmin": 0, "cmax": 1, "showscale": False},
        meta={"ramp": "sequential"},
    )


def calibration_curve(confidence: np.ndarray, accuracy: np.ndarray, count: np.ndarray) -> go.Figure:
    """How often predictions are right (0 to 1), by the probability they were made with; the area shows how many."""
    even = go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": "rgba(128,128,128,.6)", "dash": "dot"}, hoverinfo="skip")
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
    return figure(
        [even, points],
        key="calibration",
        xaxis={"title": {"text": "probability of the label that was said"}, "range": [0, 1.03], **GRID},
        yaxis={"title": {"text": "share that is right"}, "range": [0, 1.08], **GRID},
    )


def probe_curve(
    layers: Sequence[int], accuracy: Sequence[float], deviation: Sequence[float], control: Sequence[float], chance: float
) -> go.Figure:
    """Held-out accuracy of a probe on every hidden state, ± a standard deviation over seeds, and the control task's."""
    probe = go.Scatter(
        x=list(layers),
        y=list(accuracy),
        error_y={"type": "data", "array": list(deviation), "thickness": 1, "width": 4},
        name="labels",
        mode="lines+markers",
        line={"color": HELD_OUT},
        hovertemplate="%{y:.1%}<extra>labels</extra>",
    )
    shuffled = go.Scatter(
        x=list(layers),
        y=list(control),
        name="shuffled labels (control)",
        mode="lines+markers",
        line={"color": OTHER, "dash": "dash"},
        hovertemplate="%{y:.1%}<extra>control</extra>",
    )
    chart = figure(
        [probe, shuffled],
        key="probe",
        showlegend=True,
        legend=LEGEND,
        hovermode="x unified",
        xaxis={"title": {"text": "hidden state (0: embeddings)"}, "dtick": max(1, len(layers) // 12), "showgrid": False},
        yaxis={"title": {"text": "held-out accuracy (0 to 1)"}, "range": [0, 1.02], **GRID},
    )
    return chart.add_hline(chance, line={"color": "rgba(128,128,128,.6)", "width": 1, "dash": "dot"})


def word_effects(words: Sequence[str], effects: Sequence[float], shares: bool = True) -> go.Figure:
    """What each word did for the best label (positive) or against it.

    `shares`: how much its probability falls when the word is hidden, -1 to 1; otherwise parts of its log-odds.
    """
    most = max(0.01, max((abs(effect) for effect in effects), default=0.01))
    return figure(
        [
            go.Bar(
                x=token_labels(words),
                y=list(effects),
                marker={"color": list(effects), "colorscale": DIVERGING, "reversescale": True, "cmin": -most, "cmax": most},
                hovertemplate=("without %{x}: %{customdata:+.1%}<extra></extra>" if shares else "%{x}: %{y:+.2f}<extra></extra>"),
                customdata=[-effect for effect in effects],
            )
        ],
        key=f"words-{len(words)}",
        margin={"l": 48, "r": 12, "t": 8, "b": 40},
        xaxis={**token_axis(""), "title": None},
        yaxis={"tickformat": "+.0%" if shares else "+.1f", "range": [-most * 1.1, most * 1.1], **GRID},
    )


def drift_bars(drift: np.ndarray) -> go.Figure:
    """How far training moved each hidden state: 1 - cosine between before and after, mean over tokens, 0 to 2."""
    return figure(
        [
            go.Bar(
                x=list(range(len(drift))),
                y=drift,
                marker={"color": HELD_OUT},
                hovertemplate="hidden state %{x}: %{y:.4f}<extra></extra>",
            )
        ],
        key=f"drift-{len(drift)}",
        xaxis={"title": {"text": "hidden state (0: embeddings)"}, "dtick": max(1, len(drift) // 13), "showgrid": False},
        yaxis={"title": {"text": "1 − cosine, before to after"}, "rangemode": "tozero", **GRID},
    )


def attention_shift(shift: np.ndarray) -> go.Figure:
    """How much of every head's attention went elsewhere: [layers, heads], total variation 0 to 1, mean over queries."""
    heads, layers = shift.shape[1], shift.shape[0]
    return figure(
        [
            go.Heatmap(
                z=shift.astype(np.float32),
                x=list(range(1, heads + 1)),
                y=list(range(1, layers + 1)),
                coloraxis="coloraxis",
                hovertemplate="layer %{y}, head %{x}<br>%{z:.1%} of the attention moved<extra></extra>",
            )
        ],
        key=f"shift-{shift.shape}",
        xaxis={"title": {"text": "head"}, "dtick": 1 if heads <= 16 else 4, "showgrid": False, "zeroline": False},
        yaxis={"title": {"text": "layer"}, "dtick": 1, "autorange": "reversed", "showgrid": False, "zeroline": False},
        coloraxis={
            "colorscale": "Viridis",
            "cmin": 0,
            "cmax": max(float(shift.max(initial=0)), 1e-3),
            "colorbar": {"thickness": 10, "outlinewidth": 0, "title": {"text": "moved", "side": "right"}},
        },
        meta={"ramp": "sequential"},
    )
