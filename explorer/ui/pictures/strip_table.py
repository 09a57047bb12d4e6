"""Tables of names, numbers, bars, and vectors drawn as strips of colour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from explorer.ui.pictures.base import to_base64
from explorer.ui.pictures.numbers import Table, identifier, keep, plain

FIRST_NUMBERS = 10  # of a vector that are written out

Kind = Literal["name", "text", "before", "after", "number", "bar", "strip"]


@dataclass(frozen=True)
class Column:
    """One column: its title, the kind of its cells, and for strips and bars the value at full colour or length.

    A strip without `top` has its own scale. `form` is the format of numbers; `name` the column's name in the exported data, if it
    differs from the title.
    """

    title: str
    kind: Kind
    top: float | None = None
    form: str = ""
    name: str = ""


def number_columns() -> list[Column]:
    """A column for each of the first numbers of a vector, counted from 1."""
    return [Column(str(place), "number", form=".4f", name=f"number_{place}") for place in range(1, FIRST_NUMBERS + 1)]


def in_context(title: str) -> list[Column]:
    """The columns of a word or blank with the text before and after it; `title` is that of the word."""
    return [Column("before", "before"), Column(title, "name"), Column("after", "after")]


@dataclass(frozen=True)
class Row:
    """One row: a cell for each column, None for an empty one. A `token`, any number, makes its name a button.

    Cells: a text for "name", "text", "before" and "after" (a name), a text or a number for "number", a number from 0 to
    the column's top for "bar", and a vector for "strip".
    """

    cells: Sequence[Any]
    token: int | None = None
    strong: bool = False
    marked: tuple[int, int] | None = None  # [start, end) of its strips to outline


def strip_table(columns: Sequence[Column], rows: Sequence[Row], label: str = "", token: str = "") -> dict[str, Any]:
    """The component's value; `label` describes the table, `token` names what the tokens of its rows are."""
    shown = {
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
    return keep(shown, lambda: _table(columns, rows, token))


def facts(titles: Sequence[str], rows: Sequence[Row | Sequence[str]], label: str = "") -> dict[str, Any]:
    """The component's value for a table of texts: names in the first column, and what is known of each."""
    columns = [Column(title, "text" if number else "name") for number, title in enumerate(titles)]
    return strip_table(columns, [row if isinstance(row, Row) else Row(row) for row in rows], label or titles[0])


def _table(columns: Sequence[Column], rows: Sequence[Row], token: str) -> Table:
    """The cells as given; if there are strips, a row for each of their numbers, by dimension."""
    single = [at for at, column in enumerate(columns) if column.kind not in ("strip", "bar")]
    strips = [at for at, column in enumerate(columns) if column.kind == "strip"]
    names = [columns[at].name or identifier(columns[at].title) or "name" for at in (*single, *strips)]
    place = ["dimension"] if strips else []
    listed = []
    for row in rows:
        lead = [*([row.token] if token else []), *(plain(row.cells[at]) for at in single)]
        vectors = [None if row.cells[at] is None else np.asarray(row.cells[at]).ravel().tolist() for at in strips]
        longest = max((len(vector) for vector in vectors if vector is not None), default=0)
        for number in range(longest):
            listed.append([*lead, number, *(None if vector is None else vector[number] for vector in vectors)])
        if not longest:
            listed.append([*lead, *[None] * (len(place) + len(strips))])
    return Table.of((*([token] if token else []), *names[: len(single)], *place, *names[len(single) :]), listed)


def _cell(column: Column, cell: Any) -> Any:
    if cell is None:
        return None
    if column.kind == "strip":
        vector = np.asarray(cell, dtype=np.float32).ravel()
        top = column.top or float(np.abs(vector).max(initial=0))
        return {"data": to_base64(vector), "top": max(top, 1e-9)}
    if column.kind == "bar":
        return min(max(float(cell) / max(column.top or 1.0, 1e-9), 0.0), 1.0)
    return cell if isinstance(cell, str) else format(cell, column.form).replace("-inf", "−∞")
