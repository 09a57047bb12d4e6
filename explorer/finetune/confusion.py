"""Confusion of labels: the clicked cell of a run's confusion matrix, and scores by label."""

from typing import Any

import numpy as np

from explorer.analysis import evaluation
from explorer.core.errors import InputError
from explorer.finetune.compute.run import HeldOutLabels, Run
from explorer.finetune.ids import run_id
from explorer.text import limits
from explorer.ui.pictures.numbers import Column, columns_of, keep

Cell = tuple[str, int, int]
"""A cell of a run's confusion matrix: the run's id, the true label and the predicted one."""


def cell_of(value: object) -> Cell | None:
    """A valid cell from a remembered click, or None."""
    if not isinstance(value, list | tuple) or len(value) != 3 or not run_id(value[0]):
        return None
    return tuple(value) if all(type(place) is int for place in value[1:]) else None


def clicked_cell(run: Run, index: object) -> Cell:
    """The clicked cell [true label, predicted label]. Raises InputError."""
    right, said = limits.check_cell(index)
    if run.held_out is None or max(right, said) >= len(run.predictor.labels):
        raise InputError("There is no such cell.")
    return run.id, right, said


def confusion(run: Run) -> np.ndarray:
    """Counts [true label, predicted label] of the held-out examples."""
    held = run.held(HeldOutLabels)
    return evaluation.confusion(held.targets, held.said, len(run.predictor.labels))


def rows_of(run: Run, cell: Cell | None, mistakes: int) -> tuple[np.ndarray, str]:
    """The held-out rows in a cell, or else the most confident mistakes, and a title for them."""
    held, labels = run.held(HeldOutLabels), run.predictor.labels
    if cell is None or cell[0] != run.id:
        return evaluation.confident_mistakes(held.probabilities, held.targets, mistakes), "The surest mistakes"
    _, right, said = cell
    rows = np.flatnonzero((held.targets == right) & (held.said == said))
    return rows, f"{labels[right]}, called {labels[said] if right != said else 'so'}: {len(rows)}"


def scores_by_label(counts: np.ndarray, labels: tuple[str, ...], label: str, counted: str) -> list[list[Any]]:
    """Rows of a label with precision, recall, F1 and support; `label` and `counted` name the outer columns of the export."""
    found = evaluation.class_scores(counts)
    scores: dict[str, np.ndarray] = {"precision": found.precision, "recall": found.recall, "f1": found.f1}
    rows = [[name, *(f"{values[i]:.1%}" for values in scores.values()), int(found.support[i])] for i, name in enumerate(labels)]
    columns: dict[str, Column] = {label: labels, **scores, counted: found.support}
    return keep(rows, lambda: columns_of(**columns))
