"""How a training went, and how good its result is."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import plotly.graph_objects as go

from explorer.figures.base import (
    CATEGORIES,
    FAINT,
    GRID,
    LEGEND,
    NEGATIVE,
    POSITIVE,
    esc,
    figure,
    grid_axis,
    plain_axis,
    shorten,
    token_axis,
    token_labels,
)
from explorer.figures.heatmaps import Axes, colour_scale, head_axes, heatmap
from explorer.figures.numbers import Places, Table, columns_of, keep, matrix

TRAINED, HELD_OUT, OTHER = CATEGORIES[4], CATEGORIES[0], CATEGORIES[1]
CALLED = {
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "spearman": "Spearman",
    "pearson": "Pearson",
    "exact_match": "exact match",
    "f1": "F1",
}
SHADE = "rgba(128, 128, 128, 0.2)"
DOTTED = {"color": FAINT, "width": 1, "dash": "dot"}


def learning_curves(history: Sequence[dict[str, float]], epochs: int, best: int | None = None) -> go.Figure:
    """Loss (left) and what a run is judged by (right) after every epoch; `best` is the index of the one kept.

    The rows are those of `Epoch.as_row`: of three measures the first is the loss, the second what it is judged by.
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
    few = max(1, -(-epochs // 5))  # a phone has room for five
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
    """One number of the history by epoch, on the left axes ("") or the right ones ("2"), which have the legend."""
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "legendgroup": name, "showlegend": axis == "2"}
    epochs, numbers = [row["epoch"] for row in history], [row[key] for row in history]
    return _line(epochs, numbers, name, line, "%{y:.3f}", marker={"size": 5}, **place)


def _line(x: Sequence[float], y: Sequence[float], name: str, line: dict[str, str], hover: str, **more: object) -> go.Scatter:
    """A line with its points, which says its name and `hover` where it is pointed at."""
    hover = f"{hover}<extra>{esc(name)}</extra>"
    return go.Scatter(x=list(x), y=list(y), name=esc(name), mode="lines+markers", line=line, hovertemplate=hover, **more)


def _above(text: str, x: float) -> dict[str, object]:
    """What an axis shows, written over it: beside it, it would take the width that a phone has not."""
    place = {"x": x, "y": 1.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def run_curves(runs: Sequence[tuple[str, Sequence[float]]]) -> go.Figure:
    """What each of several runs is judged by, held out, by epoch."""
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


def confusion_matrix(counts: np.ndarray, labels: Sequence[str], what: str = "sentences") -> go.Figure:
    """Counts [right label, said label] of `what`; the colour is the share of the row, so that rare labels show too."""
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    few = len(labels) <= 25  # labels that are written out
    names = token_labels([shorten(label, 18) for label in labels])
    predicted = token_axis("column: what was said", showticklabels=few)
    right = token_axis("row: what is right", autorange="reversed", showticklabels=few)
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
    """What was said [n] against what is right [n], a dot for each text; on the dotted line both are the same."""
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
    axes = {"xaxis": grid_axis("what is right"), "yaxis": grid_axis("what was said")}
    drawn = figure([same, dots], key=f"numbers-{key}", **axes)
    return keep(drawn, lambda: columns_of(text=texts, right=right, said=said))


def calibration_curve(confidence: np.ndarray, accuracy: np.ndarray, count: np.ndarray) -> go.Figure:
    """How often predictions are right (0 to 1), by the probability they were made with; the area shows how many."""
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


def probe_curve(
    layers: Sequence[int], accuracy: Sequence[float], deviation: Sequence[float], control: Sequence[float], chance: float
) -> go.Figure:
    """Held-out accuracy of a probe on every hidden state, ± a standard deviation over seeds, and the control task's."""
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


def tag_probe_curves(probes: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[float]]]) -> go.Figure:
    """For each set of tags its name, and by hidden state the probe's held-out accuracy, ± a standard deviation, and control."""
    traces, rows = [], []
    for (name, accuracy, deviation, control), colour in zip(probes, cycle((HELD_OUT, OTHER, TRAINED)), strict=False):
        layers = list(range(len(accuracy)))
        spread = {"type": "data", "array": list(deviation), "thickness": 1, "width": 4}
        traces.append(_line(layers, accuracy, name, {"color": colour}, "%{y:.1%}", error_y=spread))
        traces.append(_line(layers, control, f"{name}: control", {"color": colour, "dash": "dot"}, "%{y:.1%}"))
        rows += [[name, *map(float, row)] for row in zip(layers, accuracy, deviation, control, strict=True)]
    drawn = figure(
        traces,
        key="tag-probe",
        showlegend=True,
        legend=LEGEND,
        hovermode="x unified",
        xaxis=plain_axis("hidden state (0: embeddings)", dtick=1 if len(rows) <= 26 else 2),
        yaxis=grid_axis("held-out words tagged right (0 to 1)", range=[0, 1.02]),
    )
    names = ("tags", "hidden_state", "accuracy", "standard_deviation", "control_accuracy")
    return keep(drawn, lambda: Table.of(names, rows))


def examples_curve(
    examples: Sequence[int],
    score: Sequence[float],
    deviation: Sequence[float],
    words: Sequence[float],
    words_deviation: Sequence[float],
) -> go.Figure:
    """Held-out score by the number of examples, each ± a standard deviation over splits: BERT's and a bag of words'."""
    bert, bag = {"color": HELD_OUT}, {"color": OTHER, "dash": "dash"}
    traces = [
        *_band(examples, words, words_deviation, "bag of words", bag),
        *_band(examples, score, deviation, "BERT, frozen", bert),
    ]
    drawn = figure(
        traces,
        key=f"examples-{len(examples)}",
        showlegend=True,
        legend=LEGEND,
        hovermode="x unified",
        xaxis=plain_axis("examples trained on", type="log", tickvals=list(examples), ticktext=[f"{one:,}" for one in examples]),
        yaxis=grid_axis("held-out score", range=[min(0.0, *score, *words), 1.02]),
    )
    numbers = {"score": score, "standard_deviation": deviation, "bag_of_words": words, "its_deviation": words_deviation}
    return keep(drawn, lambda: columns_of(examples=examples, **numbers))


def _band(
    x: Sequence[float], mean: Sequence[float], deviation: Sequence[float], name: str, line: dict[str, str]
) -> list[go.Scatter]:
    """A line, and a faint band of a standard deviation on each side of it."""
    low, high = (np.add(mean, sign * np.array(deviation)) for sign in (-1, 1))
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return [
        go.Scatter(x=list(x), y=low, **edge),
        go.Scatter(x=list(x), y=high, fill="tonexty", fillcolor=SHADE, **edge),
        _line(x, mean, name, line, "%{y:.1%}"),
    ]


def word_effects(words: Sequence[str], effects: Sequence[float], shares: bool = True, outlined: int | None = None) -> go.Figure:
    """What each word did for the best label (positive) or against it.

    `shares`: how much its probability falls when the word is hidden, -1 to 1; otherwise parts of its log-odds. The bar of
    the word at `outlined` has an outline.
    """
    most = max(0.01, max((abs(effect) for effect in effects), default=0.01))
    hover, ticks = ("without %{x}: %{customdata:+.1%}", "+.0%") if shares else ("%{x}: %{y:+.2f}", "+.1f")
    edges = [3 if place == outlined else 0 for place in range(len(words))]
    bars = go.Bar(
        x=token_labels(words),
        y=list(effects),
        marker={
            "color": [POSITIVE if effect >= 0 else NEGATIVE for effect in effects],
            "line": {"color": "var(--body-text-color)", "width": edges},
        },
        hovertemplate=f"{hover}<extra></extra>",
        customdata=[-effect for effect in effects],
    )
    drawn = figure(
        [bars],
        key=f"words-{len(words)}",
        margin={"l": 48, "r": 12, "t": 8, "b": 40},
        xaxis={**token_axis(""), "title": None},
        yaxis={"tickformat": ticks, "range": [-most * 1.1, most * 1.1], **GRID},
    )
    return keep(drawn, lambda: columns_of(place=range(len(words)), word=words, effect=effects))


def drift_bars(drift: np.ndarray) -> go.Figure:
    """How far training moved each hidden state: 1 - cosine between before and after, mean over tokens, 0 to 2."""
    hover = "hidden state %{x}: %{y:.4f}<extra></extra>"
    drawn = figure(
        [go.Bar(x=list(range(len(drift))), y=drift, marker={"color": HELD_OUT}, hovertemplate=hover)],
        key=f"drift-{len(drift)}",
        xaxis=plain_axis("hidden state (0: embeddings)", dtick=max(1, len(drift) // 13)),
        yaxis=grid_axis("1 − cosine, before to after", rangemode="tozero"),
    )
    return keep(drawn, lambda: Table.of(("hidden_state", "1_minus_cosine"), [[at, float(one)] for at, one in enumerate(drift)]))


def looks_at_answer(shares: np.ndarray, even: float) -> go.Figure:
    """The share of its attention that each head gives from a question to an answer: [layers, heads]; `even` if spread evenly."""
    return heatmap(
        shares,
        head_axes(*shares.shape),
        hover=f"layer %{{y}}, head %{{x}}<br>%{{z:.1%}} of its attention (evenly {even:.1%})",
        scale=colour_scale(0, max(float(shares.max(initial=0)), 1e-3), "attention"),
        key=f"looks-{shares.shape}",
    )


def attention_shift(shift: np.ndarray) -> go.Figure:
    """How much of every head's attention went elsewhere: [layers, heads], total variation 0 to 1, mean over queries."""
    return heatmap(
        shift,
        head_axes(*shift.shape),
        hover="layer %{y}, head %{x}<br>%{z:.1%} of the attention moved",
        scale=colour_scale(0, max(float(shift.max(initial=0)), 1e-3), "moved"),
        key=f"shift-{shift.shape}",
    )
