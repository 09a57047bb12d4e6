"""Pictures of what each token or word does to an answer."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import (
    AMOUNT,
    CATEGORIES,
    FAINT,
    GRID,
    LEGEND,
    NEGATIVE,
    POSITIVE,
    esc,
    figure,
    grid_axis,
    token_axis,
    token_labels,
    window_over,
)
from explorer.ui.pictures.numbers import columns_of, keep


def attribution_bars(tokens: Sequence[str], scores: np.ndarray, method: str, occluded: np.ndarray, unit: str) -> go.Figure:
    """A score per token for `unit`, beside the effect of masking that token (occlusion); `method` is the legend."""
    labels = token_labels(tokens)

    def bars(values: np.ndarray, name: str, colour: str) -> go.Bar:
        template = f"%{{x}}: %{{y:.3f}}<extra>{esc(name)}</extra>"
        heights = np.asarray(values, dtype=np.float32)
        return go.Bar(x=labels, y=heights, name=esc(name), marker={"color": colour}, hovertemplate=template)

    chart = figure(
        [bars(scores, method, AMOUNT), bars(occluded, "occlusion: the token hidden", FAINT)],
        key=f"attribution-{len(tokens)}",
        barmode="group",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 12, "t": 56, "b": 48},
        xaxis=token_axis("token"),
        yaxis=grid_axis(f"score ({esc(unit)})", zeroline=True, zerolinecolor=FAINT),
        meta=window_over(x=range(len(tokens))) or None,
    )
    return keep(chart, lambda: columns_of(position=range(len(tokens)), token=tokens, score=scores, occlusion=occluded))


def word_effects(
    words: Sequence[str], effects: Sequence[float], outlined: int | None = None, series: int | None = None
) -> go.Figure:
    """The effect of each word for the best label (positive, in its colour of the `series` if it has one) or against it.

    An effect is how much its probability falls when the word is masked, -1 to 1. The bar of the word at `outlined` has an
    outline.
    """
    most = max(0.01, max((abs(effect) for effect in effects), default=0.01))
    speaks_for = POSITIVE if series is None else CATEGORIES[series % len(CATEGORIES)]
    edges = [3 if place == outlined else 0 for place in range(len(words))]
    bars = go.Bar(
        x=token_labels(words),
        y=list(effects),
        marker={
            "color": [speaks_for if effect >= 0 else NEGATIVE for effect in effects],
            "line": {"color": "var(--body-text-color)", "width": edges},
        },
        hovertemplate="without %{x}: %{customdata:+.1%}<extra></extra>",
        customdata=[-effect for effect in effects],
    )
    chart = figure(
        [bars],
        key=f"words-{len(words)}",
        margin={"l": 48, "r": 12, "t": 8, "b": 40},
        xaxis={**token_axis(""), "title": None},
        yaxis={"tickformat": "+.0%", "range": [-most * 1.1, most * 1.1], **GRID},
    )
    return keep(chart, lambda: columns_of(place=range(len(words)), word=words, effect=effects))
