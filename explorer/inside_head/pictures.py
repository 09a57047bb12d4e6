"""Pictures of position vectors."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.alternatives import Names, strongest_cells
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, number_axis
from explorer.ui.pictures.numbers import Places, keep, matrix

HALF = 127  # of a byte, for 0


def position_vectors(vectors: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Signed vectors [positions, hidden], a row each, sent as bytes; the scale ends at ± the 99.5th percentile."""
    top = max(float(np.quantile(np.abs(vectors), 0.995)), 1e-9)
    columns = number_axis("dimension"), np.arange(vectors.shape[1])
    picture = _signed_heatmap(vectors / top, columns, positions, key, "position %{y}, dimension %{x}", (f"{top:.2g}", ""))
    _describe(picture, vectors, lambda row: f"position {positions[row]}", lambda column: f"dimension {column}", "")
    sides = Places.of("position", positions), Places.of("dimension", range(vectors.shape[1]))
    return keep(picture, lambda: matrix(vectors, *sides, "value"))


def position_similarity(cosines: np.ndarray, positions: np.ndarray, key: str) -> go.Figure:
    """Cosines [positions, positions], −1 to 1, between the vectors of positions, sent as bytes."""
    columns = number_axis("position"), positions
    picture = _signed_heatmap(cosines, columns, positions, key, "positions %{y} and %{x}", ("1", "cosine"))
    name = lambda place: f"position {positions[place]}"  # noqa: E731
    _describe(picture, cosines, name, name, "cosine")
    sides = Places.of("position", positions), Places.of("other_position", positions)
    return keep(picture, lambda: matrix(cosines, *sides, "cosine"))


def _describe(picture: go.Figure, values: np.ndarray, rows: Names, columns: Names, unit: str) -> go.Figure:
    """A picture with a text alternative from the exact numbers, since its bytes are too coarse for that."""
    return picture.update_layout(meta={**(picture.layout.meta or {}), "alt": strongest_cells(values, rows, columns, unit)})


def _signed_heatmap(
    shares: np.ndarray,
    columns: tuple[dict[str, object], np.ndarray],
    positions: np.ndarray,
    key: str,
    hover: str,
    bar: tuple[str, str],
) -> go.Figure:
    """Shares [positions, columns], −1 to 1, sent as bytes; `bar` is the number at the end of the colour bar, and its unit."""
    (x_axis, x), (end, unit) = columns, bar
    axes = Axes(x.astype(np.int16), positions.astype(np.int16), x_axis, number_axis("position", autorange="reversed"))
    ticks = {"tickvals": [0, HALF, 2 * HALF], "ticktext": [f"−{end}", "0", end]}
    cells = np.rint(np.clip(shares, -1, 1) * HALF + HALF).astype(np.uint8)
    return heatmap(cells, axes, hover, colour_scale(0, 2 * HALF, unit, signed=True, **ticks), key)
