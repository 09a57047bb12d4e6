"""The layout of a view: rows of settings and parts, or of columns. Everything else is placed from top to bottom."""

from collections.abc import Iterable, Sequence
from typing import Any


class _Group:
    """Settings and parts by name, and groups of them."""

    def __init__(self, *items: Any, width: int = 1) -> None:
        self.items, self.width = items, width

    @property
    def names(self) -> list[str]:
        return [name for item in self.items for name in ([item] if isinstance(item, str) else item.names)]


class LayoutColumn(_Group):
    """Names below each other, and rows of them; the `width` is relative to the columns beside it."""


class LayoutRow(_Group):
    """Names in one line, with widths by their `scale`; or columns."""

    @property
    def columns(self) -> list[LayoutColumn]:
        """Its columns; [] for a line of settings and parts."""
        return [item for item in self.items if isinstance(item, LayoutColumn)]


col, row = LayoutColumn, LayoutRow


def arrange(names: Iterable[str], rows: Sequence[LayoutRow]) -> list[str | LayoutRow]:
    """The names from top to bottom, with every row where the first of its names would stand."""
    row_of = {name: row for row in rows for name in row.names}
    return list(dict.fromkeys(row_of.get(name, name) for name in names))
