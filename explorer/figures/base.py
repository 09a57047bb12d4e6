"""What all figures share: escaping, axes, one look, and arrays as text that a browser reads without a loss."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import base64
import html
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import plotly
import plotly.graph_objects as go

from explorer.figures.numbers import NO_WIDTH

PLOTLY_JS = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").resolve()
POSITIVE, NEGATIVE, PREDICTION, AMOUNT, FAINT = (
    f"var(--bx-{meaning})" for meaning in ("positive", "negative", "prediction", "amount", "faint")
)
"""What a colour means in every tab; the style sheet, assets/components/common.css, says which it is, in light and in dark."""
ACCENT = "var(--color-accent)"  # what is selected
CATEGORIES = [f"var(--bx-series-{number})" for number in range(1, 9)]  # the last one is grey
GRID = {"gridcolor": "rgba(128,128,128,.2)", "zeroline": False}
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def esc(text: str) -> str:
    """A text as Plotly shows it letter by letter: Plotly reads <b>, <i>, <a> and entities in every string."""
    return html.escape(text, quote=False)


def shorten(text: str, most: int) -> str:
    """The text in at most so many characters, the last one then an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def figure(traces: Sequence[go.Figure | object], *, key: str = "view", **layout: object) -> go.Figure:
    """A figure in the look of the app: small margins, nothing but data.

    While `key` stays the same, zoom and camera survive an update.
    """
    return go.Figure(list(traces)).update_layout(template="none", **_look(key)).update_layout(**layout)


def quick_figure(traces: Sequence[dict[str, object]], *, key: str = "view", **layout: object) -> dict[str, object]:
    """The same as a plain value, for pictures that are drawn while somebody clicks through heads.

    Plotly's own classes check every name, which takes longer than the attention they show. `go.Figure(value)` is the
    figure; arrays travel as Plotly writes them, base64 with their type.
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
        "uniformtext": {"minsize": 12, "mode": "hide"},  # what has no room on a bar is left out rather than shrunk
        "hoverlabel": {"align": "left"},
        "showlegend": False,
    }


def to_base64(array: np.ndarray) -> str:
    """The bytes of an array, row by row, lowest byte first."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def sqrt_bytes(weights: np.ndarray) -> np.ndarray:
    """Weights from 0 to 1 as uint8 on a square-root scale, since attention is sparse; ValueError for anything else."""
    weights = np.asarray(weights, dtype=np.float32)
    if not np.isfinite(weights).all() or weights.min(initial=0) < -1e-4 or weights.max(initial=0) > 1 + 1e-4:
        raise ValueError("weights must be numbers from 0 to 1")
    return np.rint(np.sqrt(weights.clip(0, 1)) * 255).astype(np.uint8)


def token_labels(tokens: Sequence[str]) -> list[str]:
    """One category a token for an axis: a word that occurs twice has two places.

    Plotly merges equal categories, so that a repeated token gets characters of no width.
    """
    seen: Counter[str] = Counter()
    labels = []
    for token in tokens:
        labels.append(esc(token) + NO_WIDTH * seen[token])
        seen[token] += 1
    return labels


def token_axis(title: str, **more: object) -> dict[str, object]:
    """An axis of `token_labels`: as many of them are written as there is room for."""
    return {**plain_axis(title, 8), "type": "category", "automargin": True, **more}


def plain_axis(title: str, standoff: int | None = None, **more: object) -> dict[str, object]:
    """An axis without any lines; `standoff` is what lies between its title and its labels, in pixels."""
    return {"title": {"text": title, "standoff": standoff}, "showgrid": False, "zeroline": False, **more}


def grid_axis(title: str, **more: object) -> dict[str, object]:
    """An axis of quantities, with faint lines to read them by."""
    return {"title": {"text": title}, **GRID, **more}
