"""Uploaded tables: CSV, TSV and JSON, in any encoding and with any common delimiter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CELLS, COLUMNS, LINES, MEGABYTE, TABLE_MEGABYTES
from explorer.text.characters import decode, has_visible_characters
from explorer.text.delimited import Record, is_number, read_records
from explorer.text.json_tables import read_json, text_of
from explorer.text.names import KNOWN_NAMES, normal

FILE_TYPES = (".csv", ".tsv", ".txt", ".json", ".jsonl")
LONGEST_NAME = 60  # characters of a column's name
SENTENCE = 40  # characters from which a cell is no name of a column
COMPARED = 5_000  # rows that are compared with the first

Row = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The cells of a file as texts; every row is as long as `columns`, and `about` says how the file was read.

    `notes` are sentences on what was guessed or left out. `first` is the first row where it might name the columns or be data:
    `headed` says which of both it was taken for.
    """

    columns: Row
    rows: tuple[Row, ...]
    about: str
    name: str = ""  # of the file
    notes: tuple[str, ...] = ()
    first: Row = ()
    headed: bool = True

    def column(self, name: str) -> list[str]:
        """The cells of a column. Raises InputError when there is none of that name."""
        if name not in self.columns:
            raise InputError("The file has no such column. Choose one of its columns.")
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def with_names(self, headed: bool) -> "Table":
        """The table with its first row as the names of the columns, or as data."""
        if not self.first or headed == self.headed:
            return self
        if headed:
            return replace(self, columns=_names(self.first), rows=self.rows[1:], headed=True)
        return replace(self, columns=_names([""] * len(self.first)), rows=(self.first, *self.rows), headed=False)


def has_column_names(first: Row, rest: Sequence[Row]) -> bool:
    """Whether the first row names the columns: it has no numbers, its cells do not come again below, and they are like names."""
    if [cell for cell in first if cell.strip()] == [str(number) for number in range(len(first) - (not first[0].strip()))]:
        return len(first) > 1  # pandas numbers columns without names
    cells = [normal(cell) for cell in first]
    rest = [row for row in rest[:COMPARED] if row != first]
    columns = list(zip(*rest, strict=True)) if rest else [()] * len(first)
    if not any(cells) or any(map(is_number, first)):
        return False
    if any(cell and cell in set(map(normal, below)) for cell, below in zip(cells, columns, strict=True)):
        return False
    if KNOWN_NAMES & set(cells):
        return True
    if any(len(cell) > SENTENCE for cell in first):
        return False
    return any(map(_is_of_a_kind, columns)) or all(len(cell.split()) < 3 for cell in first)


def _is_of_a_kind(cells: Sequence[str]) -> bool:
    """Whether a column has numbers, or a few values again and again: a first cell of another kind is its name."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and (all(map(is_number, filled)) or len(set(filled)) <= len(filled) / 2)


@apart
def read_table(path: Path) -> Table:
    """The rows of a CSV, TSV or JSON file; delimiter, encoding and whether the first row names the columns are detected.

    Raises InputError when the file is too large or too long, not a text, or without rows.
    """
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    return replace(parse_table(path.read_bytes()), name=path.name)


def parse_table(data: bytes) -> Table:
    """The rows of a file's bytes. Raises InputError."""
    text, encoding = decode(data)
    if not has_visible_characters(text):
        raise InputError("The file is empty. Add a line of column names and at least one row.")
    LINES.check(max(text.count("\n"), text.count("\r")))
    if (found := read_json(text)) is None:
        records, delimiter, notes = read_records(text)
        table = _of_records(records)
        how = delimiter if " " in delimiter else f"{delimiter}-separated"
    else:
        rows, notes = found
        named = bool(rows) and isinstance(rows[0], dict)
        table = _of_objects(rows) if named else _of_records([list(map(text_of, row)) for row in rows])
        how = "JSON"
    if not table.rows or not table.columns:
        raise InputError("The file has no rows. Add at least one below the column names.")
    return replace(table, about=f"{len(table.rows):,} rows, {how}, {encoding}.", notes=(*notes, *table.notes))


def text_column_of(table: Table) -> str:
    """The column named text, or else the one with the longest cells."""
    return find_column("text", table) or max(table.columns, key=lambda name: sum(map(len, table.column(name)[:200])))


def find_column(name: str, table: Table) -> str:
    """The column of this name, ignoring case, or ''."""
    return next((column for column in table.columns if column.lower() == name), "")


def _of_records(records: Sequence[Record]) -> Table:
    """The table of records, whose first may name the columns; columns without a name and without a cell are dropped."""
    width, notes = _check_size(len(records), max(map(len, records), default=0))
    filled = [place for place in range(width) if any(len(row) > place and row[place].strip() for row in records)]
    if empty := width - len(filled):
        notes.append(f"{empty:,} empty column{'s' * (empty != 1)} dropped.")
    if not filled:
        return Table((), (), "")
    rows = [tuple(row[place] if place < len(row) else "" for place in filled) for row in records]
    first = tuple(cell.strip() for cell in rows[0])
    data = Table(_names([""] * len(filled)), tuple(rows), "", notes=tuple(notes), first=first, headed=False)
    return data.with_names(has_column_names(first, rows[1:]))


def _of_objects(items: Sequence[dict[str, Any]]) -> Table:
    names = list(dict.fromkeys(name for item in items for name in item))
    width, notes = _check_size(len(items), len(names))
    rows = tuple(tuple(text_of(item.get(name)) for name in names[:width]) for item in items)
    return Table(_names(names[:width]), rows, "", notes=tuple(notes))


def _check_size(rows: int, columns: int) -> tuple[int, list[str]]:
    """The number of columns that are read, and a sentence on those beyond. Raises InputError for too many rows or cells."""
    width = min(columns, COLUMNS.most)
    LINES.check(rows)
    CELLS.check(rows * width)
    more = columns - width
    return width, [f"{more:,} column{'s' * (more != 1)} after the first {width} left out."] if more else []


def _names(names: Sequence[str]) -> Row:
    """The names, cut to the longest allowed, with a number added to those that are empty or repeated."""
    taken: list[str] = []
    for number, name in enumerate((name.strip()[:LONGEST_NAME] for name in names), start=1):
        taken.append(name if name and name not in taken else f"{name or 'column'} {number}")
    return tuple(taken)
