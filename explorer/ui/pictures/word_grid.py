"""A table of words with a colour each."""

import heapq
from collections.abc import Sequence
from typing import Any

from explorer.ui.pictures.alternatives import MOST
from explorer.ui.pictures.base import token_places
from explorer.ui.pictures.numbers import Table, identifier, keep

Cell = tuple[str, float, str]


def word_grid(
    corner: str,
    columns: Sequence[str],
    rows: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    marked: int | None = None,
    places: Sequence[int] = (),
    outlined: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """The component's value for cells [rows][columns] of (word, share from 0 to 1, note).

    `marked` is a column of interest, `outlined` the (row, column) of a cell; `places` are the tokens that the columns stand for,
    if they do.
    """
    shown = {
        "corner": corner,
        "columns": list(columns),
        "rows": list(rows),
        "cells": [
            [{"text": word, "share": round(min(float(share), 1.0), 4), "note": note} for word, share, note in row]
            for row in cells
        ],
        "places": token_places(places),
        "marked": None if marked is None else int(marked),
        "outlined": None if outlined is None else [int(place) for place in outlined],
        "alt": _strongest(columns, rows, cells),
    }
    return keep(shown, lambda: _table(corner, columns, rows, cells, places))


def _table(
    corner: str, columns: Sequence[str], rows: Sequence[str], cells: Sequence[Sequence[Cell]], places: Sequence[int]
) -> Table:
    """A row per cell; columns that stand for tokens have their position."""
    lead: list[tuple[object, ...]] = list(zip(map(int, places), columns, strict=True) if places else zip(columns, strict=True))
    names = ("position", "token") if places else ("column",)
    listed = [
        [row, *column, word, float(share), note]
        for row, entries in zip(rows, cells, strict=True)
        for column, (word, share, note) in zip(lead, entries, strict=True)
    ]
    others = (*names, "word", "share", "note")
    row = identifier(corner) or "row"
    return Table.of((row if row not in others else "row", *others), listed)


def _strongest(columns: Sequence[str], rows: Sequence[str], cells: Sequence[Sequence[Cell]]) -> str:
    """The text alternative: the cells with the largest shares."""
    named = [
        (share, f"{row}, {column}: {word}{f', {note}' if note else ''}")
        for row, entries in zip(rows, cells, strict=True)
        for column, (word, share, note) in zip(columns, entries, strict=True)
    ]
    strongest = heapq.nlargest(MOST, named, key=lambda cell: cell[0])
    return f"The strongest {len(strongest)} of {len(named):,}: {'; '.join(words for _, words in strongest)}."
