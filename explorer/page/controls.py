"""Make Gradio controls from settings, and components from the parts of a view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from explorer.api.callers import caller
from explorer.bert.capabilities import Capabilities
from explorer.core.apart import VISITOR
from explorer.page.components import OF_PARTS
from explorer.ui.settings import Choice, Memory, Number, Setting, Several, Sheet, Switch, Text, Upload
from explorer.ui.view import MARKDOWN, Part, View

CLASSES = {"check": "check", "heading": "detail-title", "caption": "caption", "note": "caption"}  # CSS classes by kind of part
CONTENT = "bx-content"  # CSS class of what is of one input and choice: pale while another is asked for
ANSWER = "bx-answer"  # CSS class of what is covered while answers are hidden
SLIDER = {"low": 1.0, "high": 6.0}  # a slider's range until the model is known


def control(setting: Setting, default: object, elem_id: str) -> gr.components.Component:
    if isinstance(setting, Memory):
        named = {"storage_key": setting.stored, "secret": "bert-explorer"}  # not a secret: every page contains it
        return gr.BrowserState(default, **named) if setting.stored else gr.State(default)
    look = {name: value for name, value in setting.look.items() if name not in ("heard", "line")}  # for the panel
    look |= {"elem_id": elem_id, "label": setting.label or None} | ({"elem_classes": ANSWER} if setting.answer else {})
    if isinstance(setting, Choice | Switch) and (not setting.label or isinstance(setting, Switch)):
        look |= {"container": False} | ({} if isinstance(setting, Switch) else {"show_label": False})
    return _MAKERS[type(setting)](setting, default, look)


def _choice(setting: Choice, default: object, look: dict[str, Any]) -> gr.components.Component:
    if setting.menu:
        look = {"allow_custom_value": setting.free, **look}
        return gr.Dropdown(list(setting.options), value=default, **look)
    return gr.Radio(list(setting.options), value=default, **look)


def _number(setting: Number, default: float, look: dict[str, Any]) -> gr.components.Component:
    if look.pop("box", False):
        return gr.Number(default, precision=0 if isinstance(setting.step, int) else None, **look)
    low, high = (SLIDER[name] if callable(bound := getattr(setting, name)) else bound for name in ("low", "high"))
    return gr.Slider(low, high, value=min(default, high), step=setting.step, **look)


def _upload(setting: Upload, default: None, look: dict[str, Any]) -> gr.components.Component:
    """An upload box whose table is kept in a state; the file itself is not kept once it is read."""
    state = gr.State(default)
    types = list(setting.types)
    as_button = look.pop("as_button", False)
    box = gr.UploadButton(file_types=types, size="sm", **look) if as_button else gr.File(file_types=types, **look)
    state.box = box
    return state


_MAKERS: dict[type[Setting], Callable[[Any, Any, dict[str, Any]], gr.components.Component]] = {
    Choice: _choice,
    Number: _number,
    Upload: _upload,
    Several: lambda setting, default, look: gr.Dropdown([], value=list(default), multiselect=True, **look),
    Switch: lambda setting, default, look: gr.Checkbox(default, **look),
    Text: lambda setting, default, look: gr.Textbox(default, **look),
    Sheet: lambda setting, default, look: gr.Dataframe(
        [list(row) for row in default],
        headers=list(setting.columns),
        static_columns=list(range(setting.fixed, len(setting.columns))),
        interactive=True,
        **look,
    ),
}


def default_of(component: gr.components.Component) -> Any:
    return component.value["data"] if isinstance(component, gr.Dataframe) else component.value


def read_upload(setting: Upload, path: str | list[str] | None) -> Any:
    """The contents of an uploaded file, or of several; None for no file. Raises InputError."""
    VISITOR.set(caller())
    if isinstance(path, list):
        return setting.read([Path(one) for one in path])
    return setting.read(Path(path)) if path else None


def fit(view: View, name: str, value: Any, capabilities: Capabilities) -> dict[str, Any]:
    """The properties of a control that depend on the model and on other settings: its range, choices and visibility.

    The value is sent only if the view corrected it: the user may be moving the control just now.
    """
    changed: dict[str, Any] = {}
    setting, kept = view.settings[name], getattr(view, name)
    if isinstance(setting, Number) and setting.follows_model:
        low, high = setting.range(capabilities)
        # Gradio refuses to draw a slider whose ends are equal.
        changed |= {"minimum": low, "maximum": max(high, low + 1), "visible": low < high}
        changed |= {"value": kept} if kept != value else {}
    if isinstance(setting, Several):
        changed |= {"choices": list(setting.options(capabilities))}
        changed |= {"value": list(kept)} if list(kept) != sorted(value) else {}
    if setting.when is not None:
        changed["visible"] = changed.get("visible", True) and bool(setting.when(view))
    return changed


def is_made(part: Part) -> bool:
    """Whether the part says how a picture is made, as a prose of class "how" does too; it is behind 'How is this made?'."""
    return (part.kind in ("caption", "check") or "how" in part.options.get("classes", "").split()) and not part.more


def make_part(part: Part, elem_id: str) -> Any:
    options = {name: value for name, value in part.options.items() if name != "wide"}  # which is for the panel
    own = options.pop("classes", None) or CLASSES.get(part.kind)
    classes = [name for name in (own, "how" if is_made(part) else None, ANSWER if part.answer else None) if name]
    classes += [] if part.kind in (*MARKDOWN, "button") else [CONTENT]
    common: dict[str, Any] = {"elem_id": elem_id} | ({"elem_classes": classes} if classes else {})
    if part.optional:
        common["visible"] = False
    if part.kind in MARKDOWN:
        return gr.Markdown(options.pop("markdown"), **common)
    if part.kind == "button":
        return gr.Button(options.pop("label"), **{"size": "sm", **options}, **common)
    return PARTS[part.kind](**options, **common)


def _frame(columns: list[str] | None = None, types: Any = "str", widths: list[str] | None = None, **options: Any) -> Any:
    look = {"interactive": False, "wrap": True, "show_label": bool(options.get("label")), **options}
    return gr.Dataframe(headers=columns, datatype=types, column_widths=widths, **look)


PARTS: dict[str, Callable[..., Any]] = {
    **OF_PARTS,
    "frame": _frame,
    "prose": gr.Markdown,
    "code": lambda **options: gr.Textbox(interactive=False, **{"show_label": False, "buttons": ["copy"], **options}),
}
"""What makes a kind of part. Our own component needs a row in `explorer/ui/pictures/components.py`."""
