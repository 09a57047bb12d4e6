"""The numbers that a view shows, as tables with named columns in full precision, and these as CSV and JSON."""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from explorer.figures.numbers import Table, identifier, kept
from explorer.views.settings import Setting, Sheet, Upload
from explorer.views.subject import Subject
from explorer.views.view import WITHOUT_NUMBERS, Content, Finding, Part, View, props

TEXTS = ("sentence",)
FORMULA = re.compile(r"[=+\-@\t]")  # what a spreadsheet would run: it gets an apostrophe, as in the page's own CSV


def tables(view: View, subject: Subject) -> dict[str, Table]:
    """What each part of a view shows in numbers, by its name. Raises ExplorerError. It takes as long as the view does."""
    return tables_of(view, view.compute(subject))


def tables_of(view: View, content: Content) -> dict[str, Table]:
    """The same of what was computed already."""
    found = {}
    for name in (name for name in view.layout if name in content):
        table = _table(view.parts.get(name) or view.settings[name], _value(content[name]))
        if table is not None and len(table):
            found[name] = table
    return found


def check_of(view: View, content: Content) -> str:
    """What the checks of a view say, '' where it has none."""
    checks = (_value(content.get(name)) for name, part in view.parts.items() if part.kind == "check")
    return " ".join(filter(None, map(_text, checks)))


def csv_of(table: Table) -> str:
    """A table as CSV with a line of names; what a spreadsheet would run as a formula begins with an apostrophe.

    `pandas.read_csv(path, keep_default_na=False, na_values=[""])` reads it; without these, a token `null` would be lost.
    """
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(table.columns)
    lines.writerows(zip(*map(_harmless, table.cells), strict=True))
    return written.getvalue()


def as_data(view: View, subject: Subject, content: Content, finding: Finding | None) -> dict[str, Any]:
    """What a view shows as JSON has it: its settings, what it says, and all its tables."""
    chosen = subject.selection
    return {
        "view": view.name,
        "question": view.question,
        "settings": settings_of(view),
        "selection": {"layer": chosen.layer, "head": chosen.head, "token": chosen.token},
        "model": subject.model_name,
        "texts": [subject.text_a, subject.text_b],
        "finding": finding.text if finding else "",
        "check": check_of(view, content),
        "tables": {name: table.as_dict() for name, table in tables_of(view, content).items()},
    }


def as_json(data: object) -> str:
    """Data as text; NaN, which is no JSON, is nowhere in it."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def settings_of(view: View) -> dict[str, Any]:
    """The settings as JSON has them; without files, and without what clicks leave behind that no link may carry."""
    given = {one.name: getattr(view, one.name) for one in fields(view)}
    return {name: plain_value(value) for name, value in given.items() if is_open(view.settings[name])}


def is_open(setting: Setting) -> bool:
    """Whether a program may read and set it: not a file of somebody's, nor the traces of one visitor."""
    return not isinstance(setting, Upload) and (setting.linked or isinstance(setting, Sheet))


def plain_value(value: object) -> Any:
    """A value of a setting, in lists where it has tuples."""
    return [plain_value(one) for one in value] if isinstance(value, list | tuple) else value


TEXT = ("text",)


def _table(declared: Part | Setting, value: object) -> Table | None:
    """The numbers of a value: those that were kept beside it, else its rows."""
    if (table := kept(value)) is not None:
        return table
    if isinstance(declared, Sheet):
        return Table.of(tuple(map(identifier, declared.columns)), _rows(value))
    if not isinstance(declared, Part) or declared.kind in WITHOUT_NUMBERS or value is None:
        return None
    if declared.kind in TEXTS:
        return Table.of(TEXT, [[_text(value)]] if _text(value) else [])
    if declared.kind == "frame":
        sheet = value if isinstance(value, Mapping) else {"headers": declared.options["columns"], "data": value}
        names, rows = sheet["headers"], sheet["data"]
        return Table.of(tuple(identifier(str(name)) or "name" for name in names), _rows(rows))
    raise TypeError(f"a part of the kind {declared.kind!r} keeps no numbers; see explorer.figures.numbers.keep")


def _rows(rows: Any) -> list[list[Any]]:
    return [list(row) for row in rows or ()]


def _value(value: object) -> Any:
    """What is seen, of a value that may be a function or come with labels."""
    if isinstance(value, props):
        return value.get("value")
    return value() if callable(value) else value


def _text(value: Any) -> str:
    return (value.get("text") or "") if isinstance(value, Mapping) else value or ""


def _harmless(column: list[Any]) -> list[Any]:
    """A column in which no cell is a formula to a spreadsheet; numbers are none."""
    return [f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell for cell in column]
