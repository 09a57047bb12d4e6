"""One head's attention as lines between tokens, a number per head, and where a token comes from."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.attention import scale_end
from explorer.ui.pictures.alternatives import ARROW, strongest_cells
from explorer.ui.pictures.base import sqrt_bytes, to_base64, token_axis, token_labels, token_places
from explorer.ui.pictures.heatmaps import Axes, colour_scale, head_axes, heatmap, number_axis, outline, root_ticks
from explorer.ui.pictures.numbers import Places, keep, matrix, with_columns


def attention_lines(
    weights: np.ndarray,
    tokens: Sequence[str],
    kinds: Sequence[str],
    selected: int | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    key_kinds: Sequence[str] | None = None,
    heads: Sequence[int] = (),
) -> dict[str, Any]:
    """The component's value for `weights` [query, key], none negative; `selected` is a zero-based query.

    With `heads`, their numbers, the weights are [heads, query, key], and each head has a colour. The keys are the queries unless
    given.
    """
    weights = np.asarray(weights, dtype=np.float32)
    key_tokens = tokens if key_tokens is None else key_tokens
    key_kinds = kinds if key_kinds is None else key_kinds
    each = weights.reshape(-1, len(tokens), len(key_tokens))
    top = float(scale_end(weights.max(), len(key_tokens)))
    names = tokens.__getitem__, key_tokens.__getitem__
    told = [strongest_cells(cells, *names, "weight", ARROW) for cells in each]
    shown = {
        "queries": {"tokens": list(tokens), "kinds": list(kinds)},
        "keys": {"tokens": list(key_tokens), "kinds": list(key_kinds)},
        "heads": list(heads),
        "data": to_base64(sqrt_bytes(weights / top)),
        "top": top,
        "strongest": {"query": _strongest(each), "key": _strongest(each.swapaxes(1, 2))},
        "places": {"query": token_places(range(each.shape[1])), "key": token_places(range(each.shape[2]))},
        "selected": None if selected is None else int(selected),
        "alt": " ".join(f"Head {head}: {words}" for head, words in zip(heads, told, strict=True)) if heads else told[0],
    }
    sides = Places.of_tokens(tokens, "query"), Places.of_tokens(key_tokens, "key")
    return keep(shown, lambda: matrix(each.sum(axis=0), *sides, "weight"))


def _strongest(each: np.ndarray) -> dict[str, list[float]]:
    """For each row of [heads, rows, columns] where its largest weight is: the column, the head's place, and the weight."""
    best = each.max(axis=0)
    return {
        "index": best.argmax(axis=1).tolist(),
        "head": each.max(axis=2).argmax(axis=0).tolist(),
        "weight": best.max(axis=1).round(6).tolist(),
    }


def metric_heatmap(
    values: np.ndarray, patterns: np.ndarray, name: str, selected: tuple[int, int], unit_range: bool = True
) -> go.Figure:
    """One number per head [layers, heads]; the selected (layer, head), zero-based, is outlined."""
    layer, head = selected
    drawn = heatmap(
        values,
        head_axes(*values.shape),
        hover="layer %{y}, head %{x}<br>" + name + " %{z:.3f}<br>%{customdata}",
        scale=colour_scale(0, 1 if unit_range else max(float(values.max()), 1e-6), name),
        key=f"metric-{values.shape}",
        customdata=patterns.tolist(),
        xgap=2,
        ygap=2,
    ).update_layout(shapes=[outline(head + 0.5, layer + 0.5, 1, 1)])
    return with_columns(drawn, pattern=lambda row: str(patterns[row[0] - 1, row[1] - 1]))


def sources_heatmap(shares: np.ndarray, tokens: Sequence[str]) -> go.Figure:
    """Where one token's information comes from after each layer: shares [layers, tokens], rows sum to 1."""
    top = float(scale_end(shares.max(initial=0), len(tokens)))
    after = number_axis("after layer", len(shares))
    axes = Axes(token_labels(tokens), np.arange(1, len(shares) + 1), token_axis("input token"), after, "x", ("token", "layer"))
    drawn = heatmap(
        np.sqrt(shares / top),
        axes,
        hover="after layer %{y}<br>%{x}: share %{customdata:.4f}",
        scale=colour_scale(0, 1, "share", **root_ticks(top)),
        key=f"sources-{shares.shape}",
        customdata=shares.astype(np.float32),
    )
    return keep(drawn, lambda: matrix(shares, *axes.sides(shares.shape), "share"))
