"""Pictures of a model: its boxes from the input to the heads, its parameters by part, and its weights."""

from __future__ import annotations  # plotly is imported by the first figure, not when the page is built

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.ui.pictures.base import AMOUNT, esc, figure, grid_axis, plain_axis
from explorer.ui.pictures.heatmaps import Axes, colour_scale, heatmap, number_axis, outline_cell
from explorer.ui.pictures.numbers import Table, columns_of, keep


@dataclass(frozen=True)
class Block:
    """One box: its name, size and number of weights, and the tab (with one of its choices) that shows it in detail."""

    name: str
    size: str = ""
    parameters: int = 0
    tab: str = ""
    choice: str = ""


@dataclass(frozen=True)
class Stage:
    """Boxes side by side or, with `times`, below each other and repeated that often."""

    blocks: Sequence[Block]
    times: int = 0
    note: str = ""
    between: str = ""  # what is done after each of the boxes below each other


def architecture(stages: Sequence[Stage]) -> dict[str, Any]:
    """The `architecture` component's value for stages, from the input on."""
    rows = [[block.name, block.size, block.parameters or None, stage.times or 1] for stage in stages for block in stage.blocks]
    shown = {"stages": [{**vars(stage), "blocks": [_box(block) for block in stage.blocks]} for stage in stages]}
    return keep(shown, lambda: Table.of(("part", "size", "parameters", "times"), rows))


def _box(block: Block) -> dict[str, str]:
    weights = f"{block.parameters:,} parameters" if block.parameters else ""
    return {"name": block.name, "size": block.size, "weights": weights, "tab": block.tab, "choice": block.choice}


def parameter_bars(counts: dict[str, int]) -> go.Figure:
    """The number of weights of each part, in the order of the model."""
    total = sum(counts.values())
    bars = go.Bar(
        x=list(counts.values()),
        y=[esc(part) for part in counts],
        orientation="h",
        marker={"color": AMOUNT},
        text=[f"{count:,} ({100 * count / total:.2g}%)" for count in counts.values()],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    parts = {"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6}
    top = max(counts.values())
    ticks = _ticks(top)  # not beyond the longest bar, where its label is written
    amounts = grid_axis("parameters", range=[0, 1.5 * top], tickvals=ticks, tickformat="~s")
    narrow = {"narrow": {"xaxis": {"range": [0, 2.6 * top], "tickvals": ticks[:: len(ticks) - 1]}, "margin": {"r": 64}}}
    picture = figure([bars], key="parameters", xaxis=amounts, yaxis=parts, meta=narrow).update_layout(margin_r=36)
    return keep(picture, lambda: Table.of(("part", "parameters"), [list(item) for item in counts.items()]))


def _ticks(top: float) -> list[float]:
    """Axis ticks from 0 in steps of 1, 2 or 5 times a power of ten: three to six up to the largest number."""
    power = 10.0 ** floor(log10(max(top, 1)))
    step = next(step for step in (power / 5, power / 2, power, 2 * power) if top / step < 6)
    return [step * number for number in range(int(top // step) + 1)]


def weights_heatmap(sizes: np.ndarray, names: Sequence[str], cell: tuple[int, int] | None = None) -> go.Figure:
    """The root mean square of every weight [rows] in every layer [columns], NaN for missing ones; one cell may be outlined."""
    rows = plain_axis("", autorange="reversed", automargin=True, type="category")
    layers = np.arange(1, sizes.shape[1] + 1)
    return heatmap(
        sizes,
        Axes(layers, [esc(name) for name in names], number_axis("layer", len(layers)), rows, names=("", "weight")),
        hover="%{y}, layer %{x}<br>root mean square %{z:.4f}",
        scale=colour_scale(0, float(np.nanmax(sizes)), "root mean square"),
        key=f"weights-{sizes.shape}",
        xgap=2,
        ygap=2,
    ).update_layout(shapes=outline_cell(cell and (cell[0], cell[1] + 1)))


def weight_histogram(middles: np.ndarray, counts: np.ndarray) -> go.Figure:
    """The number of weights around each of the middles, on a logarithmic axis, since it is the tails that differ."""
    bars = go.Bar(x=middles, y=counts, marker={"color": AMOUNT}, hovertemplate="around %{x:.4f}: %{y:,}<extra></extra>")
    picture = figure([bars], key="weight", bargap=0.05, xaxis=grid_axis("value"), yaxis=grid_axis("numbers", type="log", dtick=1))
    return keep(picture, lambda: columns_of(value=middles, numbers=counts))
