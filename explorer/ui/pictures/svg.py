"""Charts as SVG for print, without a browser: heatmaps, bars, lines and points, each with its scale, drawn by matplotlib."""

from __future__ import annotations

import functools
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from explorer.core.errors import InputError
from explorer.core.lazy import Library
from explorer.core.paths import ASSETS
from explorer.ui.pictures.alternatives import array_of
from explorer.ui.pictures.base import NEGATIVE, POSITIVE, shorten
from explorer.ui.pictures.numbers import as_typed

if TYPE_CHECKING:
    import matplotlib
    from matplotlib.axes import Axes
else:
    matplotlib = Library("matplotlib")  # slow to import

INCH = 25.4  # mm
NARROWEST, WIDEST = 40, 1000  # mm
PLOTTED = {"bar", "scatter", "scattergl"}
MOST_SHAPES = 64  # rows and columns of cells that are shapes; larger matrices are an image
LONGEST = 18  # letters of a name along an axis
LABEL, LETTER = 3.2, 1.2  # mm: the height of a line of labels, and the width of a letter
MIDDLE, END = (0.62, 0.25, 252.0), (0.19, 0.06, 268.0)  # of the page's light ramp, as lightness, chroma and hue of OKLab
NOT_DRAWN = "Python does not draw this kind of chart; open the view in the page, whose ⤓ saves its picture."
LOOK: dict[Any, Any] = {
    "font.size": 6,  # points, the least that journals print
    "font.family": "sans-serif",
    "text.parse_math": False,  # what a person typed may hold dollar signs
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "bert-explorer",  # the same picture is the same file
    "axes.linewidth": 0.5,
    "lines.linewidth": 0.8,
    "lines.markersize": 2.5,
}


def drawn(figure: Any, width: float, title: str = "", made: Mapping[str, Any] | None = None) -> str:
    """A figure as the text of an SVG, `width` millimetres wide, with `made` (how it was made) as its description.

    Raises InputError for a width outside 40 to 1000, and for charts other than one heatmap, bars, lines or points.
    """
    if not NARROWEST <= width <= WIDEST:
        raise InputError(
            f"The width is in millimetres, from {NARROWEST} to {WIDEST}; a column of a journal has 85, two have 175."
        )
    value = go.Figure(figure).to_dict()
    traces, layout = value["data"], value["layout"]
    kinds = {trace.get("type", "scatter") for trace in traces}
    is_matrix = kinds == {"heatmap"} and len(traces) == 1
    several = any(name in layout for name in ("xaxis2", "yaxis2", "scene"))
    if several or not kinds or not (is_matrix or (kinds <= PLOTTED and not any(_is_turned(trace, layout) for trace in traces))):
        raise InputError(NOT_DRAWN)
    about = {"Title": title, "Description": json.dumps(dict(made or {})), "Date": None}
    with matplotlib.rc_context(LOOK):
        rows, columns = array_of(traces[0]["z"]).shape if is_matrix else (1, 2)
        height = width * float(np.clip(rows / columns, 0.4, 1.3))
        paper = matplotlib.figure.Figure((width / INCH, height / INCH), layout="constrained")
        axes = paper.add_subplot(xlabel=_title_of(layout, "xaxis"), ylabel=_title_of(layout, "yaxis"))
        (_draw_heatmap if is_matrix else _draw_plot)(axes, traces, layout, (width, height))
        text = io.StringIO()
        paper.savefig(text, format="svg", metadata=about)
    return text.getvalue()


def _is_turned(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> bool:
    """Whether its values run from left to right, or on a logarithmic scale."""
    logarithmic = any(layout.get(axis, {}).get("type") == "log" for axis in ("xaxis", "yaxis"))
    return logarithmic or trace.get("orientation") == "h" or array_of(trace["y"]).dtype.kind not in "fiu"


def _title_of(layout: Mapping[str, Any], axis: str) -> str:
    return str(as_typed((layout.get(axis, {}).get("title") or {}).get("text") or "")).replace("<br>", " ")


def _draw_heatmap(axes: Axes, traces: Sequence[Any], layout: Mapping[str, Any], size: tuple[float, float]) -> None:
    (trace,), scale = traces, layout.get("coloraxis", {})
    z = array_of(trace["z"]).astype(float)
    tones = _ramp() if layout.get("meta", {}).get("ramp") == "sequential" else [colour_of(NEGATIVE), "#fff", colour_of(POSITIVE)]
    colours = matplotlib.colors.LinearSegmentedColormap.from_list("page", tones)
    ends = {"vmin": scale.get("cmin"), "vmax": scale.get("cmax")}
    cells: Any
    if max(z.shape) > MOST_SHAPES:
        cells = axes.imshow(z, cmap=colours, aspect="auto", interpolation="none", **ends)
    else:
        cells = axes.pcolormesh(np.arange(z.shape[1]), np.arange(z.shape[0]), z, cmap=colours, **ends)
    _name_ticks(axes.xaxis, trace.get("x"), z.shape[1], size[0])
    _name_ticks(axes.yaxis, trace.get("y"), z.shape[0], size[1])
    if (layout.get("yaxis", {}).get("autorange") == "reversed") != axes.yaxis_inverted():
        axes.invert_yaxis()
    bar = scale.get("colorbar") or {}
    drawn_bar = axes.figure.colorbar(cells, ax=axes, label=str(as_typed((bar.get("title") or {}).get("text") or "")))
    drawn_bar.outline.set_visible(False)
    if bar.get("tickvals") is not None:
        drawn_bar.set_ticks(array_of(bar["tickvals"]).tolist(), labels=[str(as_typed(text)) for text in bar["ticktext"]])
    elif str(bar.get("tickformat", "")).endswith("%"):
        drawn_bar.ax.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))


def _name_ticks(axis: Any, given: Any, count: int, room: float) -> None:
    """Name as many of the places along an axis as there is room for, in mm; names of columns are turned if they are long."""
    labels = range(count) if given is None else array_of(given).tolist()
    names = [shorten(str(as_typed(label)), LONGEST) if isinstance(label, str) else f"{label:g}" for label in labels]
    step = next(ten * of for ten in (1, 10, 100, 1000) for of in (1, 2, 5) if ten * of >= count * LABEL / room)
    turned = axis.axis_name == "x" and LETTER * (max(map(len, names)) + 1) * count / step > 0.7 * room
    axis.set_ticks(range(0, count, step), labels=names[::step], rotation=90 if turned else 0)
    axis.set_tick_params(length=0)


def _draw_plot(axes: Axes, traces: Sequence[Any], layout: Mapping[str, Any], size: tuple[float, float]) -> None:
    listed = [place for trace in traces if trace.get("x") is not None for place in array_of(trace["x"]).tolist()]
    names = list(dict.fromkeys(listed)) if listed and isinstance(listed[0], str) else []
    bars = [trace for trace in traces if trace.get("type") == "bar"]
    for trace in traces:
        y = array_of(trace["y"]).astype(float)
        x = np.arange(len(y)) if trace.get("x") is None else array_of(trace["x"])
        places = np.array([names.index(place) for place in x]) if names else x.astype(float)
        label = str(as_typed(trace.get("name") or "")) or None
        colours = _colours(trace)
        if trace in bars:
            wide = 0.8 / len(bars)
            places = places + wide * (bars.index(trace) + 0.5) - 0.4
            axes.bar(places, y, wide, color=colours, label=label)
        else:
            mode, dash = trace.get("mode", "lines"), (trace.get("line") or {}).get("dash", "solid")
            if "lines" in mode:
                axes.plot(places, y, {"dash": "--", "dot": ":"}.get(dash, "-"), color=colours[0], label=label)
            if "markers" in mode:
                axes.scatter(places, y, 4, color=colours, label=None if "lines" in mode else label)
        errors = trace.get("error_y") or {}
        if errors.get("array") is not None:
            up = array_of(errors["array"])
            down = up if errors.get("arrayminus") is None else array_of(errors["arrayminus"])
            axes.errorbar(places, y, (down, up), fmt="none", ecolor="#1a202c", elinewidth=0.6)
    if names:
        _name_ticks(axes.xaxis, names, len(names), size[0])
    if len(traces) > 1 and any(trace.get("name") for trace in traces):
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    axes.grid(axis="y", linewidth=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _colours(trace: Mapping[str, Any]) -> list[Any]:
    """Its colour, or one for each of its bars or points."""
    given = (trace.get("marker") or {}).get("color") or (trace.get("line") or {}).get("color") or POSITIVE
    return [colour_of(colour) for colour in ([given] if isinstance(given, str) else array_of(given).tolist())]


def colour_of(name: object) -> Any:
    """A colour of a figure as matplotlib takes it; names of the page become what they are in the light."""
    colour = re.sub(r"^var\((--[\w-]+)\)$", lambda found: _page_colours().get(found[1], "#1a202c"), str(name))
    if not (found := re.match(r"rgba?\(([^)]+)\)", colour)):
        return colour
    red, green, blue, *opacity = map(float, found[1].split(","))
    return (red / 255, green / 255, blue / 255, *opacity)


@functools.cache
def _page_colours() -> dict[str, str]:
    found: dict[str, str] = {}
    for place in ("components/common.css", "file/page.css"):
        for name, value in re.findall(r"(?<![\w-])(--[\w-]+):\s*([^;]+);", (ASSETS / place).read_text("utf-8")):
            found.setdefault(name, value.strip())
    return found


@functools.cache
def _ramp() -> np.ndarray:
    """The page's ramp from white to dark blue, [256, 3] from 0 to 1: a curve through OKLab, evenly spaced by its length."""
    t = np.linspace(0, 1, 1025)[:, None]
    start, middle, end = np.array([1.0, 0, 0]), _polar(*MIDDLE), _polar(*END)
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    lab = curve[np.searchsorted(along, np.linspace(0, along[-1], 256))]
    # OKLab as sRGB (Ottosson 2020).
    cones = lab @ np.array(
        [[1, 1, 1], [0.3963377774, -0.1055613458, -0.0894841775], [0.2158037573, -0.0638541728, -1.2914855480]]
    )
    to_rgb = [[4.0767416621, -1.2684380046, -0.0041960863], [-3.3077115913, 2.6097574011, -0.7034186147]]
    linear = np.clip(cones**3 @ np.array([*to_rgb, [0.2309699292, -0.3413193965, 1.7076147010]]), 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _polar(lightness: float, chroma: float, hue: float) -> np.ndarray:
    return np.array([lightness, chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))])
