"""A picture of what each word does to an answer."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.ui.pictures.base import GRID, NEGATIVE, POSITIVE, figure, token_axis, token_labels
from explorer.ui.pictures.numbers import columns_of, keep


def word_effects(words: Sequence[str], effects: Sequence[float], shares: bool = True, outlined: int | None = None) -> go.Figure:
    """The effect of each word for the best label (positive) or against it.

    `shares`: how much its probability falls when the word is masked, -1 to 1; otherwise parts of its log-odds. The bar of the
    word at `outlined` has an outline.
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
