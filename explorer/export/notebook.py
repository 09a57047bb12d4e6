"""Views in a notebook, without a server: the same pictures, drawn by the same JavaScript, in an iframe."""

import difflib
import html as markup
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from explorer.bert.capabilities import Capabilities
from explorer.bert.network import Network
from explorer.bert.trace import Trace
from explorer.core.errors import InputError
from explorer.export.contents import is_told
from explorer.export.page_file import THEMES, data_of, page
from explorer.tabs import VIEWS
from explorer.text import limits
from explorer.ui.pictures.base import shorten
from explorer.ui.settings import Choice, Number, Setting, Several, Switch, Text
from explorer.ui.subject import Selection, Subject
from explorer.ui.view import View

OF_THE_PAGE = ("layer", "head", "token")  # the page's selection, unless a view has a setting of the same name
SANDBOX = "allow-scripts allow-downloads allow-popups"  # no same-origin: the frame cannot reach the notebook
SIZES = {
    **{"flow": 620, "head_grid": 430, "lines": 600, "tokens": 70, "board": 320, "architecture": 420, "words": 300, "bars": 220},
    **{"stepped": 560, "loss_curve": 400},
}
FOLLOWING = """<script>(() => {{
  const frame = document.getElementById("{id}");
  addEventListener("message", ({{ data, source }}) => {{
    if (frame && source === frame.contentWindow && data?.bertExplorer === "{id}") frame.style.height = `${{data.height + 4}}px`;
  }});
}})()</script>"""
LONGEST = 60  # characters of a default in a table


@dataclass(frozen=True, eq=False)
class Shown:
    """One or two views that draw themselves where a notebook displays them; `save(path)` writes an HTML file."""

    sides: Sequence[dict[str, Any]]
    theme: str = ""

    @property
    def html(self) -> str:
        """The standalone HTML page."""
        return page(self.sides, self.theme)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file. Returns its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        name = f"bx-{uuid.uuid4().hex}"
        height = max(_height(side) for side in self.sides)
        source = markup.escape(page(self.sides, self.theme, name))
        title = markup.escape(str(self).splitlines()[0])
        style = f"width:100%;height:{height}px;border:0;"
        frame = f'<iframe id="{name}" title="{title}" sandbox="{SANDBOX}" style="{style}" srcdoc="{source}"></iframe>'
        return frame + FOLLOWING.format(id=name)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "\n".join(f"{side['question']} {side['finding']}".strip() for side in self.sides)


def show(trace: Trace, view: str = "attention/head", *more: str, theme: str = "", **settings: Any) -> Shown:
    """A view of a trace, or several together, drawn where a notebook displays it.

    `settings` are those that `explorer.settings(view)` lists, and `layer` (from 1), `head` (from 1) and `token` (from 0), the
    selection; what is not given is as the app opens the view. `theme` is "light" or "dark", by default the system's. Long work
    is done. Raises InputError for an unknown view or setting, CapabilityError if the model cannot serve the view.
    """
    return Shown((_side(trace, (view, *more), settings),), theme_named(theme))


def compare(trace: Trace, other: Trace, view: str = "attention/head", *more: str, theme: str = "", **settings: Any) -> Shown:
    """The same view of two traces side by side: two inputs or two models. Arguments and errors are those of `show`."""
    return Shown(tuple(_side(one, (view, *more), settings) for one in (trace, other)), theme_named(theme))


def _side(trace: Trace, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    return data_of(*asked(trace, names, given), wait=True)


def asked(trace: Trace, names: Sequence[str], given: Mapping[str, Any]) -> tuple[list[View], Subject]:
    """The named views with those of the settings they have, and the subject with the selection. Raises InputError."""
    kinds = [view_named(name) for name in names]
    known = [_told(kind) for kind in kinds]
    own = {name for settings in known for name in settings}
    chosen = {key: value for key, value in given.items() if key in OF_THE_PAGE and key not in own}
    rest = {key: list(value) if isinstance(value, tuple | range) else value for key, value in given.items() if key not in chosen}
    if unknown := [key for key in rest if key not in own]:
        has = ", ".join(dict.fromkeys([*OF_THE_PAGE, *(name for settings in known for name in settings)]))
        raise InputError(f"The view {' with '.join(names)} has no setting {unknown[0][:40]!r}; it has {has}.")
    capabilities = trace.model.capabilities
    views = [
        kind.read({key: value for key, value in rest.items() if key in settings}, capabilities)
        for kind, settings in zip(kinds, known, strict=True)
    ]
    return views, Subject.of(trace, _selection(trace, chosen))


def _selection(trace: Trace, chosen: Mapping[str, Any]) -> Selection:
    capabilities = trace.model.capabilities
    ranges = {"layer": (0, capabilities.layers), "head": (1, capabilities.heads), "token": (0, trace.kept - 1)}
    checked = {name: limits.check_integer(value, name, *ranges[name]) for name, value in chosen.items() if value is not None}
    picked = "layer" in checked or "head" in checked
    return Selection(checked.get("layer", 1), checked.get("head", 1), checked.get("token"), picked)


def view_named(name: str) -> type[View]:
    """The view with a name. Raises InputError, which suggests similar names."""
    if isinstance(name, str) and name in VIEWS:
        return VIEWS[name]
    near = difflib.get_close_matches(str(name)[:80], VIEWS, 3, 0.4)
    meant = f"perhaps {' or '.join(near)} is meant" if near else "explorer.settings() lists them all"
    raise InputError(f"There is no view {str(name)[:40]!r}; {meant}.")


def theme_named(theme: str) -> str:
    """The theme, checked. Raises InputError."""
    if theme not in THEMES:
        raise InputError("The theme must be 'light', 'dark' or '', which is that of the system.")
    return theme


def _told(kind: type[View]) -> dict[str, Setting]:
    return {name: setting for name, setting in kind.settings.items() if is_told(setting)}


def _height(side: Mapping[str, Any]) -> int:
    """An estimate of the height in pixels, for frames that cannot measure it."""
    parts = [part for view in side["views"] for part in view["parts"] if "more" not in part]
    return 190 + sum(part.get("options", {}).get("height") or SIZES.get(part["kind"], 44) for part in parts)


# ---- What can be set.


@dataclass(frozen=True, eq=False)
class Settings:
    """A table for notebooks; `rows` are tuples of texts under `columns`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _repr_html_(self) -> str:
        def cell(tag: str, text: str) -> str:
            return f"<{tag} style='text-align:left'>{markup.escape(text)}</{tag}>"

        lines = [
            f"<tr>{''.join(cell(tag, text) for text in row)}</tr>"
            for tag, rows in (("th", [self.columns]), ("td", self.rows))
            for row in rows
        ]
        return f"<table><caption style='text-align:left'>{markup.escape(self.title)}</caption>{''.join(lines)}</table>"

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        written = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in (self.columns, *self.rows)
        ]
        return "\n".join([self.title, *(line.rstrip() for line in written)])


def settings(view: str = "", model: Network | None = None) -> Settings:
    """A view's settings with defaults and ranges; without a name, the list of all views. Raises InputError for an unknown view.

    Ranges that depend on the model are those of `model`, if given.
    """
    if not view:
        return Settings("The views:", ("view", "question"), [(name, kind.question) for name, kind in VIEWS.items()])
    kind = view_named(view)
    page = [
        (name, "None" if name == "token" else "as the view opens", _selected(name, model), "chosen on the page")
        for name in OF_THE_PAGE
    ]
    fields = kind.__dataclass_fields__
    own = [
        (name, shorten(repr(fields[name].default), LONGEST), _range(setting, model), setting.label)
        for name, setting in _told(kind).items()
    ]
    rows = [row for row in page if row[0] not in kind.settings] + own
    return Settings(f"{view}: {kind.question}", ("setting", "default", "may be", "on the page"), rows)


def _selected(name: str, model: Network | None) -> str:
    first = {"layer": 0, "head": 1, "token": 0}[name]
    if name == "token":
        return "None, or a position from 0"
    last = "as many as the model has" if model is None else str(getattr(model.capabilities, f"{name}s"))
    return f"{first} to {last}"


def _range(setting: Setting, model: Network | None) -> str:
    capabilities = model.capabilities if model is not None else None
    kinds: dict[type[Setting], Callable[[Any], str]] = {
        Choice: lambda one: "any text, or None" if one.free else ", ".join(map(repr, one.values)),
        Switch: lambda one: "True, False",
        Number: lambda one: _bounds(one, capabilities),
        Several: lambda one: "a list of whole numbers" + (f" of {list(one.options(capabilities))}" if capabilities else ""),
        Text: lambda one: "a text",
    }
    return next((tell(setting) for kind, tell in kinds.items() if isinstance(setting, kind)), "a value")


def _bounds(setting: Number, capabilities: Capabilities | None) -> str:
    bounds = (setting.low, setting.high) if capabilities is None else setting.range(capabilities)
    low, high = ("what the model has" if callable(bound) else f"{bound:g}" for bound in bounds)
    return f"{low} to {high}" + ("" if isinstance(setting.step, int) else f", in steps of {setting.step:g}")
