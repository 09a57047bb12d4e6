"""Surprise, belief through the layers, attribution, patching, and the lengths of spans."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.base import CATEGORIES, esc, figure, token_axis, token_labels
from explorer.figures.heatmaps import Axes, colour_scale, heatmap, number_axis

BLUE, ORANGE, GREY = CATEGORIES[0], CATEGORIES[1], CATEGORIES[7]
GRID = "rgba(128,128,128,.2)"
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def surprise_bars(
    tokens: Sequence[str], bits: np.ndarray, guesses: Sequence[str], shares: np.ndarray, ranks: np.ndarray
) -> go.Figure:
    """How surprised the model is by each token, in bits; the first guess, its probability and the rank on hover."""
    right = np.asarray(ranks) == 1
    notes = [
        f"first guess: {esc(guess)} ({share:.1%})<br>the word itself: rank {rank:,}"
        for guess, share, rank in zip(guesses, shares, ranks, strict=True)
    ]
    bars = go.Bar(
        x=token_labels(tokens),
        y=np.asarray(bits, dtype=np.float32),
        customdata=notes,
        text=[esc(guess) if len(tokens) <= 32 else "" for guess in guesses],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        marker={"color": [BLUE if hit else ORANGE for hit in right]},
        hovertemplate="%{x}: %{y:.2f} bits<br>%{customdata}<extra></extra>",
    )
    top = max(float(np.max(bits, initial=0)), 1.0)
    y_axis = {"title": {"text": "surprise (bits)"}, "range": [0, 1.15 * top], "gridcolor": GRID, "zeroline": False}
    return figure([bars], key=f"surprise-{len(tokens)}", xaxis=token_axis("token"), yaxis=y_axis)


def followed_words(words: Sequence[str], probabilities: np.ndarray, ranks: np.ndarray) -> go.Figure:
    """Words through the layers, [hidden states, words]: their probability (left) and their rank (dotted, right)."""
    traces = [
        trace
        for index, word in enumerate(words)
        for trace in _followed_word(esc(word), CATEGORIES[index % len(CATEGORIES)], probabilities[:, index], ranks[:, index])
    ]
    top = max(float(probabilities.max()), 0.01)
    return figure(
        traces,
        key=f"followed-{len(probabilities)}",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 64, "t": 40, "b": 48},
        hovermode="x unified",
        xaxis={"title": {"text": "hidden state (0: embeddings)"}, "dtick": 1, "showgrid": False, "zeroline": False},
        yaxis={
            "title": {"text": "probability (line)"},
            "range": [0, 1.1 * top],
            "tickformat": ".0%" if top > 0.05 else ".1%",
            "gridcolor": GRID,
            "zeroline": False,
        },
        yaxis2={
            "title": {"text": "rank (dotted; 1 is first)"},
            "overlaying": "y",
            "side": "right",
            "type": "log",
            "autorange": "reversed",
            "dtick": 1,
            "showgrid": False,
        },
    )


def _followed_word(name: str, colour: str, probabilities: np.ndarray, ranks: np.ndarray) -> list[go.Scatter]:
    """The lines of one word, both [hidden states]; its rank is read where one points at its probability."""
    layers = list(range(len(probabilities)))
    return [
        go.Scatter(
            x=layers,
            y=probabilities.astype(np.float32),
            customdata=ranks.tolist(),
            name=name,
            mode="lines+markers",
            line={"color": colour},
            hovertemplate=f"{name}: %{{y:.2%}}, rank %{{customdata:,}}<extra></extra>",
        ),
        go.Scatter(
            x=layers,
            y=ranks.tolist(),
            yaxis="y2",
            showlegend=False,
            mode="lines",
            line={"color": colour, "dash": "dot", "width": 1.5},
            hoverinfo="skip",
        ),
    ]


def attribution_bars(tokens: Sequence[str], scores: np.ndarray, method: str, occluded: np.ndarray | None, unit: str) -> go.Figure:
    """A score a token for `unit`, beside what hiding that token costs; `method` is named on the figure."""
    labels = token_labels(tokens)

    def bars(values: np.ndarray, name: str, colour: str) -> go.Bar:
        template = f"%{{x}}: %{{y:.3f}}<extra>{esc(name)}</extra>"
        return go.Bar(
            x=labels, y=np.asarray(values, dtype=np.float32), name=esc(name), marker={"color": colour}, hovertemplate=template
        )

    traces = [bars(scores, method, BLUE)]
    if occluded is not None:
        traces.append(bars(occluded, "occlusion", ORANGE))
    y_axis = {"title": {"text": f"score ({esc(unit)})"}, "gridcolor": GRID, "zerolinecolor": GREY}
    return figure(
        traces,
        key=f"attribution-{len(tokens)}",
        barmode="group",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 12, "t": 56, "b": 48},
        xaxis=token_axis("token"),
        yaxis=y_axis,
    )


def patching_heatmap(probabilities: np.ndarray, tokens: Sequence[str], word: str, clean: float, corrupted: float) -> go.Figure:
    """The probability of `word`, [hidden states, tokens], from what the corrupted input gives to what the clean one does."""
    low, high = min(clean, corrupted, float(probabilities.min())), max(clean, corrupted, float(probabilities.max()))
    axis = number_axis("hidden state (0: embeddings)", len(probabilities) - 1, autorange="reversed")
    return heatmap(
        probabilities,
        Axes(token_labels(tokens), list(range(len(probabilities))), token_axis("token taken from the clean run"), axis),
        hover="%{x}, hidden state %{y}<br>probability %{z:.2%}",
        scale=colour_scale(low, max(high, low + 1e-6), f"probability of {esc(word)}", tickformat=".1%"),
        key=f"patching-{probabilities.shape}",
    )


def span_lengths(expected: np.ndarray, drawn: Sequence[int]) -> go.Figure:
    """The share of each span length in words, 1 to 10: what the rule says, and the spans of this round."""
    lengths = list(range(1, len(expected) + 1))
    counts = np.array([list(drawn).count(length) for length in lengths], dtype=float)
    share = counts / max(1.0, counts.sum())
    return figure(
        [
            go.Bar(x=lengths, y=share, name="in this round", marker={"color": BLUE}, hovertemplate="%{y:.0%}<extra></extra>"),
            go.Scatter(
                x=lengths,
                y=expected,
                name="the rule: geometric, p = 0.2, at most 10",
                mode="lines+markers",
                line={"color": ORANGE},
                hovertemplate="%{y:.1%}<extra></extra>",
            ),
        ],
        key="span-lengths",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 12, "t": 40, "b": 48},
        xaxis={"title": {"text": "length of a span (words)"}, "dtick": 1, "showgrid": False, "zeroline": False},
        yaxis={"title": {"text": "share of the spans"}, "tickformat": ".0%", "gridcolor": GRID, "rangemode": "tozero"},
    )
