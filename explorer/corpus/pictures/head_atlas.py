"""Pictures of what a head does across a corpus."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections import Counter
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.text.tagged import plain
from explorer.ui.pictures.alternatives import MOST
from explorer.ui.pictures.base import AMOUNT, CATEGORIES, FAINT, figure, grid_axis, plain_axis, token_axis, token_labels
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, root_ticks
from explorer.ui.pictures.maps import OTHERS
from explorer.ui.pictures.numbers import Places, columns_of, keep, matrix

SPECIALS = ("[CLS]", "[SEP]")
TURNED = {"autorange": "reversed"}
TYPICAL = 12  # tokens in a typical picture


def offset_bars(offsets: Sequence[int], weights: np.ndarray, specials: Sequence[float]) -> go.Figure:
    """The mean weight on the token at each offset (negative: before the query), then that on [CLS] and on [SEP]."""
    names = [f"{offset:+d}".replace("-", "−") if offset else "0" for offset in offsets]
    every = [*names, *SPECIALS]
    values = np.array([*weights, *specials], dtype=float)
    places = [*range(len(names)), len(names) + 1, len(names) + 3]
    bars = go.Bar(
        x=places,
        y=values.astype(np.float32),
        marker={"color": [AMOUNT] * len(names) + [FAINT] * len(SPECIALS)},
        customdata=every,
        hovertemplate="%{customdata}: %{y:.1%}<extra></extra>",
    )
    across = plain_axis("tokens before (−) and behind (+), 0: itself", 6, tickvals=places, ticktext=every, tickangle=0)
    up = grid_axis("mean weight", range=[0, max(0.25, 1.08 * float(values.max(initial=0)))], tickformat=".0%")
    first = ", ".join(f"{every[at]} {values[at]:.3g}" for at in np.argsort(-values, kind="stable")[:MOST].tolist())
    words = f"The highest {MOST} of {len(every)} (mean weight): {first}."
    meta = {"narrow": {"xaxis": {"tickangle": 90}}, "alt": words}
    drawn = figure([bars], key="offsets", xaxis=across, yaxis=up, bargap=0.25, meta=meta)
    return keep(drawn, lambda: columns_of(offset=[*offsets, None, None], place=every, mean_weight=values))


def tag_heatmap(weights: np.ndarray, tags: Sequence[str]) -> go.Figure:
    """The mean weight [tags, tags + 2] from words of one part of speech to those of another, then to [CLS] and [SEP]."""
    top = max(float(weights.max(initial=0)), 1e-6)
    looked_at, named = [*tags, *SPECIALS], [plain(tag) for tag in tags]
    drawn = heatmap(
        np.sqrt(weights / top),
        Axes(
            token_labels([*named, *SPECIALS]),
            token_labels(named),
            token_axis("column: is looked at"),
            token_axis("row: looks", **TURNED),
        ),
        hover="row %{y} → column %{x}<br>mean weight %{customdata:.3f}",
        scale=colour_scale(0, 1, "mean weight", **root_ticks(top)),
        key=f"tags-{len(tags)}",
        customdata=weights.astype(np.float32),
    )
    return keep(drawn, lambda: matrix(weights, Places.of("from", tags), Places.of("to", looked_at), "mean_weight"))


def typical_pictures(offsets: np.ndarray, cls: np.ndarray, sep: np.ndarray) -> np.ndarray:
    """[..., TYPICAL, TYPICAL] in 0 to 1: the attention of a head that always does what it does on average, each on its own scale.

    `offsets` [..., reach · 2 + 1] are the mean weights by relative position; the first token is [CLS], the last [SEP].
    """
    reach = offsets.shape[-1] // 2
    apart = np.arange(TYPICAL) - np.arange(TYPICAL)[:, None]
    drawn = np.where(np.abs(apart) <= reach, offsets[..., np.clip(apart + reach, 0, 2 * reach)], 0.0)
    drawn[..., 0], drawn[..., -1] = cls[..., None], sep[..., None]
    return (drawn / np.maximum(drawn.max(axis=(-2, -1), keepdims=True), 0.3)).clip(0, 1)


def few_names(names: Sequence[str]) -> list[str]:
    """The names with the rarest replaced by OTHERS, so that each of them can have its own colour."""
    common = [name for name, _ in Counter(names).most_common()]
    if len(common) > len(CATEGORIES):
        common = common[: len(CATEGORIES) - 1]
    return [name if name in common else OTHERS for name in names]


def colours_of(names: Sequence[str]) -> dict[str, str]:
    """The colour of each name, as maps assign them to names in this order."""
    named = [name for name in dict.fromkeys(names) if name != OTHERS]
    return dict(zip(named, CATEGORIES, strict=False)) | ({OTHERS: CATEGORIES[-1]} if OTHERS in names else {})
