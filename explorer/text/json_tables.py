"""Tables in JSON: objects or lists, one per line or in a list, objects of columns, and what pandas writes."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from explorer.core.errors import InputError
from explorer.core.limits import CELLS
from explorer.text.names import KNOWN_NAMES, normal

SHAPES = (
    "This shape of JSON is not read; send one object per line, a list of objects or of rows, an object of columns, or what "
    "pandas writes, alone or under a key such as data."
)
WRAPPERS = ("train", "data", "rows", "examples", "records", "items")  # keys of which the first is taken where there are several
NESTED = 3  # objects around a table

Cells = dict[str, Any]
Rows = list[Any]  # of Cells, or of lists


def read_json(text: str) -> tuple[Rows, list[str]] | None:
    """The rows of a text in JSON, all objects or all lists, and sentences on what was left out; None where it is not JSON.

    Raises InputError for broken JSON and for other shapes.
    """
    if (value := parse(text)) is None:
        return None
    notes: list[str] = []
    return _rows(value, notes), notes


def parse(text: str) -> dict[str, Any] | list[Any] | None:
    """A text in JSON, or with a JSON value on every line; None where it is not JSON. Raises InputError for broken JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    CELLS.check(text.count(",") + text.count(":"))  # at least as many as there are values
    try:
        return from_json(text)
    except ValueError:
        pass  # one per line
    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            if line.strip():
                items.append(from_json(line))
        except ValueError as error:
            # A cell of a table may well begin with [MASK], [1] or {name}.
            if not items and not "".join(text[:200].split()).startswith(('{"', '[{"', '[["', "[{'", "{'text'")):
                return None
            is_half = "hex escape" in str(error) and "\\ud" in line.lower()
            said = "has half a character (a lone surrogate)" if is_half else "is not valid JSON"
            raise InputError(f"Line {number:,} of the file {said}; write one object per line, or one list.") from error
    return items


def _rows(value: object, notes: list[str], depth: int = 0) -> Rows:
    """The rows of a value in any of the shapes; adds to the notes. Raises InputError for other shapes."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict) or depth > NESTED:
        raise InputError(SHAPES)
    match value:
        case {"columns": list(names), "data": list(rows)} if all(isinstance(row, list) for row in rows):  # orient="split"
            return [dict(zip(map(str, names), row, strict=False)) for row in rows]
        case {"schema": {"primaryKey": list(keys)}, "data": list(rows)}:  # orient="table"
            return [{name: row[name] for name in row if name not in keys} for row in _of_list(rows)]
    values = list(value.values())
    if values and all(isinstance(inner, dict) and not _is_table(inner) for inner in values):
        return _of_objects(value)
    if values and all(isinstance(cells, list) and not any(isinstance(cell, dict) for cell in cells) for cells in values):
        return _of_columns(value)
    return _wrapped(value, notes, depth)


def _of_list(items: list[Any]) -> Rows:
    if all(isinstance(item, dict) for item in items):
        if items and "paragraphs" in items[0]:
            raise InputError("The file has questions on texts, as SQuAD has; choose An answer in a text.")
        inner = [item["row"] for item in items if isinstance(item.get("row"), dict)]  # as the Hub's viewer sends them
        return inner if len(inner) == len(items) else items
    if all(isinstance(item, list) for item in items):
        return items
    if all(isinstance(item, str) for item in items):
        return [{"text": item} for item in items]
    raise InputError(SHAPES)


def _of_columns(columns: dict[str, list[Any]]) -> Rows:
    """The rows of an object with a list for each column. Raises InputError where they differ in length."""
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise InputError(f"The columns of the file have {min(lengths):,} to {max(lengths):,} values; give each the same number.")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _of_objects(value: dict[str, Cells]) -> Rows:
    """The rows of an object of objects: pandas' columns by name, each with values by row, or rows by number."""
    inner = list(dict.fromkeys(key for cells in value.values() for key in cells))
    by_row = all(key.isdecimal() for key in value) or _has_known_name(inner)
    by_column = all(key.isdecimal() for key in inner) or _has_known_name(value)
    if by_row and not by_column:
        return list(value.values())
    if not inner or not (by_column or len(inner) > len(value)):
        raise InputError(SHAPES)
    return [{name: cells.get(key) for name, cells in value.items()} for key in inner]


def _wrapped(value: Cells, notes: list[str], depth: int) -> Rows:
    """The rows below a key. An object of texts and numbers only is one row. Raises InputError where no value is a table."""
    tables = [name for name, inner in value.items() if isinstance(inner, list | dict) and inner and _is_table(inner)]
    if not tables:
        if not _has_known_name(value):
            raise InputError(SHAPES)
        return [value]
    chosen = next((name for name in WRAPPERS if name in tables), tables[0])
    rows = _rows(value[chosen], notes, depth + 1)
    if others := ", ".join(repr(name[:40]) for name in tables[:10] if name != chosen):
        notes.append(f"The rows are those of {chosen[:40]!r}; {others} left out.")
    return rows


def _is_table(value: list[Any] | Cells) -> bool:
    """Whether a value has rows or columns of its own; pandas' column of lists, by the number of the row, has none."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict | list)
    inner = list(value.values())
    lists = any(isinstance(cells, list) for cells in inner) and not all(key.isdecimal() for key in value)
    return lists or any(isinstance(cells, dict) for cells in inner)


def _has_known_name(names: Sequence[str] | Cells) -> bool:
    return not KNOWN_NAMES.isdisjoint(map(normal, names))


def text_of(value: object) -> str:
    """A value as a cell: texts unchanged, None and NaN as '', the rest as JSON."""
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
