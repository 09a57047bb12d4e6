"""Heatmaps of hidden states: vectors, changes by layer, layers, sentences."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import token_axis, token_labels
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, number_axis, outline, outline_cell
from explorer.ui.pictures.numbers import keep, matrix


def vectors_heatmap(vectors: np.ndarray, rows: Sequence[str], top: float, name: str = "token") -> go.Figure:
    """Vectors [rows, hidden]: a row per token, or `name`, a column per dimension; the scale goes from −top to top."""
    along, tokens = token_axis(name, autorange="reversed"), "y" if name == "token" else ""
    axes = Axes(None, token_labels(rows), number_axis("dimension"), along, tokens, ("dimension", name))
    drawn = heatmap(
        vectors.astype(np.float32).round(2),
        axes,
        hover="%{y}<br>dimension %{x}<br>value %{z:.2f}",
        scale=colour_scale(-top, top, "value", signed=True),
        key=f"vectors-{vectors.shape}",
    )
    return keep(drawn, lambda: matrix(vectors, *axes.sides(vectors.shape), "value"))


def by_layer_heatmap(
    values: np.ndarray, tokens: Sequence[str], first: int, name: str, cell: tuple[int, int] | None = None
) -> go.Figure:
    """A number for every token at every hidden state: values [hidden states, tokens], of which `first` is the first hidden state.

    `cell` is the row and the token of a cell to outline.
    """
    states = number_axis("hidden state (0: embeddings)", len(values) - 1)
    return heatmap(
        values,
        Axes(token_labels(tokens), list(range(first, first + len(values))), token_axis("token"), states, tokens="x"),
        hover=f"%{{x}}, hidden state %{{y}}<br>{name} %{{z:.3f}}",
        scale=colour_scale(min(0.0, float(values.min(initial=0))), max(float(values.max(initial=0)), 1e-6), name),
        key=f"by-layer-{name}-{values.shape}",
    ).update_layout(shapes=outline_cell(cell))


def layers_heatmap(similarity: np.ndarray, one_model: bool = False, chosen: int | None = None) -> go.Figure:
    """Similarity, 0 to 1, of every hidden state here [rows] and every one there [columns]; `one_model`: both are the same model.

    The row of the `chosen` hidden state is outlined.
    """
    sides = ("", "") if one_model else (" here", " there")
    rows, columns = (
        number_axis(f"hidden state{side} (0: embeddings)", count) for side, count in zip(sides, similarity.shape, strict=True)
    )
    names = ("other_hidden_state", "hidden_state") if one_model else ("hidden_state_there", "hidden_state_here")
    row = [] if chosen is None else [outline(-0.5, chosen - 0.5, similarity.shape[1], 1)]
    return heatmap(
        similarity,
        Axes(None, None, columns, rows, names=names),
        hover=f"{'' if one_model else 'here '}%{{y}}, {'' if one_model else 'there '}%{{x}}<br>CKA %{{z:.3f}}",
        scale=colour_scale(0, 1, "CKA"),
        key=f"layers-{similarity.shape}",
    ).update_layout(shapes=row)
