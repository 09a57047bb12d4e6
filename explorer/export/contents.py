"""Views as plain data, for the app's JavaScript to draw without a server."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.core.errors import InputError
from explorer.export.place import where
from explorer.ui.long_view import LongView
from explorer.ui.pictures import alternatives
from explorer.ui.pictures.components import COMPONENTS
from explorer.ui.pictures.token_row import token_row_of
from explorer.ui.subject import Subject
from explorer.ui.view import MARKDOWN, Content, Part, View, open_on, props

WAITS = "This part takes a while and was not computed for the file. Open the view in the app and start it there."
CLICKS = re.compile(r"(?<![^\s])(?<![,;:] )Click (?![^.]*\bsort\b)[^.]*\. *")
EMPTY = "This view shows nothing for this input."
WORDS = {"code": "code", "frame": "frame", **dict.fromkeys(("prose", *MARKDOWN), "prose")}  # drawn as HTML, not by a component
ONLY_LIVE = ("button", "meter", "chips", "step")  # useless without Python


def open_subject(views: Sequence[View], subject: Subject) -> Subject:
    """The subject with the layer and head that the views open with. Raises CapabilityError if the model cannot serve them."""
    for view in views:
        if needs := where(type(view))[0].needs:
            subject.model.require(needs)
    return open_on(views, subject)


def describe_view(view: View, subject: Subject, wait: bool = False, unfolded: bool = False) -> dict[str, Any]:
    """A view as plain data: name, question, width, parts with values, and a `note` if it shows nothing.

    Sentences that ask for clicks only Python could answer are left out; with `unfolded`, the results of such clicks are
    included where they are small.
    """
    note, parts = view.unless(subject), []
    try:
        content = {} if note else view.compute(subject) if wait else view.open(subject)
    except InputError as error:  # the page shows it in the place of the picture
        note = str(error)
    if not note:
        content = view.standing_alone(subject, content, unfolded)
        parts = [one for name, part in view.parts.items() if (one := _part(name, part, content)) is not None]
        parts = [one for part in parts if (one := _still(part))["value"]]
        if not wait and isinstance(view, LongView) and all(content.get(part["name"]) is None for part in parts):
            note = WAITS
    columns = [{"names": column.names, "width": column.width} for line in view.layout for column in line.columns]
    return {"name": view.name, "question": view.question, "width": view.width, "columns": columns, "note": note, "parts": parts}


def input_strip(subject: Subject) -> dict[str, Any] | None:
    """The input's tokens as a part; None without a text."""
    try:
        value = token_row_of(subject.trace.encoding, subject.selection.token)
    except InputError:
        return None
    return _drawn("input", "tokens", {"with_window": True, "passive": True}, value)


def _part(name: str, part: Part, content: Content) -> dict[str, Any] | None:
    """A part as plain data; None if it is not shown."""
    value = content.get(name)
    value = value() if callable(value) and not isinstance(value, props) else value
    fixed = part.options.get("value")
    if isinstance(value, props):
        value = value.get("value", fixed) if value.get("visible", True) else None
    value = part.options.get("markdown", fixed) if value is None else value
    if part.kind in ONLY_LIVE or value is None or value == "":
        return None
    look = {"more": True} if part.more else {}
    look |= {"caption": True} if part.kind == "caption" or "caption" in str(part.options.get("classes", "")) else {}
    if part.kind in WORDS:
        value = _frame(value, part.options) if part.kind == "frame" else value
        return {"name": name, "kind": WORDS[part.kind], "value": value, **look}
    value = alternatives.describe(value) if part.kind == "chart" else value
    value = json.loads(value) if part.kind == "chart" and isinstance(value, str) else value
    return _drawn(name, part.kind, part.options, value) | look


def _still(part: dict[str, Any]) -> dict[str, Any]:
    """The part without sentences that ask for a click, except those about sorting, which works everywhere."""
    is_text = part["kind"] in ("prose", "sentence") and isinstance(part["value"], str)
    return {**part, "value": CLICKS.sub("", part["value"]).strip()} if is_text else part


def _drawn(name: str, kind: str, given: Mapping[str, Any], value: object) -> dict[str, Any]:
    component = COMPONENTS[kind]
    options = {option: given.get(option, default) for option, default in component.options.items()}
    drawn = {"component": component.name, "skeleton": component.classes, "options": options}
    return {"name": name, "kind": kind, **drawn, "value": value}


def _frame(value: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """A table, which may bring its own headers, as column names and rows."""
    sheet = value if isinstance(value, Mapping) else {"headers": options.get("columns") or (), "data": value}
    return {"columns": list(sheet["headers"]), "rows": [list(row) for row in sheet["data"]], "label": options.get("label", "")}
