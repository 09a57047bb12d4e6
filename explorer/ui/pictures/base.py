"""What all figures share: escaping, axes, colours, and lossless encoding of arrays for the browser."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import base64
import html
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import plotly
import plotly.graph_objects as go

from explorer.ui.pictures.numbers import NO_WIDTH

PLOTLY_JS = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").resolve()
POSITIVE, NEGATIVE, PREDICTION, AMOUNT, FAINT = (
    f"var(--bx-{meaning})" for meaning in ("positive", "negative", "prediction", "amount", "faint")
)
"""What a colour means in every tab; assets/components/common.css defines the colours, light and dark."""
ACCENT = "var(--color-accent)"  # marks what is selected
CATEGORIES = [f"var(--bx-series-{number})" for number in range(1, 9)]  # the last one is grey
GRID = {"gridcolor": "rgba(128,128,128,.2)", "zeroline": False}
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def esc(text: str) -> str:
    """A text escaped so that Plotly shows it literally: it interprets <b>, <i>, <a> and entities in every string."""
    return html.escape(text, quote=False)


def shorten(text: str, most: int) -> str:
    end = max(text.rfind(" ", 2 * most // 3, most), 0) or most - 1  # after a word, where one ends late enough
    return text if len(text) <= most else f"{text[:end]}…"


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence: 'a, b and c'; '' for none."""
    *before, last = names or [""]
    return f"{', '.join(before)} and {last}" if before else last


def figure(traces: Sequence[go.Figure | object], *, key: str = "view", **layout: object) -> go.Figure:
    """A figure in the app's style: small margins, nothing but data.

    Zoom and camera survive an update as long as `key` stays the same.
    """
    return go.Figure(list(traces)).update_layout(template="none", **_look(key)).update_layout(**layout)


def quick_figure(traces: Sequence[dict[str, object]], *, key: str = "view", **layout: object) -> dict[str, object]:
    """Like `figure`, as a plain value, for pictures that are redrawn at every click.

    Plotly's classes validate every name, which takes longer than computing the attention. `go.Figure(value)` is the figure;
    arrays are encoded as Plotly does it, base64 with their type.
    """
    return {"data": [_pack(trace) for trace in traces], "layout": {**_look(key), **layout}}


def _pack(value: object) -> object:
    if isinstance(value, dict):
        return {name: _pack(part) for name, part in value.items() if part is not None}
    if not isinstance(value, np.ndarray):
        return value
    packed = {"dtype": {"float32": "f4", "uint8": "u1"}[value.dtype.name], "bdata": to_base64(value)}
    return packed if value.ndim == 1 else {**packed, "shape": ", ".join(map(str, value.shape))}


def _look(key: str) -> dict[str, object]:
    return {
        "uirevision": key,
        "margin": {"l": 56, "r": 12, "t": 24, "b": 48},
        "font": {"size": 12},
        "uniformtext": {"minsize": 12, "mode": "hide"},  # a text without room on its bar is left out, not shrunk
        "hoverlabel": {"align": "left"},
        "showlegend": False,
    }


def to_base64(array: np.ndarray) -> str:
    """The bytes of an array as base64, in row-major order, little-endian."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def sqrt_bytes(weights: np.ndarray) -> np.ndarray:
    """Weights from 0 to 1 as uint8 on a square-root scale, since attention is sparse. Raises ValueError for other values."""
    weights = np.asarray(weights, dtype=np.float32)
    if not np.isfinite(weights).all() or weights.min(initial=0) < -1e-4 or weights.max(initial=0) > 1 + 1e-4:
        raise ValueError("weights must be numbers from 0 to 1")
    return np.rint(np.sqrt(weights.clip(0, 1)) * 255).astype(np.uint8)


def token_labels(tokens: Sequence[str]) -> list[str]:
    """One category per token for an axis, even for tokens that occur twice.

    Plotly merges equal categories, so repeated tokens get zero-width characters.
    """
    seen: Counter[str] = Counter()
    labels = []
    for token in tokens:
        labels.append(html.escape(token, quote=False) + NO_WIDTH * seen[token])
        seen[token] += 1
    return labels


def token_axis(title: str, **more: object) -> dict[str, object]:
    """An axis of `token_labels`, of which as many are written as there is room for."""
    return {**plain_axis(title, 8), "type": "category", "automargin": True, **more}


def plain_axis(title: str, standoff: int | None = None, **more: object) -> dict[str, object]:
    """An axis without lines; `standoff` is the distance between its title and its labels, in pixels."""
    return {"title": {"text": title, "standoff": standoff}, "showgrid": False, "zeroline": False, **more}


def grid_axis(title: str, **more: object) -> dict[str, object]:
    """An axis of quantities, with faint grid lines."""
    return {"title": {"text": title}, **GRID, **more}


MOST_AT_ONCE = 40  # tokens that a picture shows as a whole


def token_places(tokens: Sequence[int]) -> list[int] | None:
    """The zero-based first token of each row or column, in rising order; None when all are shown."""
    return [int(token) for token in tokens] if len(tokens) > MOST_AT_ONCE else None


def window_over(*, x: Sequence[int] | None = None, y: Sequence[int] | None = None) -> dict[str, object]:
    """For a figure's `meta`: the tokens along its axes; empty for a figure that is drawn as a whole."""
    long = {name: places for name, tokens in (("x", x), ("y", y)) if tokens is not None and (places := token_places(tokens))}
    return {"window": long} if long else {}
