"""Bars, lines and points as SVG for print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.core.errors import InputError
from explorer.ui.pictures.base import POSITIVE
from explorer.ui.pictures.numbers import as_typed
from explorer.ui.pictures.svg_axes import LABEL, MARGIN, NOT_DRAWN, Area, Chart, names_across, titles
from explorer.ui.pictures.svg_marks import FONT, INK, LINE, array, mark, painted, ticks, wide, words


def plot(chart: Chart, width: float) -> tuple[float, list[str]]:
    """The height, and the marks."""
    if any(_lies(trace) for trace in chart.traces) or _is_log(chart):
        raise InputError(NOT_DRAWN)
    names = _categories(chart)
    low, top = _range(chart)
    legend = [trace for trace in chart.traces if trace.get("name") and len(chart.traces) > 1]
    across = [] if names is None else names
    turned = bool(across) and max(map(wide, across)) + 4 > (width - LABEL) / len(across)
    below = 6 + (min(LABEL, max(map(wide, across))) if turned else FONT) + FONT + 6
    left = MARGIN + FONT + 8 + max(wide(f"{value:g}") for value in ticks(low, top))
    inner = width - left - 2 * MARGIN
    entries, lines_of_legend = _legend(legend, left, inner)
    area = Area(left, MARGIN + 4 + lines_of_legend * (FONT + 4), inner, min(0.5 * width, 260))
    across_low, across_top = (-0.5, len(across) - 0.5) if names is not None else _across(chart)

    def place(x: float, y: float) -> tuple[float, float]:
        span = (across_top - across_low) or 1
        return area.left + area.width * (x - across_low) / span, area.top + area.height * (1 - (y - low) / ((top - low) or 1))

    lines = [_grid(area, place(across_low, value)[1], f"{value:g}", value == 0) for value in ticks(low, top)]
    numbers = [] if names is not None else ticks(across_low, across_top)
    below_it = [words(f"{x:g}", place(x, low)[0], area.top + area.height + FONT + 3, "middle") for x in numbers]
    bars = [trace for trace in chart.traces if trace.get("type") == "bar"]
    data = [
        _bars(trace, (bars.index(trace), len(bars)), names, place) if trace in bars else _line(trace, names, place)
        for trace in chart.traces
    ]
    named = names_across(across, area, turned) if across else below_it
    return area.top + area.height + below + MARGIN, [*lines, *data, *named, *titles(chart, area, below), *entries]


def _lies(trace: Mapping[str, Any]) -> bool:
    """Whether its values are drawn from left to right."""
    return trace.get("orientation") == "h" or array(trace["y"]).dtype.kind not in "fiu"


def _is_log(chart: Chart) -> bool:
    return any(chart.layout.get(axis, {}).get("type") == "log" for axis in ("xaxis", "yaxis"))


def _categories(chart: Chart) -> list[Any] | None:
    """The names along x in the order of the figure, None for numbers."""
    seen = [one for trace in chart.traces for one in (array(trace["x"]).tolist() if trace.get("x") is not None else [])]
    return list(dict.fromkeys(map(str, seen))) if seen and isinstance(seen[0], str) else None


def _across(chart: Chart) -> tuple[float, float]:
    values = np.concatenate([_numbers(trace, None)[0] for trace in chart.traces])
    return float(values.min()), float(values.max())


def _range(chart: Chart) -> tuple[float, float]:
    """The lowest and highest number drawn, with 0 where there are bars, and some room."""
    ends = [array(trace["y"]).astype(float) for trace in chart.traces]
    errors = [array((trace.get("error_y") or {}).get("array", [0])).astype(float).max(initial=0) for trace in chart.traces]
    low = min(float(np.nanmin(one)) - error for one, error in zip(ends, errors, strict=True))
    top = max(float(np.nanmax(one)) + error for one, error in zip(ends, errors, strict=True))
    if any(trace.get("type") == "bar" for trace in chart.traces):
        low, top = min(low, 0.0), max(top, 0.0)
    room = 0.04 * ((top - low) or 1)
    return low - (room if low else 0), top + (room if top else 0)


def _numbers(trace: Mapping[str, Any], names: Sequence[str] | None) -> tuple[np.ndarray, np.ndarray]:
    y = array(trace["y"]).astype(float)
    if trace.get("x") is None:
        return np.arange(len(y), dtype=float), y
    x = array(trace["x"]).tolist()
    return np.array([names.index(str(one)) if names is not None else float(one) for one in x], dtype=float), y


def _grid(area: Area, y: float, name: str, strong: bool) -> str:
    line = mark("line", x1=area.left, x2=area.left + area.width, y1=y, y2=y, stroke=INK if strong else LINE, stroke_width=0.5)
    return line + words(name, area.left - 3, y + 0.36 * FONT, "end")


def _colour(trace: Mapping[str, Any], place: int = 0) -> str:
    given = (trace.get("marker") or {}).get("color") or (trace.get("line") or {}).get("color") or POSITIVE
    return given if isinstance(given, str) else str(np.ravel(np.asarray(given, dtype=object))[place])


def _bars(trace: Mapping[str, Any], which: tuple[int, int], names: Sequence[str] | None, place: Any) -> str:
    (number, of), (x, y) = which, _numbers(trace, names)
    made = []
    for at, (centre, value) in enumerate(zip(x, y, strict=True)):
        if np.isfinite(value):
            (left, one), (right, zero) = (
                place(centre - 0.4 + 0.8 * number / of, value),
                place(centre - 0.4 + 0.8 * (number + 1) / of, 0),
            )
            made.append(
                mark("rect", x=left, y=min(one, zero), width=right - left, height=abs(one - zero), **painted(_colour(trace, at)))
            )
    return "".join(made) + _errors(trace, x, y, place)


def _line(trace: Mapping[str, Any], names: Sequence[str] | None, place: Any) -> str:
    (x, y), mode = _numbers(trace, names), trace.get("mode", "lines")
    points = [place(*one) for one in zip(x, y, strict=True) if np.isfinite(one).all()]
    path = " ".join(f"{left:.2f},{top:.2f}" for left, top in points)
    line = (
        mark("polyline", points=path, fill="none", stroke_width=1, **painted(_colour(trace), "stroke")) if "lines" in mode else ""
    )
    dots = [mark("circle", cx=left, cy=top, r=1.6, **painted(_colour(trace, at))) for at, (left, top) in enumerate(points)]
    return line + ("".join(dots) if "markers" in mode else "") + _errors(trace, x, y, place)


def _errors(trace: Mapping[str, Any], x: np.ndarray, y: np.ndarray, place: Any) -> str:
    error = trace.get("error_y") or {}
    if error.get("array") is None:
        return ""
    up = array(error["array"]).astype(float)
    down = array(error["arrayminus"]).astype(float) if error.get("arrayminus") is not None else up
    ends = [(place(at, value - less), place(at, value + more)) for at, value, less, more in zip(x, y, down, up, strict=True)]
    return "".join(mark("line", x1=one[0], y1=one[1], x2=two[0], y2=two[1], stroke=INK, stroke_width=0.8) for one, two in ends)


def _legend(traces: Sequence[Mapping[str, Any]], left: float, room: float) -> tuple[list[str], int]:
    """The marks, in lines as wide as there is room, and how many lines."""
    at, line, found = left, 0, []
    for trace in traces:
        name = str(as_typed(trace["name"]))
        if at > left and at + FONT + 3 + wide(name) > left + room:
            at, line = left, line + 1
        top = MARGIN + line * (FONT + 4)
        found += [
            mark("rect", x=at, y=top, width=FONT, height=FONT, **painted(_colour(trace))),
            words(name, at + FONT + 3, top + 0.86 * FONT),
        ]
        at += FONT + 12 + wide(name)
    return found, line + 1 if traces else 0
