"""How often the better of two sentences is found more likely, by kind, with intervals, beside what guessing gives."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Mapping, Sequence
from itertools import cycle
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.resampling import Share
from explorer.ui.pictures.base import CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, shorten
from explorer.ui.pictures.numbers import Table, keep

CHANCE = 0.5
LABEL = 16  # characters of a line of a label
NAME = 30  # characters of a model's name in the legend
Shares = Mapping[str, Share]
"""The share of each kind, and under ALL that of all together."""


def suite_bars(sides: Sequence[tuple[str, Shares]], unit: str, shown: str = "") -> go.Figure:
    """A bar a kind and model with its 95% interval; the dotted line is at 50%. Other kinds than the `shown` one are pale."""
    kinds = list(dict.fromkeys(kind for _, shares in sides for kind in shares))
    colours = cycle(CATEGORIES)
    traces = [_bars(esc(shorten(name, NAME)), shares, kinds, next(colours), shown) for name, shares in sides]
    line = {"color": FAINT, "width": 1.5, "dash": "dot"}
    drawn = figure(
        traces,
        key="suite",
        barmode="group",
        bargap=0.35,
        showlegend=len(sides) > 1,
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 8, "r": 12, "t": 28 + 22 * (len(sides) - 1), "b": 46},
        xaxis=grid_axis(unit, range=[0, 1.02], tickformat=".0%", dtick=0.25),
        yaxis={"type": "category", "autorange": "reversed", "automargin": True, "ticklabelstandoff": 6},
        shapes=[{"type": "line", "x0": CHANCE, "x1": CHANCE, "y0": 0, "y1": 1, "yref": "paper", "line": line}],
        meta={"alt": esc(_told(sides, unit))},
    )
    return keep(drawn, lambda: _table(sides))


def _bars(name: str, shares: Shares, kinds: Sequence[str], colour: str, shown: str) -> go.Bar:
    there = [kind for kind in kinds if kind in shares]
    own = [shares[kind] for kind in there]
    return go.Bar(
        x=[share.right for share in own],
        y=["<br>".join(wrap(esc(kind), LABEL)) for kind in there],
        name=name,
        orientation="h",
        marker={"color": colour, "opacity": [0.75 if not shown or kind == shown else 0.3 for kind in there]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [float(np.nan_to_num(share.high - share.right)) for share in own],
            "arrayminus": [float(np.nan_to_num(share.right - share.low)) for share in own],
            "color": "var(--body-text-color)",
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[[share.items, _interval(share)] for share in own],
        hovertemplate="%{y}: %{x:.0%} of %{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>",
    )


def _interval(share: Share) -> str:
    """Its interval in words, or why there is none."""
    return "too few frames for an interval" if np.isnan(share.low) else f"95% interval {share.low:.0%} to {share.high:.0%}"


def _told(sides: Sequence[tuple[str, Shares]], unit: str) -> str:
    """The shares of every model in words."""
    each = [
        f"{name}: " + ", ".join(f"{kind} {share.right:.0%} ({_interval(share)})" for kind, share in shares.items())
        for name, shares in sides
    ]
    return f"{unit}; guessing gives 50%. {'; '.join(each)}."


def _table(sides: Sequence[tuple[str, Shares]]) -> Table:
    rows = [[name, kind, *share] for name, shares in sides for kind, share in shares.items()]
    return Table.of(("model", "kind", *Share._fields), rows)
