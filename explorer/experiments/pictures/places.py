"""What an experiment found: a board of the means of all places, and means with their intervals."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.experiments.compute.question import Axis
from explorer.experiments.compute.summary import Summary
from explorer.ui.pictures.base import AMOUNT, FAINT, esc, figure, plain_axis
from explorer.ui.pictures.heatmaps import Axes, colour_scale, head_axes, heatmap, number_axis, outline_cell
from explorer.ui.pictures.numbers import Table, columns_of, keep

SURE = 0.05  # q values below this are marked
MARK = "•"


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its interval, NaN for none; one that the others are judged by is `faint`.

    The `chosen` one is larger, and one that is `sure` has a dot beside its name.
    """

    label: str
    mean: float
    low: float
    high: float
    faint: bool = False
    chosen: bool = False
    sure: bool = False

    @property
    def told(self) -> str:
        """The mean and its interval, if there is one."""
        return f"{self.mean:+.2f}" if np.isnan(self.low) else f"{self.mean:+.2f} ({self.low:+.2f} to {self.high:+.2f})"


def board(summary: Summary, axes: Sequence[Axis], at: Sequence[int], unit: str, is_share: bool = False) -> go.Figure:
    """The means of all places: cells of rows and columns, or points with intervals where there is one direction only.

    A dot marks q below SURE. The chosen place `at` (zero-based) is outlined, or marked by a larger point. Blue cells are those
    looked for: below 0 for heads that are switched off, above it elsewhere; `is_share` is for values of at least 0.
    """
    return _cells(summary, axes, at, unit, is_share) if len(axes) == 2 else _points(summary, axes[0], at[0], unit)


def _cells(summary: Summary, axes: Sequence[Axis], at: Sequence[int], unit: str, is_share: bool) -> go.Figure:
    effects, (rows, columns) = summary.effects, axes
    top = max(float(np.abs(effects).max()), 1e-6)
    given = (effects, summary.low, summary.high, summary.q)
    notes = [[_note(*cell) for cell in zip(*row, strict=True)] for row in zip(*given, strict=True)]
    scale = colour_scale(0 if is_share else -top, top, f"mean {unit}", signed=not is_share)
    numbered = columns.name == "head"
    sides = head_axes(*effects.shape) if numbered else _role_axes(rows, columns)
    drawn = heatmap(
        effects,
        sides,
        hover=f"{rows.name} %{{y}}, {'head ' if numbered else ''}%{{x}}<br>%{{customdata}}",
        scale=scale | ({} if is_share else {"reversescale": unit.startswith("change")}),
        key=f"experiment-{rows.name}-{columns.name}",
        customdata=notes,
        text=np.where(summary.q < SURE, MARK, ""),
        texttemplate="%{text}",
    )
    drawn.update_layout(shapes=outline_cell((float(rows.labels[at[0]]), at[1] + 1 if numbered else at[1])))
    return keep(drawn, lambda: _table(summary, axes))


def _role_axes(rows: Axis, columns: Axis) -> Axes:
    """Numbers in rows, kinds of tokens in columns."""
    places = np.arange(len(columns.labels))
    named = plain_axis("", tickvals=places, ticktext=[esc(str(label)) for label in columns.labels])
    vertical = number_axis(rows.name, len(rows.labels), autorange="reversed")
    return Axes(places, np.array(rows.labels), named, vertical, names=(columns.name, rows.name.replace(" ", "_")))


def _points(summary: Summary, axis: Axis, at: int, unit: str) -> go.Figure:
    labels = [f"{axis.name} {label}" if isinstance(label, int) else str(label) for label in axis.labels]
    rows = [
        Interval(label, float(mean), float(low), float(high), chosen=place == at, sure=bool(q < SURE))
        for place, (label, mean, low, high, q) in enumerate(
            zip(labels, summary.effects, summary.low, summary.high, summary.q, strict=True)
        )
    ]
    return keep(intervals(rows, f"mean {unit}"), lambda: _table(summary, (axis,)))


def intervals(rows: Sequence[Interval], unit: str) -> go.Figure:
    """Means from left to right, the first at the top, with their intervals and a line at 0."""
    places = [len(rows) - 1 - at for at in range(len(rows))]
    points = go.Scatter(
        x=[row.mean for row in rows],
        y=places,
        mode="markers",
        marker={"size": [14 if row.chosen else 10 for row in rows], "color": [FAINT if row.faint else AMOUNT for row in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [float(np.nan_to_num(row.high - row.mean)) for row in rows],
            "arrayminus": [float(np.nan_to_num(row.mean - row.low)) for row in rows],
            "thickness": 1.5,
            "width": 5,
            "color": "rgba(128, 128, 128, 0.9)",
        },
        customdata=[f"{esc(row.label)}: {row.told}" for row in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )
    labels = {
        "tickvals": places,
        "ticktext": [esc(f"{row.label} {MARK}" if row.sure else row.label) for row in rows],
        "range": [-0.6, len(rows) - 0.4],
    }
    edges = [edge for row in rows for edge in (row.low, row.mean, row.high, 0.0) if not np.isnan(edge)]
    room = 0.05 * max(max(edges) - min(edges), 1e-6)
    drawn = figure(
        [points],
        key="experiment-intervals",
        xaxis=plain_axis(unit, 6, zeroline=True, range=[min(edges) - room, max(edges) + room]),
        yaxis={**plain_axis(""), **labels, "automargin": True},
        margin={"l": 12, "r": 12, "t": 8, "b": 44},
        meta={"alt": "; ".join(f"{row.label}: {row.told}" for row in rows) + "."},
    )
    table = {name: [getattr(row, name) for row in rows] for name in ("label", "mean", "low", "high")}
    return keep(drawn, lambda: columns_of(**table))


def told_q(q: float) -> str:
    """A q value, 0 to 1, in words: a permutation test cannot resolve very small ones."""
    return f"q {q:.3f}" if q >= 0.001 else "q below 0.001"


def _note(effect: Any, low: Any, high: Any, q: Any) -> str:
    return f"{Interval('', effect, low, high).told}, {told_q(q)}".replace("-", "−")


def _table(summary: Summary, axes: Sequence[Axis]) -> Table:
    """A row for each place."""
    indices = np.indices(summary.effects.shape)
    named = {
        axis.name.replace(" ", "_"): [axis.labels[at] for at in places.ravel().tolist()]
        for axis, places in zip(axes, indices, strict=True)
    }
    nulls = {} if summary.nulls is None else {"null": summary.nulls.ravel()}
    return columns_of(
        **named,
        effect=summary.effects.ravel(),
        **{name: getattr(summary, name).ravel() for name in ("low", "high", "p", "q")},
        **nulls,
    )
