"""Pictures of hidden states: vectors, changes by layer, one word in two contexts, sentences."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, plain_axis, token_axis, token_labels
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, number_axis, outline, outline_cell
from explorer.ui.pictures.numbers import Table, keep

OWN_LINES = (CATEGORIES[0], CATEGORIES[1])
OTHER_LINES = (CATEGORIES[2], CATEGORIES[3])


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


def pooled_heatmap(cls: np.ndarray, pooled: np.ndarray) -> go.Figure:
    """Two rows over the same dimensions: the last hidden state of [CLS] [hidden], and the pooled output [hidden]."""
    return heatmap(
        np.stack([cls, pooled]),
        Axes(
            None,
            ["[CLS], last layer", "pooled"],
            number_axis("dimension"),
            token_axis("", autorange="reversed"),
            names=("dimension", "vector"),
        ),
        hover="%{y}<br>dimension %{x}<br>value %{z:.3f}",
        scale=colour_scale(-1, 1, "value", signed=True),
        key="pooled",
    )


def context_lines(
    lines: Sequence[tuple[str, np.ndarray]], word: str, controls: Sequence[tuple[str, np.ndarray]], random: np.ndarray
) -> go.Figure:
    """Cosines of one word between its contexts at every hidden state [layers + 1], beside references to judge them by.

    `lines` are the word's own, the most telling first; `controls` are those of other words. `random` is the mean cosine of
    unrelated tokens.
    """
    others = [(f"control ‘{other}’", values) for other, values in controls]
    traces = [
        *(_line(values, name, c, 3) for (name, values), c in zip(lines, OWN_LINES, strict=False)),
        _line(np.ones(len(random)), f"‘{word}’ as a static vector", FAINT, 1.5, "dash"),
        *(_line(values, name, c, 1.2) for (name, values), c in zip(others, OTHER_LINES, strict=False)),
        _line(random, "random tokens", FAINT, 1.5, "dot"),
    ]
    lowest = min(float(values.min()) for _, values in [*lines, *controls])
    static = (f"‘{word}’ as a static vector", np.ones(len(random)))
    every = [*lines, static, *others, ("random tokens", random)]
    drawn = figure(
        traces,
        key=f"contexts-{len(random)}",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 12, "t": 64, "b": 48},
        xaxis=plain_axis("hidden state (0: embeddings)", dtick=1),
        yaxis=grid_axis("cosine between contexts", range=[min(-0.05, lowest - 0.05), 1.05]),
    )
    rows = [[name, at, float(value)] for name, values in every for at, value in enumerate(values)]
    return keep(drawn, lambda: Table.of(("line", "hidden_state", "cosine"), rows))


def _line(cosines: np.ndarray, label: str, colour: str, width: float, dash: str = "solid") -> go.Scatter:
    return go.Scatter(
        x=list(range(len(cosines))),
        y=cosines,
        name=esc(label),
        mode="lines+markers" if dash == "solid" else "lines",
        line={"color": colour, "width": width, "dash": dash},
        hovertemplate="%{fullData.name}, hidden state %{x}: %{y:.3f}<extra></extra>",
    )
