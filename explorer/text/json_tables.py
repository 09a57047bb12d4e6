"""Tables in JSON: objects or lists, one per line or in a list, objects of columns, and what pandas writes."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic_core import from_json

from explorer.core.errors import InputError
from explorer.core.limits import CELLS
from explorer.text.names import KNOWN_NAMES, normal

SHAPES = (
    "The app does not read this shape of JSON. Send one object per line, a list of objects or of rows, an object of columns, or "
    "what pandas writes, alone or under a key such as data."
)
WRAPPERS = ("train", "data", "rows", "examples", "records", "items")  # keys of which the first is taken where there are several
BEGINNINGS = ('{"', '[{"', '[["', "[{'", "{'text'")  # of JSON; a cell of a table may well begin with [MASK], [1] or {name}

Rows = list[Any]  # of objects, or of lists


def read_json(text: str) -> tuple[Rows, list[str]] | None:
    """The rows of a text in JSON, all objects or all lists, and sentences on what was left out; None where it is not JSON.

    Raises InputError for broken JSON and for other shapes.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    CELLS.check(text.count(",") + text.count(":"))  # at least as many as there are values
    notes: list[str] = []
    try:
        value = from_json(text)
    except ValueError:
        value = _parse_lines(text)
    return (_find_rows(value, notes), notes) if value is not None else None


def _parse_lines(text: str) -> Rows | None:
    """The values of a text with one on every line; None where it is not JSON. Raises InputError for broken JSON."""
    items = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            if line.strip():
                items.append(from_json(line))
        except ValueError as error:
            if not items and not "".join(text[:200].split()).startswith(BEGINNINGS):
                return None
            raise InputError(f"Line {number:,} of the file is not valid JSON. Write one object per line, or one list.") from error
    return items


def _find_rows(value: Any, notes: list[str]) -> Rows:
    """The rows of a value in any of the shapes; adds to the notes. Raises InputError for other shapes."""
    if isinstance(value, list):
        return _rows_of_list(value)
    names, rows, inner = value.get("columns"), value.get("data"), list(value.values())
    if isinstance(names, list) and _all(rows, list):  # pandas' orient="split"
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    if wrapped := [name for name, table in value.items() if _is_table(table)]:
        chosen = next((name for name in WRAPPERS if name in wrapped), wrapped[0])
        if others := ", ".join(repr(name[:40]) for name in wrapped[:10] if name != chosen):
            notes.append(f"The rows are those of {chosen[:40]!r}; {others} left out.")
        return _find_rows(value[chosen], notes)
    if inner and _all(inner, dict):  # of columns by the names of rows, or of rows, as pandas writes both
        names = list(dict.fromkeys(key for cells in inner for key in cells))
        if all(map(str.isdecimal, value)) or _has_known_name(names):
            return inner
        if all(map(str.isdecimal, names)) or _has_known_name(value):
            return [{name: cells.get(key) for name, cells in value.items()} for key in names]
    if inner and _all(inner, list) and len(set(map(len, inner))) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    if _has_known_name(value) and not any(isinstance(cell, list) for cell in inner):
        return [value]
    raise InputError(SHAPES)


def _rows_of_list(items: list[Any]) -> Rows:
    if _all(items, dict):
        if items and "paragraphs" in items[0]:
            raise InputError("The file has questions on texts, as SQuAD has. Choose An answer in a text.")
        inner = [item.get("row") for item in items]  # as the Hub's viewer sends them
        return inner if _all(inner, dict) else items
    if not _all(items, list) and not _all(items, str):
        raise InputError(SHAPES)
    return [{"text": item} if isinstance(item, str) else item for item in items]


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
    """A value as a cell: texts unchanged, None and NaN as '', the rest as JSON."""
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
