"""The layout of a view: rows of settings and parts, or of columns. Everything else is placed from top to bottom."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LayoutColumn:
    """Settings and parts below each other, by name, and rows of them."""

    items: "tuple[str | LayoutRow, ...]"
    width: int = 1  # relative to the columns beside it

    @property
    def names(self) -> list[str]:
        return _names_in(self.items)


@dataclass(frozen=True)
class LayoutRow:
    """Settings and parts in one line, by name, with widths by their `scale`; or columns."""

    items: tuple[str | LayoutColumn, ...]

    @property
    def columns(self) -> list[LayoutColumn]:
        """Its columns; [] for a line of settings and parts."""
        return [item for item in self.items if isinstance(item, LayoutColumn)]

    @property
    def names(self) -> list[str]:
        return _names_in(self.items)


def _names_in(items: Iterable[str | LayoutRow | LayoutColumn]) -> list[str]:
    return [name for item in items for name in ([item] if isinstance(item, str) else item.names)]


def col(*items: str | LayoutRow, width: int = 1) -> LayoutColumn:
    """A column of settings and parts, by name, and rows of them."""
    return LayoutColumn(items, width)


def row(*items: str | LayoutColumn) -> LayoutRow:
    return LayoutRow(items)


def arrange(names: Iterable[str], rows: Sequence[LayoutRow]) -> list[str | LayoutRow]:
    """The names from top to bottom, with every row where the first of its names would stand."""
    row_of = {name: row for row in rows for name in row.names}
    return list(dict.fromkeys(row_of.get(name, name) for name in names))
