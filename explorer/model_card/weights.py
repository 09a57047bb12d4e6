"""The learned weights: their sizes in every layer, and the distribution within one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.bert.explorer import Explorer
from explorer.core.cache import OnceCache
from explorer.model_card.pictures import weight_histogram, weights_heatmap
from explorer.text import limits
from explorer.ui.layout import col, row
from explorer.ui.settings import memory
from explorer.ui.subject import Subject
from explorer.ui.telling import times
from explorer.ui.view import Change, Content, Finding, View, caption, chart, sentence, settle

Cell = tuple[int, int]
_kept: OnceCache[Any, np.ndarray] = OnceCache(16)

UNEVEN = 1.05  # ratio to the smallest; below it, the layers hardly differ
BINS = 61  # odd, so that 0 has its own bin
DEVIATIONS = 5  # standard deviations on both sides of the mean that the bins cover


def _cell(value: object) -> Cell | None:
    """A row and a column of the heatmap, None for any other value."""
    match value:
        case [int(row), int(column)] if min(row, column) >= 0 and bool not in map(type, value):
            return row, column
    return None


class Weights(View):
    """The size of every weight in every layer, and the distribution of the numbers in one."""

    name, question = "model/weights", "How large are the weights of each layer?"
    layout = (row(col("sizes", width=6), col("help", "about", "numbers", width=5)),)
    cell: Cell | None = memory(None, kept=_cell)  # None: the most telling one
    sizes = chart("Size of the weights by layer", height=440)
    help = caption(
        "The root of the mean square of all numbers in a weight, by the names that transformers gives them: the Frobenius norm "
        "divided by the root of the count. Norms begin at 1, matrices and biases near 0. Click a cell for that weight's numbers."
    )
    about = sentence()
    numbers = chart("The numbers in one weight", height=320)

    def compute(self, subject: Subject) -> Content:
        model = subject.model
        names = _names(model)
        sizes = _sizes(model, names)
        chosen = self.cell or next(iter(_most_uneven(model, names)), (0, 0))
        row, column = min(chosen[0], len(names) - 1), min(chosen[1], len(model.layer_weights) - 1)
        weight = model.layer_weights[column].get(names[row])
        place = "every layer" if model.family.shared_layers else f"layer {column + 1}"
        shown = {"sizes": weights_heatmap(sizes, names, (row, column))}
        if weight is None:
            return {**shown, "about": f"{names[row]}, {place}: this layer has no such weight.", "numbers": None}
        found, shape = histogram(weight), " × ".join(f"{size:,}" for size in weight.shape)
        spread = f"from {weight.min():.3g} to {weight.max():.3g}, mean {weight.mean():.2g}".replace("-", "−")
        return {
            **shown,
            "about": f"{names[row]}, {place}: {shape} numbers {spread}, standard deviation {weight.std():.2g}; "
            f"{found.beyond:,} of them lie beyond the picture.",
            "numbers": weight_histogram(found.middles, found.counts),
        }

    def finding(self, subject: Subject) -> Finding | None:
        """The matrix that differs most between layers; the view opens with it."""
        names = _names(subject.model)
        cells, sizes = _most_uneven(subject.model, names), _sizes(subject.model, names)
        if not cells:
            return None
        (most, least), (large, small) = ((cell[1] + 1 for cell in cells), (float(sizes[cell]) for cell in cells))
        return Finding(
            f"Of the matrices, {names[cells[0][0]]} differs most between layers: its numbers are {times(large / small)} as large "
            f"in layer {most} as in layer {least}."
        )

    def on_sizes(self, subject: Subject, index: list[int]) -> Change:
        """Select another weight: [weight, layer], zero-based."""
        return settle(cell=limits.check_cell(index))


def _names(model: Explorer) -> list[str]:
    return list(dict.fromkeys(name for layer in model.layer_weights for name in layer))


def _sizes(model: Explorer, names: list[str]) -> np.ndarray:
    """[weights, layers]: root mean squares, NaN where a layer lacks the weight (cached, as it reads the whole model)."""

    def make() -> np.ndarray:
        layers = model.layer_weights
        return np.array([[root_mean_square(layer[name]) if name in layer else np.nan for layer in layers] for name in names])

    return _kept.get(model.checkpoint, make)


def _most_uneven(model: Explorer, names: list[str]) -> list[Cell]:
    """The largest and the smallest cell of the matrix that differs most between layers; empty if all are about equal."""
    sizes = _sizes(model, names)
    matrices = [
        row for row, name in enumerate(names) if any(layer[name].ndim > 1 for layer in model.layer_weights if name in layer)
    ]
    ratios = [np.nanmax(sizes[row]) / max(np.nanmin(sizes[row]), 1e-12) for row in matrices]
    if max(ratios, default=0) < UNEVEN:
        return []
    row = matrices[int(np.argmax(ratios))]
    return [(row, int(np.nanargmax(sizes[row]))), (row, int(np.nanargmin(sizes[row])))]


@dataclass(frozen=True)
class Histogram:
    middles: np.ndarray
    counts: np.ndarray
    beyond: int  # values outside of all bins


def root_mean_square(weight: np.ndarray) -> float:
    """The root mean square of all numbers: the Frobenius norm divided by the root of their count."""
    flat = weight.ravel()
    return float(np.sqrt(np.dot(flat, flat) / flat.size))


def histogram(weight: np.ndarray) -> Histogram:
    mean, deviation = float(weight.mean()), float(weight.std()) or 1e-12
    low, high = mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation
    counts, edges = np.histogram(weight, BINS, (low, high))
    return Histogram((edges[1:] + edges[:-1]) / 2, counts, int(weight.size - counts.sum()))
