"""The numbers of a picture, kept beside it: named columns and rows in full precision, made when somebody asks for them.

What travels to the browser stays as light as it was: JSON and copies of a value hold the picture alone.
"""

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

NO_WIDTH = "\u200b"  # what keeps equal labels apart on an axis
SPELLED = {"−": " minus ", "‖": "", "√": "root ", "∘": " times ", "·": " dot ", "÷": "over ", "²": "2"}


@dataclass(frozen=True)
class Table:
    """Rows of plain values of Python, None for nothing, each with a cell for every column.

    Layers and heads count from 1, positions and dimensions from 0; hidden state 0 is the embedding output.
    """

    columns: tuple[str, ...]
    rows: list[list[Any]]

    def beside(self, **constant: Any) -> "Table":
        """The same with columns before it that say one thing in every row: the layer, the head."""
        return Table((*constant, *self.columns), [[*constant.values(), *row] for row in self.rows])

    def with_columns(self, **more: Callable[[list[Any]], Any]) -> "Table":
        """The same with more columns behind it, each made from a row."""
        return Table((*self.columns, *more), [[*row, *(of(row) for of in more.values())] for row in self.rows])

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"columns": list(self.columns), "rows": self.rows}


Maker = Callable[[], Table]


class _Kept:
    """A value of its class with the numbers beside it; a copy of it has none."""

    make: Maker

    @classmethod
    def of(cls, value: Any, make: Maker) -> Self:
        kept = cls(value)
        kept.make = make
        return kept


class _KeptItems(_Kept, dict):
    def __or__(self, other: Mapping[str, Any]) -> "_KeptItems":
        return _KeptItems.of({**self, **other}, self.make)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class _KeptRows(_Kept, list):
    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def keep(picture: Any, make: Maker) -> Any:
    """A picture, a Plotly figure, the value of a component or rows, with the numbers that it shows."""
    if isinstance(picture, dict | list):
        return (_KeptItems if isinstance(picture, dict) else _KeptRows).of(picture, make)
    picture._numbers = make  # Plotly writes no attribute of this kind
    return picture


def kept(picture: Any) -> Table | None:
    """The numbers that were kept beside a picture, if any were."""
    make = getattr(picture, "make", None) if isinstance(picture, _Kept) else getattr(picture, "_numbers", None)
    if not callable(make):
        return None
    table = make()
    return Table(table.columns, [list(map(plain, row)) for row in table.rows])


def beside(picture: Any, **constant: Any) -> Any:
    """A picture whose numbers say in every row what they belong to."""
    table_of = picture.make if isinstance(picture, _Kept) else picture._numbers
    return keep(picture, lambda: table_of().beside(**constant))


def with_columns(picture: Any, **more: Callable[[list[Any]], Any]) -> Any:
    """A picture whose numbers have more columns, each made from a row."""
    table_of = picture.make if isinstance(picture, _Kept) else picture._numbers
    return keep(picture, lambda: table_of().with_columns(**more))


@dataclass(frozen=True)
class Places:
    """One side of a matrix: the columns that name its places, and for each place what stands in them."""

    columns: tuple[str, ...]
    places: list[tuple[Any, ...]]

    @classmethod
    def of_tokens(cls, tokens: Sequence[str], name: str = "token", positions: Sequence[int] | None = None) -> "Places":
        """Tokens with their positions from 0, which are `positions` where those are not simply all."""
        positions = range(len(tokens)) if positions is None else positions
        columns = ("position", name) if name == "token" else (f"{name}_position", name)
        return cls(columns, [(int(position), token) for position, token in zip(positions, tokens, strict=True)])

    @classmethod
    def of(cls, name: str, labels: Sequence[Any]) -> "Places":
        """Places that one label names, a number or a text."""
        return cls((name,), [(plain(label),) for label in labels])


def matrix(values: Any, rows: Places, columns: Places, name: str) -> Table:
    """A row for each cell of values [rows, columns] that is drawn; NaN is none that is."""
    cells = np.asarray(values).tolist()
    return Table(
        (*rows.columns, *columns.columns, name),
        [
            [*row, *column, value]
            for row, line in zip(rows.places, cells, strict=True)
            for column, value in zip(columns.places, line, strict=True)
            if value == value
        ],
    )


def columns_of(**columns: Sequence[Any] | np.ndarray) -> Table:
    """A table from its columns, all of one length."""
    return Table(tuple(columns), [list(map(plain, row)) for row in zip(*columns.values(), strict=True)])


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python, nothing for one that is none or infinite, which JSON cannot say; all else as it is."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_typed(label: Any) -> Any:
    """A label of a figure as the text that it was made of."""
    return html.unescape(label).replace(NO_WIDTH, "") if isinstance(label, str) else plain(label)


def identifier(title: str) -> str:
    """A title as the name of a column: 'hidden state (0: embeddings)' is hidden_state, '1 − cosine' is 1_minus_cosine."""
    words = as_typed(title).replace("<br>", " ").partition(":")[0].partition(" (")[0]
    spelled = "".join(SPELLED.get(letter, letter) for letter in words)
    return re.sub(r"\W+", "_", spelled).strip("_").lower()
