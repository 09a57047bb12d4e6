"""Rows of names, numbers, bars and vectors drawn as strips."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from explorer.figures.base import to_base64

Kind = Literal["name", "text", "number", "bar", "strip"]


@dataclass(frozen=True)
class Column:
    """One column: what stands in it, and for strips and bars the value at which the colour or the bar is full.

    A strip without `top` is on its own scale.
    """

    title: str
    kind: Kind
    top: float | None = None


@dataclass(frozen=True)
class Row:
    """One row: a cell for each column, None for an empty one. A `token`, any number, makes its name a button.

    Cells: a text for "name", "text" and "number"; a number from 0 to the column's top for "bar"; a vector for "strip".
    """

    cells: Sequence[Any]
    token: int | None = None
    strong: bool = False
    marked: tuple[int, int] | None = None  # [start, end) of its strips: what is outlined


def strip_table(columns: Sequence[Column], rows: Sequence[Row], label: str = "") -> dict[str, Any]:
    """The value for rows whose cells fit the columns; `label` says what the table is."""
    for row in rows:
        if len(row.cells) != len(columns):
            raise ValueError(f"a row has {len(row.cells)} cells for {len(columns)} columns")
    return {
        "label": label,
        "columns": [{"title": column.title, "kind": column.kind, "top": column.top} for column in columns],
        "rows": [
            {
                "cells": [_cell(column, cell) for column, cell in zip(columns, row.cells, strict=True)],
                "token": row.token,
                "strong": row.strong,
                "marked": None if row.marked is None else list(row.marked),
            }
            for row in rows
        ],
    }


def _cell(column: Column, cell: Any) -> Any:
    if cell is None:
        return None
    if column.kind == "strip":
        vector = np.asarray(cell, dtype=np.float32).ravel()
        top = column.top or float(np.abs(vector).max(initial=0))
        return {"data": to_base64(vector), "top": max(top, 1e-9)}
    if column.kind == "bar":
        return min(max(float(cell) / max(column.top or 1.0, 1e-9), 0.0), 1.0)
    return str(cell)
