"""The numbers that a view shows, as tables with named columns in full precision, and their CSV and JSON."""

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from explorer.ui.pictures.numbers import Table, identifier, numbers_of
from explorer.ui.settings import Setting, Sheet, plain_value
from explorer.ui.subject import Subject
from explorer.ui.view import WITHOUT_NUMBERS, Content, Finding, Part, View, props

TEXT = ("text",)  # the columns of a sentence
FORMULA = re.compile(r"[=+\-@\t]")  # a spreadsheet would run such a cell: it gets an apostrophe, as in the page's own CSV


def tables_of(view: View, content: Content) -> dict[str, Table]:
    """The table of each part of content that was already computed."""
    found = {}
    for name in (name for name in view.names if name in content):
        table = _table(view.parts.get(name) or view.settings[name], _value(content[name]))
        if table is not None and len(table):
            found[name] = table
    return found


def check_of(view: View, content: Content) -> str:
    """What the checks of a view say, '' if it has none."""
    checks = (_value(content.get(name)) for name, part in view.parts.items() if part.kind == "check")
    return " ".join(filter(None, map(_text, checks)))


def csv_of(table: Table) -> str:
    """A table as CSV with a header; a cell that a spreadsheet would run as a formula begins with an apostrophe.

    `pandas.read_csv(path, keep_default_na=False, na_values=[""])` reads it; without these, a token `null` would be lost.
    """
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(table.columns)
    lines.writerows([f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell for cell in row] for row in table.rows)
    return written.getvalue()


def as_data(view: View, subject: Subject, content: Content, finding: Finding | None) -> dict[str, Any]:
    """A view as JSON data: its settings, finding, checks, and all its tables."""
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


def settings_of(view: View) -> dict[str, Any]:
    """The settings as JSON values, without uploads and without memories that links do not carry."""
    return {name: plain_value(getattr(view, name)) for name, setting in view.settings.items() if setting.is_open}


def _table(declared: Part | Setting, value: object) -> Table | None:
    if (table := numbers_of(value)) is not None:
        return table
    if isinstance(declared, Sheet):
        return Table.of(tuple(map(identifier, declared.columns)), _rows(value))
    if not isinstance(declared, Part) or declared.kind in WITHOUT_NUMBERS or value is None:
        return None
    if declared.kind == "sentence":
        return Table.of(TEXT, [[_text(value)]] if _text(value) else [])
    if declared.kind == "frame":
        sheet = value if isinstance(value, Mapping) else {"headers": declared.options["columns"], "data": value}
        names, rows = sheet["headers"], sheet["data"]
        return Table.of(tuple(identifier(str(name)) or "name" for name in names), _rows(rows))
    raise TypeError(f"a part of the kind {declared.kind!r} keeps no numbers; see explorer.ui.pictures.numbers.keep")


def _rows(rows: Any) -> list[list[Any]]:
    return [list(row) for row in rows or ()]


def _value(value: object) -> Any:
    """The value to show, which may be given as a function or as `props`."""
    if isinstance(value, props):
        return value.get("value")
    return value() if callable(value) else value


def _text(value: Any) -> str:
    return (value.get("text") or "") if isinstance(value, Mapping) else value or ""
