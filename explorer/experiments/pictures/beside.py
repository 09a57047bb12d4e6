"""What else a question measured beside its means: an estimate and exact patching, a probe before and after, effect by dose."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.evaluation import spearman
from explorer.experiments.compute.estimating import EXACT
from explorer.experiments.compute.experiment import Experiment
from explorer.experiments.compute.question import Axis
from explorer.ui.pictures.base import AMOUNT, CATEGORIES, FAINT, LEGEND, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.numbers import columns_of, keep

DOSE, PROBES = "dose", ("probe before", "probe after")
FEWEST = 3  # places, for a rank correlation
NAMED = 0.12  # of the largest share: from here on a point has its name
Named = Callable[[tuple[int, ...]], str]
Lines = Mapping[str, tuple[np.ndarray, np.ndarray | None]]
"""By name: values along an axis, and the ends of their intervals, [2, values], if there are any."""


def beside(found: Experiment, at: Sequence[int], named: Named) -> go.Figure | None:
    """The picture of a run with one place chosen; None if its question measured nothing else. `named` names places."""
    if EXACT in found.also_means:
        return _estimates(found, at, named)
    if PROBES[0] in found.also_means:
        probes: Lines = {name: (found.also_means[name][:, at[1]], None) for name in PROBES}
        return _lines(probes, found.axes[0], "share of items", at[0], (0, 1))
    if found.axes[-1].name == DOSE:
        summary, axis = found.summary, Axis(DOSE, found.axes[-1].labels[:-1])  # a swap is no dose
        rows = (summary.low, summary.high, summary.effects, summary.effects if summary.nulls is None else summary.nulls)
        low, high, effects, nulls = (values[at[0], :-1] for values in rows)
        doses: Lines = {
            f"towards the foil, hidden state {at[0]}": (effects, np.stack([low, high])),
            "a random direction": (nulls, None),
        }
        return _lines(doses, axis, "change of the logit difference", at[1])
    return None


def agreement(found: Experiment) -> str:
    """How well estimates rank places as patching does, in a sentence."""
    patched = ~np.isnan(exact := found.also_means.get(EXACT, np.full(found.summary.effects.shape, np.nan)))
    if patched.sum() < FEWEST or min(np.ptp(means := found.summary.effects[patched]), np.ptp(exact[patched])) == 0:
        return ""
    rank = spearman(means, exact[patched])
    return f" The {patched.sum()} largest estimates were patched too; the rank correlation of both is {rank:.2f} (Spearman)."


def _estimates(found: Experiment, at: Sequence[int], named: Named) -> go.Figure:
    """A point for each place that was estimated and patched; on the line both agree."""
    exact, means = found.also_means[EXACT], found.summary.effects
    places = [tuple(place) for place in np.argwhere(~np.isnan(exact)).tolist()]
    names = [named(place) for place in places]
    estimate, patched = ([float(values[place]) for place in places] for values in (means, exact))
    colours = [AMOUNT if place == tuple(at) else FAINT for place in places]
    ends = [min(*estimate, *patched), max(*estimate, *patched)]
    apart = NAMED * max(np.abs(ends))  # from 0, else names lie on each other
    points = go.Scatter(
        x=estimate,
        y=patched,
        mode="markers+text",
        text=[esc(name) if abs(share) > apart else "" for name, share in zip(names, patched, strict=True)],
        textposition="top center",
        marker={"size": 9, "color": colours},
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


def _lines(lines: Lines, axis: Axis, unit: str, at: int, limits: tuple[float, float] | None = None) -> go.Figure:
    """Lines along an axis; the chosen place is marked."""
    labels, places = [str(label) for label in axis.labels], list(range(len(axis.labels)))
    traces = []
    for number, (name, (values, ends)) in enumerate(lines.items()):
        spread = {} if ends is None else {"array": np.nan_to_num(ends[1] - values), "arrayminus": np.nan_to_num(values - ends[0])}
        traces.append(
            go.Scatter(
                x=places,
                y=values,
                name=name,
                mode="lines+markers",
                line={"color": FAINT if number else CATEGORIES[0]},
                error_y={"type": "data", "symmetric": False, "thickness": 1.5, "width": 4, **spread} if spread else None,
                hovertemplate="%{y:.2f}<extra>%{fullData.name}</extra>",
            )
        )
    told = ". ".join(f"{name}: {', '.join(f'{value:.2f}' for value in values)}" for name, (values, _) in lines.items())
    chosen = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": {"color": FAINT, "width": 1}}
    drawn = figure(
        traces,
        key="experiment-beside",
        xaxis=plain_axis(axis.name, tickvals=places, ticktext=labels),
        yaxis=grid_axis(unit, **({"range": [limits[0] - 0.04, limits[1] + 0.04]} if limits else {})),
        legend=LEGEND,
        showlegend=True,
        margin={"l": 50, "r": 12, "t": 28, "b": 44},
        shapes=[chosen] if at < len(labels) else [],
        meta={"alt": f"{unit} by {axis.name}: {', '.join(labels)}. {told}."},
    )
    columns: dict[str, Any] = {axis.name.replace(" ", "_"): labels, **{name: values for name, (values, _) in lines.items()}}
    return keep(drawn, lambda: columns_of(**columns))
