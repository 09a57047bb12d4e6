"""Training curves, and scores by hidden state."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from itertools import cycle

import plotly.graph_objects as go

from explorer.ui.pictures.base import CATEGORIES, FAINT, GRID, LEGEND, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.numbers import Table, columns_of, keep

TRAINED, HELD_OUT, OTHER = CATEGORIES[4], CATEGORIES[0], CATEGORIES[1]
CALLED = {
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "spearman": "Spearman",
    "pearson": "Pearson",
    "exact_match": "exact match",
    "f1": "F1",
}
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
        _curve(history, f"held_out_{beside}", f"held out, {CALLED[beside]}", "2", {"color": OTHER, "dash": "dash"}),
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
        annotations=[_above(unit, 0), _above(f"{CALLED[judged]} ({lowest} to 1)", 0.56)],
    )
    if best is not None and len(history) > 1:
        kept = history[best]["epoch"]
        for axis in ("x", "x2"):
            chart.add_vline(kept, xref=axis, line=DOTTED)
    names = ("epoch", "train_loss", "held_out_loss", f"train_{judged}", f"held_out_{judged}", f"held_out_{beside}")
    return keep(chart, lambda: Table.of(names, [[row[name] for name in names] for row in history]))


def _curve(history: Sequence[dict[str, float]], key: str, name: str, axis: str, line: dict[str, str]) -> go.Scatter:
    """One number of the history by epoch, on the left axes ("") or the right ones ("2"), which have the legend entry."""
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "legendgroup": name, "showlegend": axis == "2"}
    epochs, numbers = [row["epoch"] for row in history], [row[key] for row in history]
    return _line(epochs, numbers, name, line, "%{y:.3f}", marker={"size": 5}, **place)


def _line(x: Sequence[float], y: Sequence[float], name: str, line: dict[str, str], hover: str, **more: object) -> go.Scatter:
    """A line with markers; on hover it shows `hover` and its name."""
    hover = f"{hover}<extra>{esc(name)}</extra>"
    return go.Scatter(x=list(x), y=list(y), name=esc(name), mode="lines+markers", line=line, hovertemplate=hover, **more)


def _above(text: str, x: float) -> dict[str, object]:
    """The title of an axis, written above it: beside it, it would take width that a phone does not have."""
    place = {"x": x, "y": 1.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def run_curves(runs: Sequence[tuple[str, Sequence[float]]]) -> go.Figure:
    """The deciding held-out measure of several runs, by epoch."""
    traces = [
        _line(range(1, len(accuracies) + 1), accuracies, name, {"color": colour}, "%{y:.1%}")
        for (name, accuracies), colour in zip(runs, cycle(CATEGORIES), strict=False)
    ]
    longest = max((len(accuracies) for _, accuracies in runs), default=1)
    rows = [[name, epoch, float(one)] for name, accuracies in runs for epoch, one in enumerate(accuracies, start=1)]
    drawn = figure(
        traces,
        key="runs",
        showlegend=True,
        legend=LEGEND,
        xaxis=plain_axis("epoch", dtick=1 if longest <= 12 else None),
        yaxis=grid_axis("held-out score (0 to 1)", range=[0, 1.02]),
    )
    return keep(drawn, lambda: Table.of(("run", "epoch", "held_out_score"), rows))


def probe_curve(
    layers: Sequence[int], accuracy: Sequence[float], deviation: Sequence[float], control: Sequence[float], chance: float
) -> go.Figure:
    """The held-out accuracy of a probe on every hidden state, ± one standard deviation over seeds, and of the control task."""
    spread = {"type": "data", "array": list(deviation), "thickness": 1, "width": 4}
    probe = _line(layers, accuracy, "labels", {"color": HELD_OUT}, "%{y:.1%}", error_y=spread)
    shuffled = _line(layers, control, "control", {"color": OTHER, "dash": "dash"}, "%{y:.1%}")
    shuffled.update(name="shuffled labels (control)")
    chart = figure(
        [probe, shuffled],
        key="probe",
        showlegend=True,
        legend=LEGEND,
        hovermode="x unified",
        xaxis=plain_axis("hidden state (0: embeddings)", dtick=max(1, len(layers) // 12)),
        yaxis=grid_axis("held-out accuracy (0 to 1)", range=[0, 1.02]),
    )
    numbers = {"hidden_state": layers, "accuracy": accuracy, "standard_deviation": deviation, "shuffled_labels": control}
    return keep(chart.add_hline(chance, line=DOTTED), lambda: columns_of(**numbers, chance=[chance] * len(layers)))
