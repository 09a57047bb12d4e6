"""A picture of attribution: a score for each token."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import AMOUNT, FAINT, LEGEND, esc, figure, grid_axis, token_axis, token_labels
from explorer.ui.pictures.numbers import columns_of, keep
from explorer.ui.pictures.window import window_over


def attribution_bars(tokens: Sequence[str], scores: np.ndarray, method: str, occluded: np.ndarray | None, unit: str) -> go.Figure:
    """A score per token for `unit`, beside the effect of masking that token (occlusion) if given; `method` is the legend."""
    labels = token_labels(tokens)

    def bars(values: np.ndarray, name: str, colour: str) -> go.Bar:
        template = f"%{{x}}: %{{y:.3f}}<extra>{esc(name)}</extra>"
        heights = np.asarray(values, dtype=np.float32)
        return go.Bar(x=labels, y=heights, name=esc(name), marker={"color": colour}, hovertemplate=template)

    traces = [bars(scores, method, AMOUNT)]
    if occluded is not None:
        traces.append(bars(occluded, "occlusion", FAINT))
    numbers = {"score": scores} | ({} if occluded is None else {"occlusion": occluded})
    drawn = figure(
        traces,
        key=f"attribution-{len(tokens)}",
        barmode="group",
        showlegend=True,
        legend=LEGEND,
        margin={"l": 56, "r": 12, "t": 56, "b": 48},
        xaxis=token_axis("token"),
        yaxis=grid_axis(f"score ({esc(unit)})", zeroline=True, zerolinecolor=FAINT),
        meta=window_over(x=range(len(tokens))) or None,
    )
    return keep(drawn, lambda: columns_of(position=range(len(tokens)), token=tokens, **numbers))
