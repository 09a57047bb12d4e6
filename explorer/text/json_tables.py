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
            if not items and not "".join(text[:200].split()).startswith(BEGINNINGS):
                return None
            raise InputError(f"Line {number:,} of the file is not valid JSON. Write one object per line, or one list.") from error
    return items


def _rows(value: list[Any] | Cells, notes: list[str]) -> Rows:
    """The rows of a value in any of the shapes; adds to the notes. Raises InputError for other shapes."""
    if isinstance(value, list):
        return _of_list(value)
    names, rows = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):  # orient="split"
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    inner = list(value.values())
    if wrapped := [name for name, table in value.items() if _is_table(table)]:
        chosen = next((name for name in WRAPPERS if name in wrapped), wrapped[0])
        if others := ", ".join(repr(name[:40]) for name in wrapped[:10] if name != chosen):
            notes.append(f"The rows are those of {chosen[:40]!r}; {others} left out.")
        return _rows(value[chosen], notes)
    if inner and all(isinstance(cells, dict) for cells in inner):
        return _of_objects(value)
    if inner and all(isinstance(cells, list) and len(cells) == len(inner[0]) for cells in inner):
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    if _has_known_name(value) and not any(isinstance(cell, list) for cell in inner):
        return [value]
    raise InputError(SHAPES)


def _is_table(value: object) -> bool:
    """Whether a value has rows or columns of its own: pandas' column, by the number of the row, has none."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict | list)
    return (
        isinstance(value, dict)
        and not all(map(str.isdecimal, value))
        and any(isinstance(cells, dict | list) for cells in value.values())
    )


def _of_list(items: list[Any]) -> Rows:
    if all(isinstance(item, dict) for item in items):
        if items and "paragraphs" in items[0]:
            raise InputError("The file has questions on texts, as SQuAD has. Choose An answer in a text.")
        inner = [item["row"] for item in items if isinstance(item.get("row"), dict)]  # as the Hub's viewer sends them
        return inner if len(inner) == len(items) else items
    if all(isinstance(item, list) for item in items):
        return items
    if all(isinstance(item, str) for item in items):
        return [{"text": item} for item in items]
    raise InputError(SHAPES)


def _of_objects(value: dict[str, Cells]) -> Rows:
    """The rows of an object of objects: pandas' columns by name, each with values by row, or rows by number or name."""
    inner = list(dict.fromkeys(key for cells in value.values() for key in cells))
    if all(map(str.isdecimal, value)) or _has_known_name(inner):
        return list(value.values())
    if not all(map(str.isdecimal, inner)) and not _has_known_name(value):
        raise InputError(SHAPES)
    return [{name: cells.get(key) for name, cells in value.items()} for key in inner]


def _has_known_name(names: Iterable[str]) -> bool:
    return not KNOWN_NAMES.isdisjoint(map(normal, names))


def text_of(value: object) -> str:
    """A value as a cell: texts unchanged, None and NaN as '', the rest as JSON."""
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
