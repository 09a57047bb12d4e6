"""Tables of visitors: CSV, TSV and JSON, in any encoding, with any common delimiter, and in the shapes that programs write."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from explorer.core.apart import apart
from explorer.core.errors import InputError
from explorer.core.limits import CELLS, COLUMNS, LINES, MEGABYTE, TABLE_MEGABYTES
from explorer.text.characters import decode, has_visible_characters
from explorer.text.delimited import is_number, read_records
from explorer.text.names import KNOWN_NAMES, normal

FILE_TYPES = (".csv", ".tsv", ".txt", ".json", ".jsonl")
LONGEST_NAME = 60  # characters of a column's name
SENTENCE = 40  # characters from which a cell is no name of a column
COMPARED = 5_000  # rows that are compared with the first
SHAPES = (
    "The app does not read this shape of JSON. Send one object per line, a list of objects or of rows, an object of columns, or "
    "what pandas writes, alone or under a key such as data."
)
WRAPPERS = ("train", "data", "rows", "examples", "records", "items")  # keys of which the first is taken where there are several
BEGINNINGS = ('{"', '[{"', '[["', "[{'", "{'text'")  # of JSON; a cell of a table may well begin with [MASK], [1] or {name}

Row = tuple[str, ...]
Rows = Sequence[Any]  # of objects, or of lists


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


@apart
def read_table(path: Path) -> Table:
    """The rows of a CSV, TSV or JSON file of any dialect. Raises InputError when it is too large, not a text, or without rows."""
    TABLE_MEGABYTES.check(path.stat().st_size / MEGABYTE)
    return replace(parse_table(path.read_bytes()), name=path.name)


def parse_table(data: bytes) -> Table:
    """The rows of a file's bytes. Raises InputError."""
    text, encoding = decode(data)
    if not has_visible_characters(text):
        raise InputError("The file is empty. Add a line of column names and at least one row.")
    LINES.check(max(text.count("\n"), text.count("\r")))
    rows, how, notes = read_json(text) or read_records(text)
    table = table_of(rows)
    if not table.rows:
        raise InputError("The file has no rows. Add at least one below the column names.")
    return replace(table, about=f"{len(table.rows):,} rows, {how}, {encoding}.", notes=(*notes, *table.notes))


def table_of(rows: Rows) -> Table:
    """The table of objects, or of lists of which the first may name the columns. Raises InputError for too many rows or cells."""
    named = bool(rows) and isinstance(rows[0], dict)
    names = list(dict.fromkeys(chain.from_iterable(rows))) if named else [""] * max(map(len, rows), default=0)
    width = min(len(names), COLUMNS.most)
    LINES.check(len(rows))
    CELLS.check(len(rows) * width)
    read = (map(row.get, names[:width]) if named else row[:width] for row in rows)
    columns = list(zip_longest(*(list(map(text_of, cells)) for cells in read), fillvalue=""))
    filled = [place for place, column in enumerate(columns) if any(map(str.strip, column))]
    cells = tuple(zip(*(columns[place] for place in filled), strict=True))
    beyond, empty = len(names) - width, len(columns) - len(filled)
    notes = [f"{beyond:,} column{'s' * (beyond != 1)} after the first {width} left out."] * (beyond > 0)
    notes += [f"{empty:,} empty column{'s' * (empty != 1)} dropped."] * (empty > 0)
    if titles := 0 if named else _titles_above(cells):
        notes.append("What is above the table is skipped.")
    cells = cells[titles:]
    first = tuple(map(str.strip, cells[0])) if cells and not named else ()
    table = Table(_names([names[place] for place in filled]), cells, "", notes=tuple(notes), first=first, headed=named)
    return table.with_names(has_column_names(first, cells[1:])) if first else table


def _titles_above(cells: Sequence[Row]) -> int:
    """The number of rows with a first cell only above a row of names."""
    titles = next((number for number, row in enumerate(cells) if any(map(str.strip, row[1:])) or not row[0].strip()), 0)
    return titles if titles and has_column_names(cells[titles], cells[titles + 1 :]) else 0


def _names(names: Sequence[str]) -> Row:
    """The names, cut to the longest allowed, with a number added to those that are empty or repeated."""
    taken: list[str] = []
    for number, name in enumerate((name.strip()[:LONGEST_NAME] for name in names), start=1):
        taken.append(name if name and name not in taken else f"{name or 'column'} {number}")
    return tuple(taken)


def has_column_names(first: Row, rest: Sequence[Row]) -> bool:
    """Whether the first row names the columns: it has no numbers, its cells do not come again below, and they are like names."""
    if [cell for cell in first if cell.strip()] == [str(number) for number in range(len(first) - (not first[0].strip()))]:
        return len(first) > 1  # pandas numbers columns without names
    cells = [normal(cell) for cell in first]
    rest = [row for row in rest[:COMPARED] if row != first]
    columns = list(zip(*rest, strict=True)) if rest else [()] * len(first)
    again = (cell and cell in set(map(normal, below)) for cell, below in zip(cells, columns, strict=True))
    if not any(cells) or any(map(is_number, first)) or any(again):
        return False
    like_names = all(len(cell.split()) < 3 for cell in first) or any(map(_is_of_a_kind, columns))
    return bool(KNOWN_NAMES & set(cells)) or (max(map(len, first)) <= SENTENCE and like_names)


def _is_of_a_kind(cells: Sequence[str]) -> bool:
    """Whether a column has numbers, or a few values again and again: a first cell of another kind is its name."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and (all(map(is_number, filled)) or len(set(filled)) <= len(filled) / 2)


def read_json(text: str) -> tuple[Rows, str, list[str]] | None:
    """The rows in JSON, "JSON", and sentences on what was left out; None if it is not JSON. Raises InputError if it is broken."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    CELLS.check(text.count(",") + text.count(":"))  # at least as many as there are values
    notes: list[str] = []
    try:
        value = from_json(text)
    except ValueError as error:
        value = _parse_lines(text, str(error))
    return (_find_rows(value, notes), "JSON", notes) if value is not None else None


def _parse_lines(text: str, fault: str) -> Rows | None:
    """The values on the lines of a text; None where it is not JSON. Raises InputError with the fault of the whole text."""
    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            if line.strip():
                items.append(from_json(line))
        except ValueError as error:
            if not items and not "".join(text[:200].split()).startswith(BEGINNINGS):
                return None
            what = f"Line {number:,} of the file is not valid JSON" if items else f"The file is not valid JSON: {fault}"
            raise InputError(f"{what}. Write one object per line, or one list.") from error
    return items


def _find_rows(value: Any, notes: list[str]) -> Rows:
    """The rows of a value in any of the shapes; adds to the notes. Raises InputError for other shapes."""
    if _all(value, str):
        return [{"text": text} for text in value]
    if _all(value, dict):
        if value and "paragraphs" in value[0]:
            raise InputError("The file has questions on texts, as SQuAD has, and not a table. Choose it in the Train tab.")
        inner = [item.get("row") for item in value]  # as the Hub's viewer sends them
        return inner if _all(inner, dict) else value
    if _all(value, list):
        return value
    if isinstance(value, list):
        raise InputError(SHAPES)
    names, rows, inner = value.get("columns"), value.get("data"), list(value.values())
    if isinstance(names, list) and _all(rows, list):  # pandas' orient="split"
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    if wrapped := [name for name, table in value.items() if _is_table(table)]:
        chosen = next((name for name in WRAPPERS if name in wrapped), wrapped[0])
        if others := ", ".join(repr(name[:40]) for name in wrapped[:10] if name != chosen):
            notes.append(f"The rows are those of {chosen[:40]!r}; {others} left out.")
        return _find_rows(value[chosen], notes)
    if inner and _all(inner, dict):  # of columns by the names of rows, or of rows, as pandas writes both
        names = list(dict.fromkeys(chain.from_iterable(inner)))
        if all(map(str.isdecimal, value)) or _has_known_name(names):
            return inner
        if all(map(str.isdecimal, names)) or _has_known_name(value):
            return [{name: cells.get(key) for name, cells in value.items()} for key in names]
    if inner and _all(inner, list) and len(set(map(len, inner))) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    if _has_known_name(value) and not any(isinstance(cell, list) for cell in inner):
        return [value]
    raise InputError(SHAPES)


def _is_table(value: object) -> bool:
    """Whether a value has rows or columns of its own: pandas' column, by the number of the row, has none."""
    if isinstance(value, dict):
        return not all(map(str.isdecimal, value)) and any(isinstance(cells, dict | list) for cells in value.values())
    return isinstance(value, list) and isinstance(next(iter(value), None), dict | list)


def _all(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _has_known_name(names: Iterable[str]) -> bool:
    return not KNOWN_NAMES.isdisjoint(map(normal, names))


def text_of(value: object) -> str:
    """A value as a cell: texts unchanged, None and NaN as '', a list of one as that, the rest as JSON."""
    if isinstance(value, list) and len(value) == 1:
        return text_of(value[0])
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
