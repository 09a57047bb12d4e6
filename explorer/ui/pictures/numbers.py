"""The numbers of a picture, kept beside it: named columns and rows in full precision, computed on request.

What is sent to the browser does not grow: JSON and copies of a value contain the picture alone.
"""

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

NO_WIDTH = "\u200b"  # zero-width space: keeps equal labels apart on an axis
SPELLED = {"−": " minus ", "‖": "", "√": "root ", "∘": " times ", "·": " dot ", "÷": "over ", "²": "2"}


@dataclass(frozen=True)
class Table:
    """Python values by column, all of equal length; None is a missing value.

    Layers and heads count from 1, positions and dimensions from 0; hidden state 0 is the embedding output.
    """

    columns: tuple[str, ...]
    cells: tuple[list[Any], ...]  # a list for each column

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> "Table":
        cells = zip(*rows, strict=True) if rows else ([] for _ in columns)
        return cls(tuple(columns), tuple(list(map(plain, column)) for column in cells))

    @classmethod
    def join(cls, tables: Sequence["Table"]) -> "Table":
        """Tables of the same columns below each other; at least one."""
        return cls(tables[0].columns, tuple([*chain(*cells)] for cells in zip(*(table.cells for table in tables), strict=True)))

    def __len__(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.cells, strict=True))

    def beside(self, **constant: Any) -> "Table":
        """The table with constant columns before it, such as the layer and the head."""
        return Table((*constant, *self.columns), (*([value] * len(self) for value in constant.values()), *self.cells))

    def with_columns(self, **more: Callable[[tuple[Any, ...]], Any]) -> "Table":
        """The table with more columns after it, each computed from a row."""
        rows = self.rows
        return Table((*self.columns, *more), (*self.cells, *([plain(of(row)) for row in rows] for of in more.values())))

    def as_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "rows": self.rows}


Maker = Callable[[], Table]
Column = Sequence[Any] | np.ndarray
"""One value per row."""


class _KeptItems(dict):
    """A dictionary with its numbers beside it, which copies do not have."""

    def __or__(self, other: Mapping[Any, Any]) -> Any:
        return keep({**self, **other}, _maker(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class _KeptRows(list):
    """A list with its numbers beside it, which copies do not have."""

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def keep(picture: Any, make: Maker) -> Any:
    """A picture (a Plotly figure, or a component's value) with the table of the numbers that it shows."""
    if isinstance(picture, dict | list):
        picture = _KeptItems(picture) if isinstance(picture, dict) else _KeptRows(picture)
    picture._numbers = make  # an attribute that neither JSON nor Plotly serializes
    return picture


def numbers_of(picture: object) -> Table | None:
    """The numbers kept beside a picture, or None."""
    make = getattr(picture, "_numbers", None)
    return make() if callable(make) else None


def _maker(picture: object) -> Maker:
    """What makes the table of a picture. Raises ValueError for a picture without numbers."""
    if (make := getattr(picture, "_numbers", None)) is None:
        raise ValueError("a picture without its numbers")
    return make


def beside(picture: object, **constant: Any) -> Any:
    """A picture whose numbers have constant columns before them, such as the layer."""
    make = _maker(picture)
    return keep(picture, lambda: make().beside(**constant))


def with_columns(picture: object, **more: Callable[[tuple[Any, ...]], Any]) -> Any:
    """A picture whose numbers have more columns, each computed from a row."""
    make = _maker(picture)
    return keep(picture, lambda: make().with_columns(**more))


@dataclass(frozen=True)
class Places:
    """One side of a matrix: the names of its columns, and their cells for each place."""

    columns: tuple[str, ...]
    places: list[tuple[Any, ...]]

    @classmethod
    def of_tokens(cls, tokens: Sequence[str], name: str = "token", positions: Sequence[int] | None = None) -> "Places":
        """Tokens with their positions, which count from 0 unless `positions` are given."""
        positions = range(len(tokens)) if positions is None else positions
        columns = ("position", name) if name == "token" else (f"{name}_position", name)
        return cls(columns, [(int(position), token) for position, token in zip(positions, tokens, strict=True)])

    @classmethod
    def of(cls, name: str, labels: Column) -> "Places":
        """Places with one label each, a number or a text."""
        return cls((name,), [(plain(label),) for label in labels])


def matrix(values: Any, rows: Places, columns: Places, name: str) -> Table:
    """A row for each cell of values [rows, columns], except NaN and infinite ones, which are not drawn."""
    values = np.asarray(values)
    drawn = np.isfinite(values) if values.dtype.kind == "f" else np.ones(values.shape, dtype=bool)
    down, across = (place.tolist() for place in np.nonzero(drawn))
    cells = [*_spread(rows, down), *_spread(columns, across), values[drawn].tolist()]
    return Table((*rows.columns, *columns.columns, name), tuple(cells))


def _spread(side: Places, places: list[int]) -> list[list[Any]]:
    return [[side.places[place][number] for place in places] for number in range(len(side.columns))]


def columns_of(**columns: Column) -> Table:
    return Table(tuple(columns), tuple(list(map(plain, column)) for column in columns.values()))


def plain(value: object) -> Any:
    """A Python number for one of NumPy, None for NaN and infinity, which JSON does not have; other values unchanged."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_typed(label: object) -> Any:
    """A label of a figure, as the text before escaping."""
    return html.unescape(label).replace(NO_WIDTH, "") if isinstance(label, str) else plain(label)


def identifier(title: str) -> str:
    """A title as a column name: 'hidden state (0: embeddings)' is hidden_state, '1 − cosine' is 1_minus_cosine."""
    words = as_typed(title).replace("<br>", " ").partition(":")[0].partition(" (")[0]
    spelled = "".join(SPELLED.get(letter, letter) for letter in words)
    return re.sub(r"\W+", "_", spelled).strip("_").lower()
