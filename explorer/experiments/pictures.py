"""Pictures of experiments and test suites: means of all places, intervals, what else was measured, and shares of pairs."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.experiments.compute.concepts import DOSE
from explorer.experiments.compute.edges import RECEIVERS, SENDERS
from explorer.experiments.compute.estimating import EXACT
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.minimal_pairs import Share
from explorer.experiments.compute.question import HEADS, LAYERS, STATES, Axis
from explorer.experiments.compute.summary import LEVEL
from explorer.ui.pictures.base import AMOUNT, CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.heatmaps import Axes, colour_scale, head_axes, heatmap, outline_cell
from explorer.ui.pictures.numbers import Table, columns_of, keep

MARK = "•"
PROBES = "probe before", "probe after"
NAMED, WIDE_NAMED = 0.12, 0.35  # of the largest share: from here on a point has its name, as names would lie on each other
CHANCE = 0.5
LABEL = 32  # characters of a line of a label
SHARES = {"range": [0, 1.02], "tickformat": ".0%", "dtick": 0.25}
LINE = {
    **{"type": "line", "x0": CHANCE, "x1": CHANCE, "y0": 0, "y1": 1, "yref": "paper"},
    "line": {"color": FAINT, "width": 1.5, "dash": "dot"},
}


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its interval, NaN for none, and its q value.

    The `chosen` one is larger, and one with q below LEVEL has a dot beside its name. One that others are judged by is `faint`.
    """

    label: str
    mean: float
    low: float
    high: float
    q: float = 1.0
    chosen: bool = False
    faint: bool = False

    def told(self, form: str = "+.2f") -> str:
        """The mean and its interval, if there is one."""
        mean, low, high = (format(end, form) for end in (self.mean, self.low, self.high))
        return mean if np.isnan(self.low) else f"{mean} ({low} to {high})"


def describe_q(q: float) -> str:
    """A q value, 0 to 1, in words: a permutation test cannot resolve very small ones."""
    return f"q {q:.3f}" if q >= 0.001 else "q below 0.001"


def board(found: Experiment, at: Sequence[int]) -> go.Figure:
    """The means of all places: cells of rows and columns, or points with intervals where there is one direction only.

    A dot marks q below LEVEL. The chosen place `at` (zero-based) is outlined, or marked by a larger point. Blue cells are those
    looked for: below 0 for heads that are switched off, above it elsewhere.
    """
    summary, (_, *columns), unit = found.summary, found.axes, f"mean {found.question.unit}"
    named = {"effects": "effect", "nulls": "null"} | {axis.name: axis.name.replace(" ", "_") for axis in found.axes}
    table = found.table.rename(columns=named)
    if columns:
        drawn = _cells(found, at, unit)
    else:
        places = [(row,) for row in range(len(summary.q))]
        drawn = intervals([Interval(found.name_of(one), *summary.at(one), one == (*at,)) for one in places], unit)
    return keep(drawn, lambda: columns_of(**{name: column.tolist() for name, column in table.items()}))


def _cells(found: Experiment, at: Sequence[int], unit: str) -> go.Figure:
    (rows, columns), asked, shown = found.axes, found.question, shown_places(found)
    effects = found.summary.effects[np.ix_(*shown)]
    each = [[Interval("", *found.summary.at((row, column))) for column in shown[1]] for row in shown[0]]
    notes = [[f"{one.told()}, {describe_q(one.q)}".replace("-", "−") for one in of_row] for of_row in each]
    top = max(float(np.abs(effects).max()), 1e-6)
    scale = colour_scale(0 if asked.is_share else -top, top, unit, signed=not asked.is_share)
    if numbered := columns.name == HEADS.name:
        axes = head_axes(*effects.shape)
    else:
        x, y = (_named_axis(axis, places) for axis, places in ((columns, shown[1]), (rows, shown[0])))
        axes = Axes(None, None, x, {**y, "autorange": "reversed"}, names=(columns.name, rows.name.replace(" ", "_")))
    drawn = heatmap(
        effects,
        axes,
        hover=f"{rows.name} %{{y}}, {'head ' if numbered else ''}%{{x}}<br>%{{customdata}}",
        scale=scale | ({} if asked.is_share else {"reversescale": bool(asked.below)}),
        key=f"experiment-{rows.name}-{columns.name}",
        customdata=notes,
        text=np.where(found.summary.q < LEVEL, MARK, "")[np.ix_(*shown)],
        texttemplate="%{text}",
    )
    cell = [places.tolist().index(place) + numbered for places, place in zip(shown, at, strict=True) if place in places]
    return drawn.update_layout(shapes=outline_cell((cell[0], cell[1]) if len(cell) == 2 else None))


def shown_places(found: Experiment) -> list[np.ndarray]:
    """The rows and the columns of the picture: all, of edges those with one that was patched, too few to get lost."""
    if found.axes[-1].name == RECEIVERS.name:
        return [np.unique(places) for places in np.nonzero(~np.isnan(found.also_means[EXACT]))]
    return [np.arange(length) for length in found.summary.q.shape]


def _named_axis(axis: Axis, places: np.ndarray) -> dict[str, object]:
    """An axis of places by name, and of many numbers about a dozen."""
    ticks = range(0, len(places), max(1, len(places) // 12) if isinstance(axis.labels[0], int) else 1)
    title = axis.name if axis.name in (STATES.name, LAYERS.name, SENDERS.name, RECEIVERS.name) else ""
    return plain_axis(title, 6, automargin=True, tickvals=[*ticks], ticktext=[esc(str(axis.labels[places[at]])) for at in ticks])


def _spread(means: Sequence[float] | np.ndarray, low: Sequence[float] | np.ndarray, high: Sequence[float] | np.ndarray) -> Any:
    """The bars of intervals, none where an end is NaN."""
    ends = np.nan_to_num(np.subtract(high, means)), np.nan_to_num(np.subtract(means, low))
    return {"type": "data", "symmetric": False, "array": ends[0], "arrayminus": ends[1], "thickness": 1.5, "width": 4}


def intervals(rows: Sequence[Interval], unit: str, *, is_share: bool = False) -> go.Figure:
    """Means from left to right, the first at the top, with their intervals and a line at 0, or at CHANCE for shares."""
    places = [len(rows) - 1 - at for at in range(len(rows))]
    low, means, high = ([getattr(row, name) for row in rows] for name in ("low", "mean", "high"))
    said = [row.told(".0%" if is_share else "+.2f") for row in rows]
    points = go.Scatter(
        x=means,
        y=places,
        mode="markers",
        cliponaxis=False,  # a share may be 100%
        marker={"size": [14 if row.chosen else 10 for row in rows], "color": [FAINT if row.faint else AMOUNT for row in rows]},
        error_x=_spread(means, low, high) | {"color": "rgba(128, 128, 128, 0.9)"},
        customdata=[f"{esc(row.label)}: {told}" for row, told in zip(rows, said, strict=True)],
        hovertemplate="%{customdata}<extra></extra>",
    )
    labels = {
        "tickvals": places,
        "ticktext": ["<br>".join(wrap(esc(f"{row.label} {MARK}" if row.q < LEVEL else row.label), LABEL)) for row in rows],
        "range": [-0.6, len(rows) - 0.4],
    }
    edges = [edge for edge in (*low, *means, *high, 0.0) if not np.isnan(edge)]
    room = 0.05 * max(max(edges) - min(edges), 1e-6)
    drawn = figure(
        [points],
        key="experiment-intervals",
        xaxis=plain_axis(
            unit, 6, **(SHARES if is_share else {"zeroline": True, "range": [min(edges) - room, max(edges) + room]})
        ),
        yaxis={**plain_axis(""), **labels, "automargin": True},
        margin={"l": 12, "r": 28, "t": 8, "b": 44},
        shapes=[LINE] if is_share else [],
        meta={"alt": "; ".join(f"{row.label}: {told}" for row, told in zip(rows, said, strict=True)) + "."},
    )
    return keep(drawn, lambda: columns_of(label=[row.label for row in rows], mean=means, low=low, high=high))


def beside(found: Experiment, at: Sequence[int]) -> go.Figure | None:
    """What a run measured beside its means, with one place chosen; None for nothing.

    An estimate and exact patching, a probe before and after, or effect by dose.
    """
    if EXACT in found.also_means:
        return _estimates(found, at)
    if PROBES[0] in found.also_means:
        probes = {name: found.also_means[name][:, at[1]] for name in PROBES}
        return _lines(probes, None, found.axes[0], "share of items", at[0], [-0.04, 1.04])
    if found.axes[-1].name == DOSE.name:
        summary, doses = found.summary, Axis(DOSE.name, found.axes[-1].labels[:-1])  # a swap is no dose
        rows = (summary.low, summary.effects, summary.high, summary.effects if summary.nulls is None else summary.nulls)
        low, effects, high, nulls = (values[at[0], :-1] for values in rows)
        lines = {f"towards the foil, hidden state {at[0]}": effects, "a random direction": nulls}
        return _lines(lines, _spread(effects, low, high), doses, "change of the logit difference", at[1])
    return None


def _estimates(found: Experiment, at: Sequence[int]) -> go.Figure:
    """A point for each place that was estimated and patched; on the line both agree."""
    exact, means = found.also_means[EXACT], found.summary.effects
    places = [tuple(place) for place in np.argwhere(~np.isnan(exact)).tolist()]
    names = [found.short(place) for place in places]
    estimate, patched = ([float(values[place]) for place in places] for values in (means, exact))
    ends = [min(*estimate, *patched), max(*estimate, *patched)]
    apart = (WIDE_NAMED if found.axes[-1].name == RECEIVERS.name else NAMED) * max(np.abs(ends))  # from 0
    points = go.Scatter(
        x=estimate,
        y=patched,
        mode="markers+text",
        text=[esc(name) if abs(share) > apart else "" for name, share in zip(names, patched, strict=True)],
        textposition=["top left" if share > np.mean(ends) else "top center" for share in estimate],  # within the picture
        marker={"size": 9, "color": [AMOUNT if place == tuple(at) else FAINT for place in places]},
        customdata=[esc(name) for name in names],
        hovertemplate="%{customdata}: estimate %{x:.2f}, patched %{y:.2f}<extra></extra>",
        showlegend=False,
    )
    same = go.Scatter(x=ends, y=ends, mode="lines", line={"color": FAINT, "dash": "dot"}, hoverinfo="skip", showlegend=False)
    told = "; ".join(f"{name}: {a:.2f}, {b:.2f}" for name, a, b in zip(names, estimate, patched, strict=True))
    drawn = figure(
        [same, points],
        key="experiment-exact",
        xaxis=grid_axis("share by the estimate"),
        yaxis=grid_axis("share by patching", range=[ends[0] - 0.1 * np.ptp(ends), ends[1] + 0.15 * np.ptp(ends)]),
        margin={"l": 50, "r": 12, "t": 16, "b": 44},
        meta={"alt": f"The estimate of each place, and what patching it brings back. {told}."},
    )
    return keep(drawn, lambda: columns_of(place=names, estimate=estimate, exact=patched))


def _lines(
    lines: Mapping[str, np.ndarray], spread: Any, axis: Axis, unit: str, at: int, ends: list[float] | None = None
) -> go.Figure:
    """Lines along an axis, the first with its intervals; the chosen place is marked."""
    labels, places = [str(label) for label in axis.labels], list(range(len(axis.labels)))
    traces = [
        go.Scatter(
            x=places,
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": FAINT if number else CATEGORIES[0]},
            error_y=None if number else spread,
            hovertemplate="%{y:.2f}<extra>%{fullData.name}</extra>",
        )
        for number, (name, values) in enumerate(lines.items())
    ]
    chosen = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": {"color": FAINT, "width": 1}}
    drawn = figure(
        traces,
        key="experiment-beside",
        xaxis=plain_axis(axis.name, tickvals=places, ticktext=labels),
        yaxis=grid_axis(unit, **({"range": ends} if ends else {})),
        legend=LEGEND,
        showlegend=True,
        margin={"l": 50, "r": 12, "t": 28, "b": 44},
        shapes=[chosen] if at < len(labels) else [],
    )
    columns: dict[str, Any] = {axis.name.replace(" ", "_"): labels, **lines}
    return keep(drawn, lambda: columns_of(**columns))


def suite_shares(shares: Mapping[str, Share], unit: str, shown: str = "") -> go.Figure:
    """The share of each kind of pairs with its interval; that of the `shown` kind is larger."""
    rows = [Interval(kind, share.right, share.low, share.high, chosen=kind == shown) for kind, share in shares.items()]
    drawn = intervals(rows, unit, is_share=True)
    return keep(drawn, lambda: Table.of(("kind", *Share._fields), [[kind, *share] for kind, share in shares.items()]))
