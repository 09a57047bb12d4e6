"""Pictures of the masked LM: surprisal, guesses by layer, patching, and the curve of the loss."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import plotly.graph_objects as go

from explorer.techniques.pseudo_likelihood import Surprise
from explorer.techniques.targets import Target
from explorer.ui.pictures.bars import percent
from explorer.ui.pictures.base import (
    AMOUNT,
    CATEGORIES,
    FAINT,
    LEGEND,
    NEGATIVE,
    PREDICTION,
    esc,
    figure,
    grid_axis,
    plain_axis,
    token_axis,
    token_labels,
    window_over,
)
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, number_axis
from explorer.ui.pictures.numbers import Column, Table, columns_of, keep, matrix


def surprise_bars(found: Surprise, tokens: Sequence[str], guesses: Sequence[str]) -> go.Figure:
    """The surprisal of the tokens that were hidden, in bits; on hover the first guess, its probability, the token's own rank."""
    bits, ranks, shares, window = found.bits, found.ranks, found.best_probabilities, window_over(x=found.positions)
    notes = [
        f"first guess: {esc(guess)} ({esc(percent(share))})<br>the word itself: rank {rank:,}"
        for guess, share, rank in zip(guesses, shares, ranks, strict=True)
    ]
    bars = go.Bar(
        x=token_labels(tokens),
        y=np.asarray(bits, dtype=np.float32),
        customdata=notes,
        text=[esc(guess) if len(tokens) <= 32 or window else "" for guess in guesses],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        marker={"color": [PREDICTION if rank == 1 else NEGATIVE for rank in ranks]},
        hovertemplate="%{x}: %{y:.2f} bits<br>%{customdata}<extra></extra>",
    )
    top = max(float(np.max(bits, initial=0)), 1.0)
    bits_axis = grid_axis("surprise (bits)", range=[0, 1.15 * top])
    drawn = figure([bars], key=f"surprise-{len(tokens)}", xaxis=token_axis("token"), yaxis=bits_axis, meta=window or None)
    numbers: dict[str, Column] = {"bits": bits, "rank": ranks, "first_guess": guesses, "first_guess_probability": shares}
    return keep(drawn, lambda: columns_of(position=found.positions, token=tokens, **numbers))


def followed_words(words: Sequence[str], probabilities: np.ndarray, ranks: np.ndarray) -> go.Figure:
    """Words by hidden state, [hidden states, words]: their probability (left axis), and dotted their rank (right axis)."""
    right_axis = plain_axis("rank (dotted; 1 is first)", type="log", autorange="reversed", dtick=1)
    layers = list(range(len(probabilities)))
    lines = []
    for word, colour, share, rank in zip(words, cycle(CATEGORIES), probabilities.astype(np.float32).T, ranks.T, strict=False):
        hover = f"{esc(word)}: %{{y:.2%}}, rank %{{customdata:,}}<extra></extra>"
        solid, dotted = {"color": colour}, {"color": colour, "dash": "dot", "width": 1.5}
        ranked, named = rank.tolist(), {"name": esc(word), "mode": "lines+markers"}
        lines += [
            go.Scatter(x=layers, y=share, customdata=ranked, line=solid, hovertemplate=hover, **named),
            go.Scatter(x=layers, y=ranked, yaxis="y2", showlegend=False, mode="lines", line=dotted, hoverinfo="skip"),
        ]
    top = max(float(probabilities.max()), 0.01)
    drawn = figure(
        lines,
        key=f"followed-{probabilities.shape}",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 64, "t": 40, "b": 48},
        hovermode="x unified",
        xaxis=plain_axis("hidden state (0: embeddings)", dtick=1),
        yaxis=grid_axis("probability (line)", range=[0, 1.1 * top], tickformat=".0%" if top > 0.05 else ".1%"),
        yaxis2={**right_axis, "overlaying": "y", "side": "right"},
    )
    rows = [
        [layer, word, probabilities[layer, at].item(), ranks[layer, at].item()]
        for at, word in enumerate(words)
        for layer in layers
    ]
    return keep(drawn, lambda: Table.of(("hidden_state", "word", "probability", "rank"), rows))


def patching_heatmap(probabilities: np.ndarray, tokens: Sequence[str], word: str, clean: float, corrupted: float) -> go.Figure:
    """The probability of `word` after each patch, [hidden states, tokens], on a scale from the corrupted run to the clean one."""
    low, high = min(clean, corrupted, float(probabilities.min())), max(clean, corrupted, float(probabilities.max()))
    axes = _patching_axes(tokens, len(probabilities))
    drawn = heatmap(
        probabilities,
        axes,
        hover="%{x}, hidden state %{y}<br>probability %{z:.2%}",
        scale=colour_scale(low, max(high, low + 1e-6), f"probability of {esc(word)}", tickformat=".1%"),
        key=f"patching-{probabilities.shape}",
    )
    return keep(drawn, lambda: matrix(probabilities, *axes.sides(probabilities.shape), "probability").beside(word=word))


def recovery_heatmap(
    recovered: np.ndarray, logits: np.ndarray, probabilities: np.ndarray, tokens: Sequence[str], target: Target
) -> go.Figure:
    """The recovery after each patch, [hidden states, tokens], 0 as in the corrupted run, 1 as in the clean one.

    Beside it, on hover and in the numbers, the difference of `logits` (word minus foil) and the word's `probabilities`.
    """
    axes = _patching_axes(tokens, len(recovered))
    most = max(1.0, float(np.abs(recovered).max()))
    drawn = heatmap(
        recovered,
        axes,
        hover="%{x}, hidden state %{y}<br>recovery %{z:.2f}<br>%{customdata[0]:+.2f} logits<br>probability %{customdata[1]:.2%}",
        scale=colour_scale(-most, most, "recovery (0: changed, 1: original)", signed=True, tickformat=".1f"),
        key=f"recovery-{recovered.shape}",
        customdata=np.stack([logits, probabilities], axis=-1).astype(np.float32),
    )
    sides = axes.sides(recovered.shape)
    listed = [matrix(values, *sides, "value").cells[-1] for values in (logits, probabilities)]
    numbers = matrix(recovered, *sides, "recovery").beside(word=target.token, foil=target.foil_token)
    whole = Table((*numbers.columns, "logit_difference", "probability"), (*numbers.cells, *listed))
    return keep(drawn, lambda: whole)


def _patching_axes(tokens: Sequence[str], states: int) -> Axes:
    axis = number_axis("hidden state (0: embeddings)", states - 1, autorange="reversed")
    return Axes(token_labels(tokens), list(range(states)), token_axis("copied token"), axis, "x", ("token", ""))


LEAST_TOP = 7.0  # nats: the curve of the loss reaches down to p = 0.001


def loss_curve(pieces: Sequence[str], positions: Sequence[int], losses: np.ndarray, guesses: Sequence[str]) -> go.Figure:
    """What each chosen piece costs, −ln p of the true piece, in nats [pieces], as points on the curve, with their mean."""
    costs = np.asarray(losses, dtype=np.float32)
    probabilities, top = np.exp(-costs), max(LEAST_TOP, 1.05 * float(costs.max()))
    along = np.linspace(0, top, 121, dtype=np.float32)  # even in the loss, which is steep at the left
    curve = go.Scatter(
        x=np.exp(-along), y=along, mode="lines", line={"color": AMOUNT}, hovertemplate="p %{x:.3f} costs %{y:.2f}<extra></extra>"
    )
    points = go.Scatter(
        x=probabilities,
        y=costs,
        mode="markers+text",
        marker={"color": NEGATIVE, "size": 10},
        text=[esc(piece) for piece in pieces],
        textposition="top right",
        customdata=[esc(guess) for guess in guesses],
        hovertemplate="%{text}: p %{x:.3f} costs %{y:.2f}<br>first guess: %{customdata}<extra></extra>",
    )
    drawn = figure(
        [curve, points],
        key="loss-curve",
        xaxis=grid_axis("p of the true piece", range=[-0.02, 1.25], tickvals=[0, 0.25, 0.5, 0.75, 1]),
        yaxis=grid_axis("loss = −ln p (dotted: their mean)", range=[-0.2, top]),
    ).add_hline(costs.mean().item(), line={"dash": "dot", "color": FAINT})
    return keep(drawn, lambda: columns_of(piece=pieces, position=positions, probability=probabilities, loss=costs, guess=guesses))
