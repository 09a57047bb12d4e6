"""Charts as SVG for print, without a browser: heatmaps whose cells are shapes, bars, lines and points, each with its scale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.core.errors import InputError
from explorer.ui.pictures.base import NEGATIVE, POSITIVE
from explorer.ui.pictures.numbers import as_typed
from explorer.ui.pictures.svg_axes import LABEL, MARGIN, NOT_DRAWN, Area, Chart, names_across, names_down, titles
from explorer.ui.pictures.svg_marks import FONT, INK, array, image, mark, plain, sequential, signed, ticks, wide, words
from explorer.ui.pictures.svg_plot import plot

MM = 96 / 25.4  # px
NARROWEST, WIDEST = 40, 1000  # mm
PLOTTED = {"bar", "scatter", "scattergl"}
MOST_SHAPES = 64  # rows and columns of cells that are shapes; larger matrices are an image
BAR = 46.0  # px: the colour bar with its numbers


def drawn(figure: Any, width: float, title: str = "", made: Mapping[str, Any] | None = None) -> str:
    """A figure as the text of an SVG, `width` millimetres wide, with `made` (how it was made) as its metadata.

    Raises InputError for a width outside 40 to 1000, and for charts other than one heatmap, bars, lines or points.
    """
    if not NARROWEST <= width <= WIDEST:
        raise InputError(
            f"The width is in millimetres, from {NARROWEST} to {WIDEST}; a column of a journal has 85, two have 175."
        )
    value = go.Figure(figure).to_dict()
    chart = Chart(value["data"], value["layout"])
    kinds = {trace.get("type", "scatter") for trace in chart.traces}
    several = any(name in chart.layout for name in ("xaxis2", "yaxis2", "scene"))
    matrix = kinds == {"heatmap"} and len(chart.traces) == 1
    if several or not kinds or not (matrix or kinds <= PLOTTED):
        raise InputError(NOT_DRAWN)
    height, marks = (_heatmap if matrix else plot)(chart, width * MM)
    about = [mark("title", plain(title)) if title else "", mark("metadata", plain(json.dumps(dict(made)))) if made else ""]
    paper = mark("rect", width=width * MM, height=height, fill="#fff")
    return mark(
        "svg",
        "".join([*about, paper, *marks]),
        xmlns="http://www.w3.org/2000/svg",
        width=f"{width:g}mm",
        height=f"{height / MM:.2f}mm",
        viewBox=f"0 0 {width * MM:.2f} {height:.2f}",
        role="img",
        fill=INK,
        font_size=FONT,
        font_family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
    )


def _labels(given: Any, count: int) -> list[str]:
    places = range(count) if given is None else array(given).tolist()
    return [str(as_typed(one)) if isinstance(one, str) else f"{one:g}" for one in places]


def _heatmap(chart: Chart, width: float) -> tuple[float, list[str]]:
    """The height, and the marks."""
    (trace,) = chart.traces
    z = array(trace["z"]).astype(float)
    (rows, columns), axis = z.shape, chart.layout.get("coloraxis", {})
    across, down = _labels(trace.get("x"), columns), _labels(trace.get("y"), rows)
    left = MARGIN + FONT + 6 + min(LABEL, max(map(wide, down)))
    inner = width - left - BAR - MARGIN
    turned = max(map(wide, across)) + 4 > inner / min(columns, 24)
    below = 6 + (min(LABEL, max(map(wide, across))) if turned else FONT) + FONT + 6
    high = float(np.clip(inner / columns * rows, 0.4 * inner, 1.3 * inner))
    area = Area(left, MARGIN + 2, inner, high)
    from_top = chart.layout.get("yaxis", {}).get("autorange") == "reversed"
    z, down = (z, down) if from_top else (z[::-1], down[::-1])
    low, top = float(axis.get("cmin", np.nanmin(z))), float(axis.get("cmax", np.nanmax(z)))
    levels = np.clip((z - low) / ((top - low) or 1), 0, 1)
    colours = sequential() if chart.layout.get("meta", {}).get("ramp") == "sequential" else signed(NEGATIVE, POSITIVE)
    names = names_across(across, area, turned) + names_down(down, area)
    scale = _colour_bar(axis, colours, Area(left + inner + 6, area.top, 7, high), (low, top))
    return area.top + high + below + MARGIN, [*_cells(levels, colours, area), *names, *scale, *titles(chart, area, below)]


def _cells(levels: np.ndarray, colours: np.ndarray, area: Area) -> list[str]:
    rows, columns = levels.shape
    known = np.isfinite(levels)
    tones = colours[np.rint(255 * np.where(known, levels, 0)).astype(int)]  # [rows, columns, 3]
    if max(rows, columns) > MOST_SHAPES:
        tones[~known] = 255
        where: dict[str, Any] = {"x": area.left, "y": area.top, "width": area.width, "height": area.height}
        return [mark("image", href=image(tones), preserveAspectRatio="none", style="image-rendering:pixelated", **where)]
    wide_, high = area.width / columns, area.height / rows
    places = ((row, column) for row in range(rows) for column in range(columns) if known[row, column])
    cells = [
        mark(
            "rect",
            x=area.left + column * wide_,
            y=area.top + row * high,
            width=wide_ + 0.1,  # no seam between neighbours
            height=high + 0.1,
            fill="#{:02x}{:02x}{:02x}".format(*tones[row, column]),
        )
        for row, column in places
    ]
    return [mark("g", "".join(cells))] if cells else []


def _colour_bar(axis: Mapping[str, Any], colours: np.ndarray, area: Area, ends: tuple[float, float]) -> list[str]:
    bar, (low, top) = axis.get("colorbar") or {}, ends
    values = array(bar["tickvals"]).tolist() if bar.get("tickvals") is not None else ticks(low, top)
    percent = str(bar.get("tickformat", "")).endswith("%")
    names = bar.get("ticktext") or [f"{100 * value:.3g}%" if percent else f"{value:.3g}" for value in values]
    step = area.height / 64
    tones = [colours[round(255 * (1 - place / 63))] for place in range(64)]
    strip = [
        mark(
            "rect",
            x=area.left,
            y=area.top + place * step,
            width=area.width,
            height=step + 0.1,
            fill="#{:02x}{:02x}{:02x}".format(*tone),
        )
        for place, tone in enumerate(tones)
    ]
    edge = area.left + area.width + 2
    span = (top - low) or 1
    numbers = [
        words(str(as_typed(name)), edge, area.top + area.height * (1 - (value - low) / span) + 0.36 * FONT)
        for value, name in zip(values, names, strict=True)
    ]
    title = str(as_typed((bar.get("title") or {}).get("text", "")))
    return [mark("g", "".join(strip)), *numbers, words(title, edge + 28, area.top + area.height / 2, "middle", True, area.height)]
