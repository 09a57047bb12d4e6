"""Text alternatives of pictures, for people who do not see them: the strongest cells, the ends of lines, the groups of points."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

import base64
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.core.lazy import Library
from explorer.ui.pictures.numbers import NO_WIDTH

plotly_json = Library("plotly.io.json")  # slow to import

MOST = 3  # cells, bars or points named in a text
MOST_LINES = 4
ARROW = " → "  # from a row to a column, where the order matters
Names = Callable[[int], str]


def describe(figure: Any) -> Any:
    """A figure as a plain value or JSON, with its text alternative as `layout.meta.alt`."""
    if isinstance(figure, Mapping):
        layout = figure.get("layout", {})
        return {**figure, "layout": _with_words(layout, alternative(figure))} if "data" in figure else figure
    plain = figure.to_dict()
    return plotly_json.to_json_plotly({**plain, "layout": _with_words(plain.get("layout", {}), alternative(plain))})


def _with_words(layout: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {**layout, "meta": {**(layout.get("meta") or {}), "alt": words}}


def alternative(figure: Mapping[str, Any]) -> str:
    """The text alternative of a figure, in plain sentences: its own `layout.meta.alt` if it has one, else read off its traces."""
    layout, traces = figure.get("layout", {}), figure.get("data", ())
    if said := (layout.get("meta") or {}).get("alt"):
        return html.unescape(said)
    seen = [trace for trace in traces if trace.get("hoverinfo") != "skip"]
    sentences = [_cells(trace, layout) for trace in seen if trace["type"] == "heatmap"]
    sentences += [_bars(trace, layout) for trace in seen if trace["type"] == "bar"]
    drawn = [trace for trace in seen if trace["type"].startswith("scatter")]
    lines = [trace for trace in drawn if "lines" in trace.get("mode", "lines")]
    sentences += [_lines(lines, layout), _points([trace for trace in drawn if "lines" not in trace.get("mode", "lines")])]
    return _plain(" ".join(filter(None, sentences)) or "Nothing is drawn yet.")


def strongest_cells(values: np.ndarray, rows: Names, columns: Names, unit: str, between: str = ", ") -> str:
    """The MOST cells of `values` [rows, columns] furthest from 0, by name; `between` joins a row and a column.

    In a matrix of similarities each pair is named once, and the diagonal not at all. NaN cells are not drawn and not counted.
    """
    values = np.asarray(values, dtype=np.float32)
    told = np.isfinite(values)
    if between != ARROW and _compares(values):
        told &= ~np.tri(len(values), dtype=bool)
    flat = np.where(told, np.abs(values), -1).ravel()
    most = min(MOST, int(told.sum()))
    if not most:
        return "No cell is drawn."
    first = np.argpartition(-flat, most - 1)[:most]
    places = [divmod(int(place), values.shape[1]) for place in first[np.argsort(-flat[first], kind="stable")]]
    named = [f"{rows(row)}{between}{columns(column)} {_number(values[row, column])}" for row, column in places]
    return f"{_strongest(most, int(told.sum()), unit)}: {', '.join(named)}."


def _compares(values: np.ndarray) -> bool:
    """Whether these are similarities of things with each other: symmetric, with ones on the diagonal."""
    square = len(values) > 1 and values.shape[0] == values.shape[1]
    return bool(square and np.allclose(np.diag(values), 1, atol=0.01) and np.allclose(values, values.T, atol=0.01))


def _strongest(most: int, of: int, unit: str) -> str:
    return (f"The strongest {most} of {of:,}" if most < of else f"All {of}") + (f" ({unit})" if unit else "")


def _cells(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    values = array_of(trace["z"])
    if values.ndim != 2 or not values.size:
        return "Nothing is drawn yet."
    scale = layout.get(trace.get("coloraxis", ""), {})
    bar = scale.get("colorbar", {})
    numbers = array_of(trace.get("customdata", ()))
    if numbers.shape == values.shape and numbers.dtype.kind in "fiu":
        values = numbers
    x, y = (layout.get(f"{axis}axis", {}) for axis in "xy")
    between = ARROW if _title(x).startswith("column") else ", "
    names = _names(trace.get("y"), y), _names(trace.get("x"), x)
    return strongest_cells(values, *names, unit=_title(bar), between=between)


def _bars(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    across = trace.get("orientation") == "h"
    named, measured = ("y", "x") if across else ("x", "y")
    values = array_of(trace[measured]).astype(np.float32)
    names = _names(trace.get(named), layout.get(f"{named}axis", {}))
    highest = np.argsort(-np.abs(values), kind="stable")[:MOST]
    unit, name = _title(layout.get(f"{measured}axis", {})), trace.get("name")
    listed = ", ".join(f"{names(int(bar))} {_number(values[bar])}" for bar in highest)
    what = f"{name}: " if name else ""
    return f"{what}{_strongest(len(highest), len(values), unit)}: {listed}." if len(values) else ""


def _lines(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> str:
    told = [trace for trace in traces if len(traces) == 1 or trace.get("name")]
    named = list(filter(None, (_line(trace, layout) for trace in told[:MOST_LINES])))
    more = f", and {len(told) - MOST_LINES} more" if len(told) > MOST_LINES else ""
    axes = dict.fromkeys(f"yaxis{trace.get('yaxis', 'y')[1:]}" for trace in told)
    unit = " and ".join(filter(None, (_title(layout.get(axis, {})) for axis in axes)))
    return f"Lines{f' ({unit})' if unit else ''}: {'; '.join(named)}{more}." if named else ""


def _line(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> str:
    values = array_of(trace.get("y", ())).astype(np.float32)
    if not np.isfinite(values).any():
        return ""
    names = _names(trace.get("x"), layout.get(f"xaxis{trace.get('xaxis', 'x')[1:]}", {}))
    there = np.flatnonzero(np.isfinite(values))
    first, last, top = int(there[0]), int(there[-1]), int(np.nanargmax(values))
    name = trace.get("name") or "the line"
    return (
        f"{name} from {_number(values[first])} to {_number(values[last])}, highest {_number(values[top])} at {names(top)}"
        if first != last
        else f"{name} {_number(values[last])} at {names(last)}"
    )


def _points(traces: Sequence[Mapping[str, Any]]) -> str:
    counts = {trace.get("name") or "": len(array_of(trace.get("x", ()))) for trace in traces}
    groups = [f"{name} {count:,}" for name, count in counts.items() if name]
    total = sum(counts.values())
    more = f" and {len(groups) - 8} more" if len(groups) > 8 else ""
    by_group = f" in {len(groups)} groups: {', '.join(groups[:8])}{more}" if groups else ""
    return f"{total:,} points{by_group}." if total else ""


def _names(given: object, axis: Mapping[str, Any]) -> Names:
    """The names of the places along an axis: a category is its own name, a number gets the title of the axis before it."""
    labels = None if given is None else array_of(given)
    if labels is not None and labels.dtype.kind in "UO":
        return lambda place: str(labels[place])
    what = _title(axis).split(" (")[0].partition(":")[0]
    return lambda place: f"{what} {_number(place if labels is None else labels[place])}".strip()


def _title(of: Mapping[str, Any]) -> str:
    title = of.get("title") or ""
    return (title if isinstance(title, str) else title.get("text")) or ""


def array_of(value: object) -> np.ndarray:
    """An array of a figure, which may be a list or base64."""
    if not isinstance(value, Mapping):
        return np.asarray(value)
    flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
    return flat.reshape([int(size) for size in str(value["shape"]).split(",")]) if "shape" in value else flat


def _number(value: Any) -> str:
    """The number with three significant digits, or in full if it is whole."""
    value = float(value)
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.3g}"


def _plain(text: str) -> str:
    return html.unescape(text.replace("<br>", " ")).replace(NO_WIDTH, "")


def names_of(labels: Iterable[str]) -> Names:
    """The person's texts, escaped, as names of rows or columns in the text alternative of a figure."""
    escaped = [html.escape(label, quote=False) for label in labels]
    return escaped.__getitem__
